// The wall's picture, kept fresh: asked for again when the stream says that something changed, and by itself where there is no stream.
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useQueryText, useSetQuery } from "../../../address.ts";
import { readEvents } from "../../../api/event-stream.ts";
import { useNow } from "../../../ui/now.ts";
import { type Schema, read } from "../../api/client.ts";

export type WallPicture = Schema<"Wall">;
export const periods = { hour: "Last hour", day: "24 hours", week: "7 days", month: "30 days" } as const;
export type Period = keyof typeof periods;
type Environment = "production" | "sandbox";

/** What the address says: `?period=day&environment=production`. */
export function useView() {
  const search = useQueryText();
  const setQuery = useSetQuery();
  const period: Period = search.period !== undefined && search.period in periods ? (search.period as Period) : "hour";
  const environment: Environment | undefined =
    search.environment === "production" || search.environment === "sandbox" ? search.environment : undefined;
  return {
    period,
    environment,
    show: (changes: { period?: Period; environment?: Environment | undefined }) =>
      setQuery({ ...search, ...changes }, { replace: true }),
  };
}

const ASK_MS = 5_000;
/** A picture older than this is told to be old: at most three times were missed. */
const STALE_MS = 16_000;
/** Pictures are shared for half a second: one that is asked for later is newer than what was just told. */
const SETTLE_MS = 600;
const SILENCE_MAX_MS = 40_000;

/** The picture of a period, and since when it is not kept fresh any more. */
export function useWall(period: Period, environment: Environment | undefined) {
  const queries = useQueryClient();
  const [hears, setHears] = useState(false);
  useEffect(() => {
    const ending = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const askAgain = (): void => {
      timer ??= setTimeout(() => {
        timer = undefined;
        void queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[2] === "/v1/wall" });
      }, SETTLE_MS);
    };
    void listen(ending.signal, askAgain, setHears);
    return () => {
      ending.abort();
      clearTimeout(timer);
    };
  }, [queries]);
  const wall = useQuery({
    ...read("/v1/wall", { query: { period, environment } }),
    placeholderData: keepPreviousData,
    refetchInterval: hears ? 3 * ASK_MS : ASK_MS,
    refetchIntervalInBackground: true,
  });
  const now = useNow(1_000);
  const since = wall.dataUpdatedAt;
  return { wall, staleSince: since > 0 && now - since > STALE_MS ? since : undefined };
}

/** Listens, again and again. */
async function listen(signal: AbortSignal, onEvent: () => void, setHears: (hears: boolean) => void): Promise<void> {
  for (let failures = 0; !signal.aborted;) {
    const silence = new AbortController();
    let watchdog = setTimeout(() => silence.abort(), SILENCE_MAX_MS);
    try {
      const response = await fetch("/ops/v1/stream", { signal: AbortSignal.any([signal, silence.signal]) });
      if (!response.ok || !response.body) throw new Error(`the stream answered ${response.status}`);
      failures = 0;
      setHears(true);
      await readEvents(response.body, (event) => {
        clearTimeout(watchdog);
        watchdog = setTimeout(() => silence.abort(), SILENCE_MAX_MS);
        if (event) onEvent();
      });
    } catch {
      failures++; // asked again below, ever later
    } finally {
      clearTimeout(watchdog);
    }
    if (signal.aborted) return;
    setHears(false);
    await new Promise((resolve) => setTimeout(resolve, Math.min(30_000, 1_000 * 2 ** failures)));
  }
}
