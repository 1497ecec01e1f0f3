// Shows pages to signed-in people; leads others to the sign-in and back.
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { type SessionView, sessionQuery } from "../api/session.ts";
import { ErrorFace } from "../ui/face.tsx";
import { PageSkeleton } from "./states.tsx";
import { SignInFirst } from "./sign-in-first.tsx";

export function SessionGate({ children }: { children: (session: SessionView) => ReactNode }) {
  const session = useQuery({ ...sessionQuery, staleTime: 60_000 });
  if (session.error?.status === 401) return <SignInFirst />;
  if (session.data) return children(session.data);
  if (session.error) {
    return (
      <main className="p-6">
        <ErrorFace error={session.error} retry={() => session.refetch()} />
      </main>
    );
  }
  return <PageSkeleton />;
}
