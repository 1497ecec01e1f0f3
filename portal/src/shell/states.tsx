// What is shown in place of a page: while it is fetched, when there is none, and when it breaks.
import { type ErrorComponentProps, useRouter } from "@tanstack/react-router";
import { ApiError, asApiError } from "../api/error.ts";
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
      <p>This address leads nowhere.</p>
      <ButtonLink to={paths.start()}>To the first page</ButtonLink>
    </Page>
  );
}

/** A merchant that is not theirs, or an environment that does not exist. */
export function NoSuchPlace() {
  const message = "No merchant of yours is at this address.";
  return (
    <Page title="Not found">
      <ErrorFace error={new ApiError({ code: "OBJECT_NOT_FOUND", status: 404, message })} />
      <ButtonLink to={paths.start()}>To the first page</ButtonLink>
    </Page>
  );
}

/** A page that threw. A new version of the pages may have replaced the files that this one asks for: loading it again helps. */
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
