// Shows pages to signed-in people; leads others to the sign-in and back.
import { useQuery } from "@tanstack/react-query";
import { Fragment, type ReactNode } from "react";
import { type SessionView, sessionQuery } from "../api/session.ts";
import { ErrorFace } from "../ui/face.tsx";
import { hasTyped } from "../ui/typed.ts";
import { SignedOut } from "./signed-out.tsx";
import { PageSkeleton } from "./states.tsx";
import { SignInFirst } from "./sign-in-first.tsx";

export function SessionGate({ children }: { children: (session: SessionView) => ReactNode }) {
  const session = useQuery({ ...sessionQuery, staleTime: 60_000 });
  const isOut = session.error?.status === 401;
  if (isOut && !(session.data && hasTyped())) return <SignInFirst />;
  if (session.data) {
    return (
      // Whoever signs in elsewhere as another person does not get what this one typed.
      <Fragment key={session.data.person.person_id}>
        {children(session.data)}
        {isOut && <SignedOut again={() => session.refetch()} />}
      </Fragment>
    );
  }
  if (session.error) {
    return (
      <main className="p-6">
        <ErrorFace error={session.error} retry={() => session.refetch()} />
      </main>
    );
  }
  return <PageSkeleton />;
}
