// The listener: gets the events of a sandbox and hands each on to a local address, in order, until the address has answered.
import { UnexpectedAnswer } from "../answers.ts";
import type { Paint } from "../output/color.ts";
import { type Printable, gistOf, words } from "../output/text.ts";
import { pause } from "../pause.ts";
import type { Cursor } from "./cursor.ts";
import type { Feed, Heard, ListenEvent } from "./feed.ts";
import { momentOf } from "./ids.ts";
import { signedWith } from "./own-signature.ts";
import { reasonOf } from "./reasons.ts";

const WAIT_SECONDS = 20;
/** Timeout of a delivery: a receiver on a developer's machine may stand at a breakpoint for a while. */
const FORWARD_TIMEOUT_MS = 30_000;
/** The service itself waits for so long. */
const ANSWER_SECONDS = 10;
/** Signatures contain a time that receivers check: events that wait here longer are requested again, signed anew. */
const FRESH_MS = 60_000;
/** How much is read of a receiver's text about a delivery that it refuses. */
const REFUSAL_MAX = 2_000; // characters

/** The times of a listener. Tests pass shorter ones. */
interface ListenerTiming {
  /** Delay before the first retry; doubled with each that follows. */
  delayMs: number;
  delayMaxMs: number;
  /** Delay before the next request to a service that does not hold requests open. */
  restMs: number;
  /** Milliseconds for each second that the service asks the listener to wait. */
  secondMs: number;
}

const usualTiming: ListenerTiming = { delayMs: 1_000, delayMaxMs: 30_000, restMs: 1_000, secondMs: 1_000 };

interface ListenerParts {
  feed: Feed;
  cursor: Cursor;
  /** Unix milliseconds. */
  now: () => number;
  forwardTo: string;
  /** Secret that signs deliveries; without it the service's own signatures stay. */
  secret: string | undefined;
  /** Prints one line for each event that was handed on. */
  print: (line: Printable) => void;
  /** Prints sentences about everything else. */
  say: (text: Printable) => void;
  paint: Paint;
  /** Ends the listening. */
  stop: AbortSignal;
  /** Ends a delivery in flight too, a moment after `stop`. */
  cut: AbortSignal;
  timing?: ListenerTiming;
}

export class Listener {
  private readonly parts: ListenerParts;
  private readonly timing: ListenerTiming;
  /** Requests without a response in a row, and deliveries without a response in a row. */
  private unheard = 0;
  private unanswered = 0;
  private started = false;
  /** The `forgottenBefore` that was reported already: responses repeat it until the next event is handed on. */
  private warnedOfForgotten: string | undefined;
  private warnedOfRefusal = false;

  constructor(parts: ListenerParts) {
    this.parts = parts;
    this.timing = parts.timing ?? usualTiming;
  }

  /** Runs until it is stopped (returns 0), or until the service refuses it for good (returns 1). */
  async run(): Promise<number> {
    const { feed, cursor, stop, say } = this.parts;
    let wait = 0;
    while (!stop.aborted) {
      const asked = performance.now();
      const answer = await feed.ask(cursor.position, wait, stop);
      if (stop.aborted) break;
      if (answer.kind === "refused") {
        say(answer.reason);
        return 1;
      }
      if (answer.kind === "heard") {
        this.greet(answer);
        const all = await this.handOn(answer);
        if (answer.events.length > 0) await this.rest(answer.pauseMs);
        // A service that is about to stop holds no requests open: this rest avoids a busy loop.
        else if (wait > 0 && performance.now() - asked < this.timing.restMs) await this.rest(this.timing.restMs);
        wait = all ? WAIT_SECONDS : 0;
      } else if (answer.kind === "busy") {
        if (answer.seconds > 2) say(words`The quota of requests is used up; continuing in ${answer.seconds} s.`);
        await this.rest(answer.seconds * this.timing.secondMs);
      } else {
        if (this.unheard === 0)
          say(words`Lost the service: ${answer.reason}. Trying again, up to ${this.apart} apart, until it is back …`);
        await this.rest(this.delayMs(this.unheard++));
        wait = 0; // so that the first response comes at once and shows that the service is back
      }
    }
    return 0;
  }

  /** Says once where it begins, where it goes on when the service is back, and which events are lost for good. */
  private greet({ events, more, nextAfter, seen, forgottenBefore }: Heard): void {
    const { cursor, say, forwardTo } = this.parts;
    const waiting = `${more ? "more than " : ""}${events.length} ${events.length === 1 ? "event" : "events"} waiting`;
    const { newest } = cursor;
    if (newest === undefined) {
      cursor.begin({ after: nextAfter, seen });
      say(words`Ready: events from now on go to ${forwardTo}. Ctrl-C ends it.`);
    } else if (!this.started) {
      say(words`Ready: resuming ${placeOf(newest)}, ${waiting}. Events go to ${forwardTo}. Ctrl-C ends it.`);
    } else if (this.unheard > 0) say(words`The service is back: going on ${placeOf(newest)}, ${waiting}.`);
    this.unheard = 0;
    this.started = true;
    if (newest !== undefined && forgottenBefore !== null && forgottenBefore !== this.warnedOfForgotten) {
      say(
        words`Missed: events ${placeOf(newest)} were deleted before they could be forwarded; the service keeps none from before ${forgottenBefore} (its sandbox's time). Look at the payments, refunds and disputes themselves for what changed.`,
      );
      this.warnedOfForgotten = forgottenBefore;
    }
  }

