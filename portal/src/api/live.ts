// Live pages: all tabs of a place share one event stream, whose events cause refetches. Without the stream each page refetches by itself.
import { type Query, type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { Api } from "./client.ts";
import { readEvents } from "./event-stream.ts";
import { gather } from "./gather.ts";
import { outdatedBy } from "./outdated.ts";
import { sessionQuery } from "./session.ts";

export type LiveState = "live" | "asking" | "offline";

/** What the tab with the stream tells the others. */
interface Message {
  /** The noun of an event. */
  noun?: string;
  live?: boolean;
  /** The stream was refused: the person's rights here have changed. */
  refused?: boolean;
}

const ASK_EVERY_MS = 15_000;
const SILENCE_MAX_MS = 40_000;
/** Minimum time between two refetches, however many events arrive. */
const GATHER_MS = 1500;

/** Keeps the answers about a place fresh while the page is open. Gives the state of the connection. */
export function useLive(api: Api): LiveState {
  const queries = useQueryClient();
  const [state, setState] = useState<LiveState>("asking");
  useEffect(() => keepFresh(api, queries, setState), [api, queries]);
  return state;
}

function keepFresh(api: Api, queries: QueryClient, setState: (state: LiveState) => void): () => void {
  const ending = new AbortController();
  const name = `gerbang/${api.place?.merchant}/${api.place?.environment}`;
  const channel = new BroadcastChannel(name);
  let live = false;
  // Asking again cuts off what is under way: over a slow network, with an event each second, no question would be answered.
  const outdated = gather((beginnings: string[]) => askAgain(queries, api, beginnings), GATHER_MS, ASK_EVERY_MS);

  const stands = (to: boolean): void => {
    live = to;
    setState(to ? "live" : navigator.onLine ? "asking" : "offline");
  };
  const take = (message: Message): void => {
    if (message.noun !== undefined) outdated.add(outdatedBy(message.noun));
    if (message.live !== undefined) stands(message.live);
    if (message.refused) void queries.invalidateQueries({ queryKey: sessionQuery.queryKey });
  };
  channel.addEventListener("message", ({ data }: MessageEvent<Message>) => take(data));
  const asking = setInterval(() => {
    if (!live && !document.hidden) void askAgain(queries, api, [""]);
  }, ASK_EVERY_MS);
  const lead = async (): Promise<void> => {
    const post = (message: Message): void => {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- it is no window
      channel.postMessage(message);
      take(message);
    };
    await follow(api, ending.signal, post);
  };
  // Only the tab with the lock opens the stream, since browsers limit the connections to one host.
  const done = navigator.locks ? navigator.locks.request(name, { signal: ending.signal }, lead) : lead();
  done.catch(() => {}); // aborted while it waited for the lock
  return () => {
    ending.abort();
    clearInterval(asking);
    outdated.end();
    channel.close();
  };
}

/** Listens to the stream and reconnects after each end. */
async function follow(api: Api, signal: AbortSignal, post: (message: Message) => void): Promise<void> {
  let last: string | undefined;
  for (let failures = 0; !signal.aborted;) {
    const silence = new AbortController();
    let watchdog = setTimeout(() => silence.abort(), SILENCE_MAX_MS);
    try {
      const response = await fetch("/portal/v1/stream", {
        headers: { ...api.headers(), ...(last === undefined ? {} : { "last-event-id": last }) },
        signal: AbortSignal.any([signal, silence.signal]),
      });
      // Whoever was taken out of the team is told so by the session, in every tab.
      if (response.status === 403 || response.status === 404) post({ refused: true });
      if (!response.ok || !response.body) throw new Error(`the stream answered ${response.status}`);
      failures = 0;
      post({ live: true });
      // Events may have been missed before this connection, so everything is refetched.
      post({ noun: "" });
      await readEvents(response.body, (event) => {
        clearTimeout(watchdog);
        watchdog = setTimeout(() => silence.abort(), SILENCE_MAX_MS);
        if (event?.id !== undefined) last = event.id;
        if (event) post({ noun: event.type.split(".")[0] ?? "" });
      });
    } catch {
      failures++;
    } finally {
      clearTimeout(watchdog);
    }
    if (signal.aborted) return;
    post({ live: false });
    await new Promise((resolve) => setTimeout(resolve, Math.min(30_000, 500 * 2 ** failures)));
  }
}

/**
 * Refetches the answers about a place whose paths begin so. A first question that is under way is not cut off, and its answer may be older than the event:
 * once it is there, it is asked again.
 */
export async function askAgain(
  queries: QueryClient,
  { place }: Pick<Api, "place">,
  beginnings: readonly string[],
): Promise<void> {
  const predicate = ({ queryKey: [merchant, environment, path] }: Query): boolean =>
    merchant === place?.merchant &&
    environment === place?.environment &&
    typeof path === "string" &&
    beginnings.some((beginning) => path.startsWith(beginning));
  const underWay = queries.getQueryCache().findAll({ predicate, fetchStatus: "fetching" });
  const first = new Set(underWay.filter(({ state }) => state.data === undefined));
  await queries.invalidateQueries({ predicate });
  if (first.size > 0) await queries.invalidateQueries({ predicate: (query) => first.has(query) });
}
