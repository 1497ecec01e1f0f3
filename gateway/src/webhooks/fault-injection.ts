// Misbehaviour on purpose: what a sandbox's deliveries do to a receiver that is to be tested, and which try does it.
import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { type Clock, type Micros, stopwatchMs } from "../ground/clock.ts";
import { newId } from "../ground/ids.ts";
import type { Log } from "../ground/log.ts";
import { type Book, bookKey, bookOfRow } from "../merchants/books.ts";
import { webhookSecret } from "../merchants/directory.ts";
import type { Database } from "../store/database.ts";
import { type Misbehaviour, type SwitchRow, selectMisbehaving, takeMisbehaviour } from "./fault-injection.sql.ts";
import type { AttemptResult, OutgoingDelivery, Sender } from "./sender.ts";

/** How long a process may go on without knowing that a book was told to misbehave, or to stop. */
export const HEARD_MS = 1_000;
const REORDER_MS = 3_000;
const DELAY_MS = 5_000;
/** Twice what a receiver tolerates (interface 6.3). */
const STALE_SECONDS = 600;
/** A type that is in no list, and never will be. */
export const UNHEARD_OF = "sandbox.unheard_of";

/** One part of what a try does. A send that does not count is something beside the delivery. */
export type Step =
  | { do: "wait"; ms: number }
  | { do: "send"; delivery: OutgoingDelivery; copies: number; counts: boolean }
  | { do: "fail"; reason: string };

/** How a try went, and what was sent where it was not the event's own body. */
export interface MisbehavedResult extends AttemptResult {
  requestBody?: string | undefined;
}

/** What each mode does to a try, as its history tells it. What came of it follows where it is not the attempt's own answer. */
const notes: Record<Misbehaviour, string> = {
  duplicate: "On purpose: sent twice at the same time, with the same headers.",
  reorder: `On purpose: held back for ${REORDER_MS / 1000} seconds, while later deliveries overtook it.`,
  delay: `On purpose: held back for ${DELAY_MS / 1000} seconds.`,
  drop: "On purpose: not sent.",
  stale_timestamp: `On purpose: the timestamp was ${STALE_SECONDS} seconds old, and validly signed.`,
  wrong_signature: "On purpose: signed with a secret that is not yours.",
  unknown_type: `On purpose: an event of type ${UNHEARD_OF} came before it.`,
  byte_order: "On purpose: the fields of the body came in another order, as shown here, and that is what was signed.",
  slow_body: "On purpose: the body was sent in pieces, over some seconds.",
};
const NOTE_MAX = 1_000;

/** What a misbehaving try does, in order. `now` is real time. Pure but for the random parts of a secret and an identity. */
export function planMisbehaviour(mode: Misbehaviour, delivery: OutgoingDelivery, now: Micros): Step[] {
  const send = (changed: OutgoingDelivery): Step => ({ do: "send", delivery: changed, copies: 1, counts: true });
  switch (mode) {
    case "duplicate":
      return [{ do: "send", delivery, copies: 2, counts: true }];
    case "reorder":
      return [{ do: "wait", ms: REORDER_MS }, send(delivery)];
    case "delay":
      return [{ do: "wait", ms: DELAY_MS }, send(delivery)];
    case "drop":
      return [{ do: "fail", reason: "Not sent: the sandbox was told to drop this delivery." }];
    case "stale_timestamp":
      return [send(stale(delivery))];
    case "wrong_signature":
      return [send(forged(delivery))];
    case "unknown_type":
      return [{ do: "send", delivery: unheardOf(delivery, now), copies: 1, counts: false }, send(delivery)];
    case "byte_order":
      return [send(reordered(delivery))];
    case "slow_body":
      return [send({ ...delivery, slowly: true })];
  }
}

/** Validly signed, but long ago. */
export function stale(delivery: OutgoingDelivery): OutgoingDelivery {
  return { ...delivery, timestampSkewSeconds: -STALE_SECONDS };
}

/** Signed by somebody who does not have the secret. */
export function forged(delivery: OutgoingDelivery): OutgoingDelivery {
  return { ...delivery, secrets: [webhookSecret(`whsec_${randomBytes(32).toString("base64")}`)] };
}

/** Another event with the same data, of a type that no receiver knows. */
export function unheardOf(delivery: OutgoingDelivery, now: Micros): OutgoingDelivery {
  const eventId = newId("event", now);
  const body = JSON.stringify({ ...(JSON.parse(delivery.body) as object), id: eventId, type: UNHEARD_OF });
  return { ...delivery, eventId, type: UNHEARD_OF, body, attempt: 1 };
}

/** The same JSON in other bytes. */
export function reordered(delivery: OutgoingDelivery): OutgoingDelivery {
  return { ...delivery, body: JSON.stringify(turned(JSON.parse(delivery.body))) };
}

