// The listener's requests to the service: one signed request for events after another, and the meaning of each response.
import { GerbangError } from "../../../sdk/src/errors.ts";
import { Gerbang } from "../../../sdk/src/gerbang.ts";
import type { ListenPage } from "../../../sdk/src/types.ts";
import { UnexpectedAnswer, remember } from "../answers.ts";
import { ofUnexpected } from "../failures.ts";
import { type Printable, words } from "../output/text.ts";
import { type Position, SEEN_MAX } from "./cursor.ts";
import { isEventId } from "./ids.ts";
import { reasonOf } from "./reasons.ts";

/** A response may take this long beyond the requested wait. */
const SLACK_MS = 10_000;
const WAIT_MAX_SECONDS = 25;
/** The longest pause that the service can ask for. */
const BUSY_MAX_SECONDS = 600;

interface FeedOptions {
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

type Answer =
  | Heard
  /** The service answers, and asks the listener to wait. */
  | { kind: "busy"; seconds: number }
  /** The service could not be reached, or is not well: the next request may succeed. */
  | { kind: "lost"; reason: Printable }
  /** The next request would not succeed either. */
  | { kind: "refused"; reason: Printable };

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
        remember({ requestId: this.requestId });
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
        ...partsOf(heard, seen),
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
        reason: ofUnexpected(reasonOf(error), this.requestId),
      };
    const { code, status } = error;
    const message = error.message.replace(/\.$/, ""); // a reason stands within a sentence
    if (code === "RATE_LIMITED")
      return { kind: "busy", seconds: Math.min(BUSY_MAX_SECONDS, Math.max(1, this.header("retry-after") ?? 1)) };
    if (code === "SIGNATURE_REPLAYED") return { kind: "busy", seconds: 1 };
    if (code === "CONNECTION_FAILED") return { kind: "lost", reason: words`${reasonOf(error.cause)}` };
    // A page of a proxy may be gone after a while. JSON is the service's own answer.
    if (
      code === "ANSWER_UNREADABLE" &&
      status !== undefined &&
      status < 300 &&
      /\bjson\b/.test(this.headers.get("content-type") ?? "")
    )
      return { kind: "refused", reason: ofUnexpected(message, this.requestId) };
    if (code === "ANSWER_UNREADABLE" || code === "TIMED_OUT") return { kind: "lost", reason: words`${message}` };
    const reason = words`${code}: ${message}`;
    // A machine that wakes up may need a moment until its clock is right again.
    if (status === undefined || status >= 500 || code === "TIMESTAMP_OUT_OF_WINDOW") return { kind: "lost", reason };
    return { kind: "refused", reason };
  }

  private get requestId(): string | undefined {
    return this.headers.get("x-request-id") ?? undefined;
  }

  private header(name: string): number | undefined {
    const value = Number(this.headers.get(name) ?? Number.NaN);
    return Number.isFinite(value) ? value : undefined;
  }
}

/**
 * The parts of a page that a listener uses. Throws `UnexpectedAnswer` for a page in another form: ids of it are kept, and must be readable at the next
 * start. `known`: the ids that the position names already.
 */
function partsOf(page: ListenPage, known: readonly string[]): Omit<Heard, "kind" | "pauseMs"> {
  const { data, next_after: nextAfter, has_more: more, forgotten_before: forgotten, seen = [] } = page;
  if (!Array.isArray(data) || !data.every(isListenEvent)) throw new UnexpectedAnswer("data is no list of events");
  if (typeof more !== "boolean") throw new UnexpectedAnswer("has_more is neither true nor false");
  if (!isEventId(nextAfter)) throw new UnexpectedAnswer("next_after is no id of an event");
  if (!Array.isArray(seen) || !seen.every(isEventId)) throw new UnexpectedAnswer("seen is no list of ids");
  const beyond = data.filter(({ id }) => id > nextAfter).length;
  if (seen.length > SEEN_MAX || known.length + beyond > SEEN_MAX)
    throw new UnexpectedAnswer(`more than ${SEEN_MAX} events are beyond next_after`);
  const forgottenBefore = typeof forgotten === "string" ? forgotten : null;
  return { events: data, nextAfter, more, forgottenBefore, seen };
}

function isListenEvent(value: unknown): boolean {
  const { id, type, body, headers } = (value ?? {}) as Partial<Record<keyof ListenEvent, unknown>>;
  if (!isEventId(id) || typeof type !== "string" || typeof body !== "string") return false;
  if (typeof headers !== "object" || headers === null) return false;
  return Object.values(headers).every((header) => typeof header === "string");
}

/** Pause between two requests. The developer's own program has the same quota, and most of it is left to that program. */
export function pauseFor(limit: number | undefined, remaining: number | undefined): number {
  if (limit === undefined || remaining === undefined || limit === 0) return 1_000;
  const left = remaining / limit;
  return left > 0.7 ? 200 : left > 0.4 ? 1_000 : 3_000;
}
