// The listener's requests to the service: one signed request for events after another, and the meaning of each response.
import { GerbangError } from "../../../sdk/src/errors.ts";
import { Gerbang } from "../../../sdk/src/gerbang.ts";
import { shown } from "../output/text.ts";
import type { Position } from "./cursor.ts";
import { reasonOf } from "./reasons.ts";

/** A response may take this long beyond the requested wait. */
const SLACK_MS = 10_000;
const WAIT_MAX_SECONDS = 25;

export interface FeedOptions {
  /** Ends in /v1. */
  baseUrl: string;
  clientId: string;
  secret: string;
  now: () => number;
}

export interface ListenEvent {
  id: string;
  type: string;
  body: string;
  headers: Record<string, string>;
}

export interface Heard {
  kind: "heard";
  events: ListenEvent[];
  nextAfter: string;
  more: boolean;
  /** Events from before this time are forgotten, although they lie after the position; null when none are. */
  forgottenBefore: string | null;
  /** In the first response: ids of existing events beyond `nextAfter`, which are not handed on. */
  seen: string[];
  /** Pause before the next request, so that the quota is left to others. */
  pauseMs: number;
}

export type Answer =
  | Heard
  /** The service answers, and asks the listener to wait. */
  | { kind: "busy"; seconds: number }
  /** The service could not be reached, or is not well: the next request may succeed. */
  | { kind: "lost"; reason: string }
  /** The next request would not succeed either. */
  | { kind: "refused"; reason: string };

export class Feed {
  private readonly gerbang: Gerbang;
  /** Headers of the last response. */
  private headers = new Headers();

  constructor({ baseUrl, clientId, secret, now }: FeedOptions) {
    this.gerbang = new Gerbang({
      clientId,
      secret,
      baseUrl,
      now,
      timeoutMs: WAIT_MAX_SECONDS * 1000 + SLACK_MS,
      // The client retries nothing: the listener reports an error at once, and repeats the request itself.
      hooks: {
        onRetry({ error }) {
          if (error.retryable) throw error;
        },
      },
      fetch: async (...asked) => {
        this.headers = new Headers();
        const answer = await fetch(...asked);
        this.headers = answer.headers;
        return answer;
      },
    });
  }

  /** Requests the events after the position, or the position to begin at. Never throws; `signal` ends the wait. */
  async ask(position: Position | undefined, waitSeconds: number, signal: AbortSignal): Promise<Answer> {
    const { after, seen = [] } = position ?? {};
    const asked = {
      ...(after === undefined ? {} : { after, wait: waitSeconds }),
      ...(seen.length > 0 ? { seen: seen.join(",") } : {}),
    };
    try {
      const heard = await this.gerbang.sandbox.events.listen(asked, {
        signal,
        deadlineMs: waitSeconds * 1000 + SLACK_MS,
      });
      return {
        kind: "heard",
        events: heard.data,
        nextAfter: heard.next_after,
        more: heard.has_more,
        forgottenBefore: heard.forgotten_before ?? null,
        seen: heard.seen ?? [],
        pauseMs: pauseFor(this.header("x-ratelimit-limit"), this.header("x-ratelimit-remaining")),
      };
    } catch (error) {
      return this.meaningOf(error);
    }
  }

  private meaningOf(error: unknown): Answer {
    if (!(error instanceof GerbangError))
      return {
        kind: "refused",
        reason: `the service answers in another form than this version knows: ${reasonOf(error)}`,
      };
    const { code, message, status } = error;
    if (code === "RATE_LIMITED") return { kind: "busy", seconds: Math.max(1, this.header("retry-after") ?? 1) };
    if (code === "SIGNATURE_REPLAYED") return { kind: "busy", seconds: 1 };
    if (code === "CONNECTION_FAILED") return { kind: "lost", reason: reasonOf(error.cause) };
    if (code === "ANSWER_UNREADABLE" || code === "TIMED_OUT") return { kind: "lost", reason: shown(message) };
    const reason = `${code}: ${shown(message)}`;
    // A machine that wakes up may need a moment until its clock is right again.
    if (status === undefined || status >= 500 || code === "TIMESTAMP_OUT_OF_WINDOW") return { kind: "lost", reason };
    return { kind: "refused", reason };
  }

  private header(name: string): number | undefined {
    const value = Number(this.headers.get(name) ?? Number.NaN);
    return Number.isFinite(value) ? value : undefined;
  }
}

/** Pause between two requests. The developer's own program has the same quota, and most of it is left to that program. */
export function pauseFor(limit: number | undefined, remaining: number | undefined): number {
  if (limit === undefined || remaining === undefined || limit === 0) return 1_000;
  const left = remaining / limit;
  return left > 0.7 ? 200 : left > 0.4 ? 1_000 : 3_000;
}
