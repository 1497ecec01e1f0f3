// Stand-ins for a page: while its file loads, when it does not exist, and when it throws.
import { type ErrorComponentProps, useRouter } from "@tanstack/react-router";
import { asApiError } from "../api/error.ts";
import { paths } from "../paths.ts";
import { ErrorFace } from "../ui/face.tsx";
import { ButtonLink } from "../ui/button.tsx";
import { Page } from "../ui/page.tsx";
import { Skeleton } from "../ui/skeleton.tsx";

export function PageSkeleton() {
  return (
    <div aria-busy="true" className="mx-auto w-full max-w-6xl px-4 pt-5 sm:px-7">
      <Skeleton className="h-7 w-48" />
      <Skeleton className="mt-8 h-80 w-full" />
    </div>
  );
}

export function NoSuchPage() {
  return (
    <Page title="No such page">
      <p>There is no page at this address.</p>
      <ButtonLink to={paths.start()}>To the first page</ButtonLink>
    </Page>
  );
}

/** For a merchant that the person does not belong to, or an environment that does not exist. */
export function NoSuchPlace() {
  return (
    <Page title="Not found">
      <p>None of your merchants is at this address. If one was, its owner has taken you out of the team.</p>
      <ButtonLink to={paths.start()}>To the first page</ButtonLink>
    </Page>
  );
}

/** A page that threw. After an upgrade an open page may request files that are gone: reloading helps then. */
export function Crash({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const told = asApiError(error);
  const isStale = /dynamically imported module|Importing a module script/i.test(told.message);
  const again = async (): Promise<void> => {
    if (isStale) return location.reload();
    await router.invalidate();
    reset();
  };
  return (
    <Page title="Something went wrong">
      <ErrorFace error={told} retry={again} />
    </Page>
  );
}
