// Shows a query's state: a skeleton while it loads, an error, or the answer.
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { ApiError } from "../api/error.ts";
import { ErrorFace, useErrorShown } from "./face.tsx";
import { Skeleton } from "./skeleton.tsx";

interface Props<Data> {
  of: UseQueryResult<Data, ApiError>;
  /** Shown while the answer loads; give it the answer's size. */
  skeleton?: ReactNode;
  children: (data: Data) => ReactNode;
}

/** An answer stays when a refetch fails: the live mark then shows that the connection is lost. It goes when the person may not see it any more. */
export function Answer<Data>({ of, skeleton, children }: Props<Data>) {
  const error = useErrorShown(of);
  if (of.data !== undefined && of.error?.status !== 403) return children(of.data);
  if (error) return <ErrorFace error={error} retry={() => of.refetch()} />;
  return <div aria-busy="true">{skeleton ?? <Skeleton className="h-64 w-full" />}</div>;
}
