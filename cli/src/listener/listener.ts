// The listener: hears events of a sandbox and hands each on to a local address, in order, until that has answered.
import { shown } from "../output/text.ts";
import { pause } from "../pause.ts";
import type { Cursor } from "./cursor.ts";
import type { Feed, Heard, HeardEvent } from "./feed.ts";
import { momentOf } from "./ids.ts";
import { signedWith } from "./own-signature.ts";
import { reasonOf } from "./reasons.ts";

const WAIT_SECONDS = 20;
/** A receiver on a developer's machine may stand at a breakpoint for a while. */
const FORWARD_TIMEOUT_MS = 30_000;
/** Signatures carry a time that receivers check: what lies here longer is asked for again, signed anew. */
const FRESH_MS = 60_000;
/** Of what a receiver says to a delivery that it refuses. */
const REFUSAL_BYTES_MAX = 2_000;
const REFUSAL_SHOWN_MAX = 300;

/** The times of a listener. Tests hand in shorter ones. */
export interface ListenerTiming {
  /** Until the first repetition of what got no answer; doubled with each that follows. */
  delayMs: number;
  delayMaxMs: number;
  /** A service that lets nobody wait is asked again after so long. */
  restMs: number;
  /** What a service calls a second, when it asks for patience. */
  secondMs: number;
}

const usualTiming: ListenerTiming = { delayMs: 1_000, delayMaxMs: 30_000, restMs: 1_000, secondMs: 1_000 };

export interface ListenerParts {
  feed: Feed;
  cursor: Cursor;
  /** Unix milliseconds. */
  now: () => number;
  forwardTo: string;
  /** Signs what is handed on; without it the service's own signatures stay. */
  secret: string | undefined;
  /** One line for each event handed on. */
  print: (line: string) => void;
  /** Words about everything else. */
  say: (text: string) => void;
  color: boolean;
  /** Ends the listening. */
  stop: AbortSignal;
  /** Ends also a delivery that is under way, a moment later. */
  cut: AbortSignal;
  timing?: ListenerTiming;
}

export class Listener {
  private readonly parts: ListenerParts;
  private readonly timing: ListenerTiming;
  /** Questions in a row that got no answer, and deliveries in a row that got none. */
  private unheard = 0;
  private unanswered = 0;
  private started = false;
  /** What was said to be forgotten already: it is asked for again until what follows it is handed on. */
  private toldForgotten: string | undefined;

  constructor(parts: ListenerParts) {
    this.parts = parts;
    this.timing = parts.timing ?? usualTiming;
  }

