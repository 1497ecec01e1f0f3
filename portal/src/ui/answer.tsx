// What a question gave: nothing yet, an error with its face, or the answer.
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { ApiError } from "../api/error.ts";
import { ErrorFace } from "./face.tsx";
import { Skeleton } from "./skeleton.tsx";

interface Props<Data> {
  of: UseQueryResult<Data, ApiError>;
  /** In its place while it is not there; of its size. */
  skeleton?: ReactNode;
  children: (data: Data) => ReactNode;
}

/** An answer that is there stays when asking again fails: the live mark says that the connection is gone. */
export function Answer<Data>({ of, skeleton, children }: Props<Data>) {
  if (of.data !== undefined) return children(of.data);
  if (of.error) return <ErrorFace error={of.error} retry={() => of.refetch()} />;
  return <div aria-busy="true">{skeleton ?? <Skeleton className="h-64 w-full" />}</div>;
}
