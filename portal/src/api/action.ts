// An action of a person: runs once at a time, keeps one idempotency key for one intent, and refreshes lists afterwards.
import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { say } from "../ui/toast.tsx";
import type { Intent } from "./client.ts";
import { type ApiError, asApiError } from "./error.ts";

export interface Action<Input, Result> {
  /** Runs the action. Undefined when it fails, or while it already runs: a second click is not a second intent. */
  run(input: Input): Promise<Result | undefined>;
  pending: boolean;
  error: ApiError | undefined;
  result: Result | undefined;
  reset(): void;
}

interface Options<Result> {
  /** Prefixes of the API paths to refetch afterwards; all paths when left out. */
  refresh?: readonly string[];
  done?: (result: Result) => void | Promise<void>;
}

export function useAction<Input, Result>(
  act: (input: Input, intent: Intent) => Promise<Result>,
  options: Options<Result> = {},
): Action<Input, Result> {
  const queries = useQueryClient();
  const busy = useRef(false);
  const intent = useRef<{ input: string; key: string } | undefined>(undefined);
  const [state, setState] = useState<{ pending: boolean; error?: ApiError; result?: Result }>({ pending: false });

  const isShown = useRef(true);
  useEffect(() => {
    isShown.current = true;
    return () => void (isShown.current = false);
  }, []);

  // The page shows how things stand, for who decides whether to ask again. What it does not offer any more goes with its error, which is then said above.
  const showTruth = async (error: ApiError): Promise<void> => {
    await refresh(queries, options.refresh && [...options.refresh, "/v1/session"]);
    setTimeout(() => {
      if (!isShown.current && !error.isOutcomeUnknown) say(error.message, "bad");
    }, 100);
  };

  const run = async (input: Input): Promise<Result | undefined> => {
    if (busy.current) return undefined;
    busy.current = true;
    setState({ pending: true });
    // Repeating the same input after a lost answer is the same intent: it keeps its key, so it takes effect once. An intent may be several calls;
    // what is kept of each call, for a form that is opened anew, is in lost-answers.ts.
    const text = JSON.stringify(input) ?? "";
    if (intent.current?.input !== text) intent.current = { input: text, key: newKey() };
    try {
      const result = await act(input, { key: intent.current.key });
      intent.current = undefined;
      setState({ pending: false, result });
      void refresh(queries, options.refresh);
      await options.done?.(result);
      return result;
    } catch (thrown) {
      const error = asApiError(thrown);
      if (!error.isOutcomeUnknown) intent.current = undefined;
      setState({ pending: false, error });
      if (error.isOutdating) void showTruth(error);
      return undefined;
    } finally {
      busy.current = false;
    }
  };
  return {
    run,
    reset: () => setState({ pending: false }),
    pending: state.pending,
    error: state.error,
    result: state.result,
  };
}

/** Refetches the cached answers whose paths begin with one of the prefixes. */
export function refresh(queries: QueryClient, beginnings: readonly string[] = [""]): Promise<void> {
  return queries.invalidateQueries({
    predicate: ({ queryKey: [, , path] }) =>
      typeof path === "string" && beginnings.some((beginning) => path.startsWith(beginning)),
  });
}

function newKey(): string {
  return `page-${crypto.randomUUID()}`;
}
