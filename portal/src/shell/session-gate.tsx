// Shows pages to signed-in people; leads others to the sign-in and back.
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import { type SessionView, sessionQuery } from "../api/session.ts";
import { ErrorFace } from "../ui/face.tsx";
import { wouldLose } from "../ui/typed.ts";
import { SignedOut } from "./signed-out.tsx";
import { PageSkeleton } from "./states.tsx";
import { SignInFirst } from "./sign-in-first.tsx";

export function SessionGate({ children }: { children: (session: SessionView) => ReactNode }) {
  const session = useQuery({ ...sessionQuery, staleTime: 60_000 });
  const isOut = session.error?.status === 401;
  const isAnothers = useIsAnothers(session.data?.person.person_id);
  if (isOut && !(session.data && wouldLose())) return <SignInFirst />;
  if (session.data && !isAnothers) {
    return (
      <>
        {children(session.data)}
        {isOut && <SignedOut again={() => session.refetch()} />}
      </>
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

/** True once another person has signed in elsewhere in this browser. The page is then loaded anew: nothing that this one saw or typed is theirs. */
function useIsAnothers(person: string | undefined): boolean {
  const [first, setFirst] = useState(person);
  if (first === undefined && person !== undefined) setFirst(person);
  const isAnothers = first !== undefined && person !== undefined && person !== first;
  useEffect(() => {
    if (isAnothers) globalThis.location.reload();
  }, [isAnothers]);
  return isAnothers;
}