/** The same value with the fields of every object in the opposite order. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, field]) => [name, turned(field)]),
  );
}

export interface MisbehaviourParts {
  database: Database;
  clock: Clock;
  log: Log;
}

/**
 * Who misbehaves, and whose try it is. While nobody does, a delivery costs a look into an empty map: that it is empty is
 * asked at most once in `HEARD_MS`, for all books together, and never more than that ago.
 */
export class Misbehaviours {
  private readonly database: Database;
  private readonly log: Log;
  readonly clock: Clock;
  private known = new Map<string, Misbehaviour>();
  private askedAt = -Infinity;
  private asking: Promise<void> | undefined;
  /** Books one of whose deliveries is held back so that others overtake it, and until when. */
  private readonly held = new Map<string, number>();

  constructor({ database, clock, log }: MisbehaviourParts) {
    this.database = database;
    this.clock = clock;
    this.log = log;
  }

  /** What the try that is made now has to do to the receiver; undefined when it just delivers. Never throws. */
  async take(book: Book): Promise<Misbehaviour | undefined> {
    if (book.environment !== "sandbox") return undefined;
    try {
      await this.fresh();
      const key = bookKey(book);
      const expected = this.known.get(key);
      if (expected === undefined) return undefined;
      if (expected === "reorder" && !this.hold(key)) return undefined;
      const [row] = await this.database.query<Pick<SwitchRow, "mode">>(takeMisbehaviour(book));
      if (row?.mode !== "reorder") this.held.delete(key);
      return row?.mode;
    } catch (error) {
      this.log.warn({ err: error }, "who is to misbehave could not be asked; the delivery is made as usual");
      return undefined;
    }
  }

  /** False while a delivery of the book is held back already: those that follow go straight on, and so overtake it. */
  private hold(key: string): boolean {
    const now = stopwatchMs();
    if ((this.held.get(key) ?? -Infinity) > now) return false;
    this.held.set(key, now + REORDER_MS);
    return true;
  }

  private async fresh(): Promise<void> {
    if (stopwatchMs() - this.askedAt < HEARD_MS) return;
    this.asking ??= this.ask().finally(() => {
      this.asking = undefined;
    });
    await this.asking;
  }

  private async ask(): Promise<void> {
    const begun = stopwatchMs();
    const rows = await this.database.query<SwitchRow>(selectMisbehaving);
    this.known = new Map(rows.map((row) => [bookKey(bookOfRow(row)), row.mode]));
    for (const key of this.held.keys()) if (!this.known.has(key)) this.held.delete(key);
    this.askedAt = begun;
  }
}

/** Sends a delivery, or does to it what its sandbox asked for. Never throws: whatever happens is a result. */
export async function misbehavingSend(
  sender: Pick<Sender, "send">,
  misbehaviours: Misbehaviours,
  book: Book,
  delivery: OutgoingDelivery,
): Promise<MisbehavedResult> {
  const mode = await misbehaviours.take(book);
  if (mode === undefined) return sender.send(delivery);
  const { clock } = misbehaviours;
  let result: MisbehavedResult = unsent(clock.now(), "Nothing was sent.");
  const told = [notes[mode]];
  for (const step of planMisbehaviour(mode, delivery, clock.now())) {
    if (step.do === "wait") await pause(step.ms);
    else if (step.do === "fail") result = unsent(clock.now(), step.reason);
    else {
      const copies = Array.from({ length: step.copies }, () => sender.send(step.delivery));
      const results = await Promise.all(copies);
      // Of two copies the one that failed counts: the receiver did not take the same event twice.
      const worst = results.find(({ succeeded }) => !succeeded) ?? results[0];
      const { body, eventId } = step.delivery;
      if (step.counts && worst) {
        result = { ...worst, requestBody: body === delivery.body ? undefined : body };
        if (worst.note !== undefined) told.push(worst.note);
        const others = results.filter((one) => one !== worst);
        told.push(...others.map((one) => `The other copy ${takenHow(one)}.`));
      } else told.push(...results.map((one) => `That was ${eventId}, with the same data, and ${takenHow(one)}.`));
    }
  }
  return { ...result, note: told.join(" ").slice(0, NOTE_MAX) };
}

/** What became of something that has no record of its own, to be read in a sentence. */
function takenHow({ status, durationMs, reason }: AttemptResult): string {
  if (status === undefined) return `got no answer (${(reason ?? "no reason is known").replace(/\.$/, "")})`;
  return `was answered ${status} in ${durationMs} ms`;
}

function unsent(now: Micros, reason: string): AttemptResult {
  return {
    startedAt: now,
    durationMs: 0,
    heldMs: 0,
    succeeded: false,
    status: undefined,
    reason,
    address: undefined,
    requestHeaders: {},
    responseHeaders: undefined,
    responseBody: undefined,
  };
}