  /** True when each event was answered; false when the rest has to be requested again. */
  private async handOn({ events, nextAfter }: Heard): Promise<boolean> {
    const { cursor, now, stop } = this.parts;
    const signedAt = now();
    for (const event of events) {
      if (stop.aborted || Math.abs(now() - signedAt) > FRESH_MS) return false;
      if (!(await this.deliver(event))) return false;
      cursor.handedOn(event.id, nextAfter);
    }
    cursor.finished(nextAfter);
    return true;
  }

  /** Any response of the receiver counts. Without one the event stays first in line, and the others behind it. */
  private async deliver(event: ListenEvent): Promise<boolean> {
    const { forwardTo, print, say, stop } = this.parts;
    const begun = performance.now();
    let answer: Answered;
    try {
      answer = await this.post(event);
    } catch (error) {
      if (stop.aborted) return false;
      if (isUnsendable(error)) throw new UnexpectedAnswer(`${event.id} cannot be handed on: ${reasonOf(error)}`);
      const delay = this.delayMs(this.unanswered++);
      if (this.unanswered === 1) {
        say(
          words`${event.type} ${event.id} waits: ${forwardTo}: ${reasonOf(error)}. Trying again, up to ${this.apart} apart, until it answers …`,
        );
      }
      await this.rest(delay);
      return false;
    }
    this.unanswered = 0;
    const took = Math.round(performance.now() - begun);
    print(this.line(event, answer.status, took));
    if (answer.refusal !== undefined) say(words`  ${forwardTo} refused it: ${answer.refusal}`);
    const isLate = took > ANSWER_SECONDS * this.timing.secondMs;
    if (isLate || (answer.status >= 300 && answer.status < 400)) {
      const redirected = answer.location === null ? "answered with a redirect" : `redirected to ${answer.location}`;
      const what = isLate ? `took more than ${ANSWER_SECONDS} seconds` : redirected;
      say(words`  ${forwardTo} ${what}: the service counts that as a failure and sends the event again.`);
    }
    if (answer.status >= 400 && !this.warnedOfRefusal) {
      const doubt =
        answer.status === 401
          ? "401: does it verify with the secret named in the first line above, and the body as it arrived, before it is parsed? "
          : "";
      say(
        words`  ${doubt}A refused event is not forwarded again. To forward it and all that came after it, start again with --from ${event.id}.`,
      );
      this.warnedOfRefusal = true;
    }
    return true;
  }

  private async post(event: ListenEvent): Promise<Answered> {
    const { forwardTo, secret, cut } = this.parts;
    const headers = secret === undefined ? event.headers : await signedWith(secret, event);
    const answer = await fetch(forwardTo, {
      method: "POST",
      headers,
      body: event.body,
      redirect: "manual",
      signal: AbortSignal.any([cut, AbortSignal.timeout(FORWARD_TIMEOUT_MS)]),
    });
    return { status: answer.status, location: answer.headers.get("location"), refusal: await refusalOf(answer) };
  }

  private line({ id, type }: ListenEvent, status: number, ms: number): Printable {
    const { paint } = this.parts;
    const time = timeOf(this.parts.now()).slice(11);
    const good = status >= 200 && status < 300;
    return words`${paint("dim", time)}  ${type.padEnd(18)}  ${paint("dim", id)}  ${paint(good ? "good" : "bad", status)}  ${ms} ms`;
  }

  /** Delay of a retry: 1, 2, 4, 8, 16, 30, 30 … seconds. */
  private delayMs(before: number): number {
    const { delayMs, delayMaxMs } = this.timing;
    return Math.min(delayMaxMs, delayMs * 2 ** before);
  }

  /** The longest delay, in words. */
  private get apart(): string {
    return `${this.timing.delayMaxMs / 1_000} s`;
  }

  private async rest(ms: number): Promise<void> {
    await pause(ms, this.parts.stop);
  }
}

interface Answered {
  status: number;
  /** Where a redirect leads. */
  location: string | null;
  /** The receiver's text about a delivery that it refused; undefined when it took the delivery, or said nothing. */
  refusal: string | undefined;
}

/** True for a delivery that cannot be sent, now or later: its body is no event, or its headers are none of HTTP. */
function isUnsendable(error: unknown): boolean {
  const { name, cause } = error as { name?: unknown; cause?: { code?: unknown } };
  if (name === "WebhookError" || (error instanceof TypeError && cause === undefined)) return true;
  return /^UND_ERR_(INVALID_ARG|NOT_SUPPORTED|REQ_CONTENT_LENGTH_MISMATCH)$/.test(String(cause?.code));
}

/** The status decides whether the receiver refused. An error in the body changes nothing, and only the part that is shown is read. */
async function refusalOf({ status, body }: Response): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    if (status >= 200 && status < 300) {
      await body?.cancel();
      return undefined;
    }
    for await (const part of body ?? []) {
      text += decoder.decode(part, { stream: true });
      if (text.length > REFUSAL_MAX) break;
    }
  } catch {
    // Of a response that breaks off, the text that had arrived is used.
  }
  return gistOf(text) || undefined;
}

/** A time in the format of the API. */
const timeOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

/** Describes a position: after an event, or from a time at which there was none. The time is the sandbox's. */
function placeOf(id: string): string {
  const time = timeOf(momentOf(id));
  return /0{13}$/.test(id) ? `from ${time} on` : `after ${id} of ${time}`;
}