  /** Runs until it is stopped (0), or until the service refuses it for good (1). */
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
        // A service that is about to stop lets nobody wait: it is not to be asked in a circle.
        else if (wait > 0 && performance.now() - asked < this.timing.restMs) await this.rest(this.timing.restMs);
        wait = all ? WAIT_SECONDS : 0;
      } else if (answer.kind === "busy") {
        if (answer.seconds > 2) say(`The quota of requests is used up; going on in ${answer.seconds} s.`);
        await this.rest(answer.seconds * this.timing.secondMs);
      } else {
        if (this.unheard === 0) say(`Lost the service: ${answer.reason}. Trying again until it is back …`);
        await this.rest(this.delayMs(this.unheard++));
        wait = 0; // the first answer says at once that it is back
      }
    }
    return 0;
  }

  /** Says where it begins, once; where it goes on when the service is back; and what cannot be told any more. */
  private greet({ events, more, nextAfter, seen, forgottenBefore }: Heard): void {
    const { cursor, say, forwardTo } = this.parts;
    const waiting = `${more ? "more than " : ""}${events.length} ${events.length === 1 ? "event" : "events"} waiting`;
    const { newest } = cursor;
    if (newest === undefined) {
      cursor.begin({ after: nextAfter, seen });
      say(`Ready: events from now on go to ${forwardTo}. Ctrl-C ends it.`);
    } else if (!this.started) {
      say(`Ready: resuming ${placeOf(newest)}, ${waiting}. Events go to ${forwardTo}. Ctrl-C ends it.`);
    } else if (this.unheard > 0) say(`The service is back: going on ${placeOf(newest)}, ${waiting}.`);
    this.unheard = 0;
    this.started = true;
    if (newest !== undefined && forgottenBefore !== null && forgottenBefore !== this.toldForgotten) {
      say(
        `Missed: events ${placeOf(newest)} were forgotten before they could be handed on; the service keeps none from before ` +
          `${forgottenBefore} (its sandbox's time). What they told stands in the payments, refunds and disputes themselves.`,
      );
      this.toldForgotten = forgottenBefore;
    }
  }

  /** True when each event was answered; false when the rest is to be asked for again. */
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

  /** Any answer of the receiver counts. Without one the event stays first in line, and the others behind it. */
  private async deliver(event: HeardEvent): Promise<boolean> {
    const { forwardTo, print, say, stop } = this.parts;
    const begun = performance.now();
    let answer: Answered;
    try {
      answer = await this.post(event);
    } catch (error) {
      if (stop.aborted) return false;
      const delay = this.delayMs(this.unanswered++);
      if (this.unanswered === 1) {
        say(`${event.type} ${event.id} waits: ${forwardTo}: ${reasonOf(error)}. Trying again until it answers …`);
      }
      await this.rest(delay);
      return false;
    }
    this.unanswered = 0;
    print(this.line(event, answer.status, Math.round(performance.now() - begun)));
    if (answer.refusal !== undefined) say(`  ${forwardTo} refused it: ${answer.refusal}`);
    return true;
  }

  private async post(event: HeardEvent): Promise<Answered> {
    const { forwardTo, secret, cut } = this.parts;
    const headers = secret === undefined ? event.headers : await signedWith(secret, event);
    const answer = await fetch(forwardTo, {
      method: "POST",
      headers,
      body: event.body,
      redirect: "manual",
      signal: AbortSignal.any([cut, AbortSignal.timeout(FORWARD_TIMEOUT_MS)]),
    });
    return { status: answer.status, refusal: await refusalOf(answer) };
  }

  private line({ id, type }: HeardEvent, status: number, ms: number): string {
    const paint = (code: number, text: string): string => (this.parts.color ? `\u001B[${code}m${text}\u001B[0m` : text);
    const time = timeOf(this.parts.now()).slice(11);
    const good = status >= 200 && status < 300;
    return `${paint(2, time)}  ${type.padEnd(18)}  ${paint(2, id)}  ${paint(good ? 32 : 31, String(status))}  ${ms} ms`;
  }

  /** 1, 2, 4, 8, 16, 30, 30 … seconds. */
  private delayMs(before: number): number {
    const { delayMs, delayMaxMs } = this.timing;
    return Math.min(delayMaxMs, delayMs * 2 ** before);
  }

  private async rest(ms: number): Promise<void> {
    await pause(ms, this.parts.stop);
  }
}

interface Answered {
  status: number;
  /** What the receiver said of a delivery that it did not take; undefined where it took it, or said nothing. */
  refusal: string | undefined;
}

/** The status has decided: what the body does afterwards changes nothing, and no more of it is read than is shown. */
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
      if (text.length > REFUSAL_BYTES_MAX) break;
    }
  } catch {
    // An answer that breaks off says as much as had come.
  }
  const words = shown(text.replaceAll(/\s+/g, " ").trim());
  return words === "" ? undefined : words.length > REFUSAL_SHOWN_MAX ? `${words.slice(0, REFUSAL_SHOWN_MAX)}…` : words;
}

/** As the API writes times. */
const timeOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

/** Where an identity stands, in words: behind an event, or at a moment at which there was none. The sandbox's time. */
function placeOf(id: string): string {
  const time = timeOf(momentOf(id));
  return /0{13}$/.test(id) ? `from ${time} on` : `after ${id} of ${time}`;
}
