// The service as a listener sees it: one signed question after another for events, and what its answers mean.
import { type Agent, request } from "undici";
import { z } from "zod";
import { type Clock, SECOND } from "../../ground/clock.ts";
import { sign, signingKey } from "../../ground/crypto.ts";
import type { Position } from "./cursor.ts";
import { reasonOf } from "./reasons.ts";

/** Beyond the wait that was asked for, so long an answer may take. */
const SLACK_MS = 10_000;

export interface FeedOptions {
  /** Ends in /v1. */
  baseUrl: string;
  clientId: string;
  secret: string;
  clock: Clock;
  agent: Agent;
}

const answerSchema = z.object({
  data: z.array(
    z.object({ id: z.string(), type: z.string(), body: z.string(), headers: z.record(z.string(), z.string()) }),
  ),
  next_after: z.string(),
  has_more: z.boolean(),
  forgotten_before: z.string().nullable().default(null),
  seen: z.array(z.string()).default([]),
});

const errorSchema = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

export interface HeardEvent {
  id: string;
  type: string;
  body: string;
  headers: Record<string, string>;
}

export interface Heard {
  kind: "heard";
  events: HeardEvent[];
  nextAfter: string;
  more: boolean;
  /** Set when something behind the position is forgotten: what happened before this moment. */
  forgottenBefore: string | null;
  /** Where it begins: what is there beyond `nextAfter` and is not told. */
  seen: string[];
  /** For how long to leave the quota to others. */
  pauseMs: number;
}

export type Answer =
  | Heard
  /** The service is there and asks for patience. */
  | { kind: "busy"; seconds: number }
  /** It could not be reached, or is not well: the next question may fare better. */
  | { kind: "lost"; reason: string }
  /** Asking again would not help. */
  | { kind: "refused"; reason: string };

export class Feed {
  private readonly options: FeedOptions;

  constructor(options: FeedOptions) {
    this.options = options;
  }

  /** Asks for what lies behind the position, or for where to begin. Never throws; `signal` ends the wait. */
  async ask(position: Position | undefined, waitSeconds: number, signal: AbortSignal): Promise<Answer> {
    const { baseUrl, clientId, secret, clock, agent } = this.options;
    const timestamp = String(Math.floor(clock.now() / SECOND));
    const url = new URL(`${baseUrl}/sandbox/events/listen`);
    if (position) {
      url.searchParams.set("after", position.after);
      if (position.seen.length > 0) url.searchParams.set("seen", position.seen.join(","));
      url.searchParams.set("wait", String(waitSeconds));
    }
    try {
      const answer = await request(url, {
        dispatcher: agent,
        headers: {
          authorization: `Bearer ${clientId}`,
          "x-timestamp": timestamp,
          "x-signature": sign(signingKey(secret), timestamp, ""),
        },
        signal: AbortSignal.any([signal, AbortSignal.timeout(waitSeconds * 1000 + SLACK_MS)]),
      });
      return read(answer.statusCode, answer.headers, await answer.body.text());
    } catch (error) {
      return { kind: "lost", reason: reasonOf(error) };
    }
  }
}

type Headers = Record<string, string | string[] | undefined>;

function read(status: number, headers: Headers, text: string): Answer {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: "lost", reason: `the answer (${status}) is not the service's` };
  }
  if (status === 200) {
    const parsed = answerSchema.safeParse(value);
    if (!parsed.success)
      return { kind: "refused", reason: "the service answers in another form than this version knows" };
    const { data, next_after: nextAfter, has_more: more, forgotten_before: forgottenBefore, seen } = parsed.data;
    const [limit, remaining] = [numberOf(headers, "x-ratelimit-limit"), numberOf(headers, "x-ratelimit-remaining")];
    const pauseMs = pauseFor(limit, remaining);
    return { kind: "heard", events: data, nextAfter, more, forgottenBefore, seen, pauseMs };
  }
  const parsed = errorSchema.safeParse(value);
  if (!parsed.success) return { kind: "lost", reason: `the answer (${status}) is not the service's` };
  const { code, message } = parsed.data.error;
  if (code === "RATE_LIMITED") return { kind: "busy", seconds: Math.max(1, numberOf(headers, "retry-after") ?? 1) };
  // Another question of the same second had the same signature: the next second's is another one.
  if (code === "SIGNATURE_REPLAYED") return { kind: "busy", seconds: 1 };
  // A machine that wakes up may need a moment until its clock is right again.
  if (status >= 500 || code === "TIMESTAMP_OUT_OF_WINDOW") return { kind: "lost", reason: `${code}: ${message}` };
  return { kind: "refused", reason: `${code}: ${message}` };
}

function numberOf(headers: Headers, name: string): number | undefined {
  const value = Number(headers[name] ?? Number.NaN);
  return Number.isFinite(value) ? value : undefined;
}

/** Between two questions. The developer's own program has the same quota, and most of it is left to it. */
export function pauseFor(limit: number | undefined, remaining: number | undefined): number {
  if (limit === undefined || remaining === undefined || limit === 0) return 1_000;
  const left = remaining / limit;
  return left > 0.7 ? 200 : left > 0.4 ? 1_000 : 3_000;
}
