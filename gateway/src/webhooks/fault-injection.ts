// Fault injection (`misbehave` in the API): decides which attempt of a sandbox has a fault, and sends the delivery with that fault.
import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { type Clock, type Micros, stopwatchMs } from "../ground/clock.ts";
import { newId } from "../ground/ids.ts";
import type { Log } from "../ground/log.ts";
import { type Book, bookKey, bookOfRow } from "../merchants/books.ts";
import { webhookSecret } from "../merchants/directory.ts";
import type { Database } from "../store/database.ts";
import { type InjectedFault, type SwitchRow, selectActiveFaults, takeFault } from "./fault-injection.sql.ts";
import { type AttemptResult, type OutgoingDelivery, type Sender, unsent } from "./sender.ts";
import { type DeliveryTiming, deliveryTiming } from "./timing.ts";

type FaultTiming = Pick<DeliveryTiming, "faultRefreshMs" | "reorderMs" | "delayMs">;

/** Twice the clock difference that a receiver tolerates (interface 6.3). */
const STALE_SECONDS = 600;
/** An event type that no list has now or later. */
const UNHEARD_OF = "sandbox.unheard_of";

/** One step of an attempt. A send with `counts` false goes out beside the delivery and does not decide its result. */
type Step =
  | { do: "wait"; ms: number }
  | { do: "send"; delivery: OutgoingDelivery; copies: number; counts: boolean }
  | { do: "fail"; reason: string };

/** The result of an attempt, with the body that was sent where a fault changed the event's body. */
interface FaultResult extends AttemptResult {
  requestBody?: string | undefined;
}

/** The note on the record of an attempt with each fault. `sendWithFaults` appends the results that are not the attempt's own. */
const notes = ({ reorderMs, delayMs }: FaultTiming): Record<InjectedFault, string> => ({
  duplicate: "On purpose: sent twice at the same time, with the same headers.",
  reorder: `On purpose: held back for ${reorderMs / 1000} seconds, while later deliveries overtook it.`,
  delay: `On purpose: held back for ${delayMs / 1000} seconds.`,
  drop: "On purpose: not sent.",
  stale_timestamp: `On purpose: the timestamp was ${STALE_SECONDS} seconds old, and validly signed.`,
  wrong_signature: "On purpose: signed with a secret that is not yours.",
  unknown_type: `On purpose: an event of type ${UNHEARD_OF} came before it.`,
  byte_order: "On purpose: the fields of the body came in another order, as shown here, and that is what was signed.",
  slow_body: "On purpose: the body was sent in pieces, over some seconds.",
});
const NOTE_MAX = 1_000;

/** The steps of an attempt with a fault, in order. `now` is real time. Pure except for the random parts of a secret and an identity. */
export function planFault(
  mode: InjectedFault,
  delivery: OutgoingDelivery,
  now: Micros,
  { reorderMs, delayMs }: FaultTiming = deliveryTiming,
): Step[] {
  const send = (changed: OutgoingDelivery): Step => ({ do: "send", delivery: changed, copies: 1, counts: true });
  switch (mode) {
    case "duplicate":
      return [{ do: "send", delivery, copies: 2, counts: true }];
    case "reorder":
      return [{ do: "wait", ms: reorderMs }, send(delivery)];
    case "delay":
      return [{ do: "wait", ms: delayMs }, send(delivery)];
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

/** Makes a delivery with a valid signature and an old timestamp. */
export function stale(delivery: OutgoingDelivery): OutgoingDelivery {
  return { ...delivery, timestampSkewSeconds: -STALE_SECONDS };
}

/** Makes a delivery signed with a random secret. */
export function forged(delivery: OutgoingDelivery): OutgoingDelivery {
  return { ...delivery, secrets: [webhookSecret(`whsec_${randomBytes(32).toString("base64")}`)] };
}

/** Makes another event with the same data, of a type that no receiver knows. */
export function unheardOf(delivery: OutgoingDelivery, now: Micros): OutgoingDelivery {
  const eventId = newId("event", now);
  const body = JSON.stringify({ ...(JSON.parse(delivery.body) as object), id: eventId, type: UNHEARD_OF });
  return { ...delivery, eventId, type: UNHEARD_OF, body, attempt: 1 };
}

/** Makes a delivery whose body is the same JSON in other bytes. */
export function reordered(delivery: OutgoingDelivery): OutgoingDelivery {
  return { ...delivery, body: JSON.stringify(turned(JSON.parse(delivery.body))) };
}

/** The same value with the fields of every object in reverse order. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, field]) => [name, turned(field)]),
  );
}

interface FaultInjectionParts {
  database: Database;
  clock: Clock;
  log: Log;
  timing?: FaultTiming;
}

/**
 * Knows which books have faults switched on, and which attempt takes the next fault. A book without one costs a look-up in a map. The map
 * is read from the database at most once in `faultRefreshMs`, for all books together, and is never older than that.
 */
export class FaultInjection {
  private readonly database: Database;
  private readonly log: Log;
  readonly clock: Clock;
  readonly timing: FaultTiming;
  private known = new Map<string, InjectedFault>();
  private readAt = -Infinity;
  private reading: Promise<void> | undefined;
  /** Books with a delivery that is held back so that later ones overtake it, each with the stopwatch time when the hold ends. */
  private readonly held = new Map<string, number>();

  constructor({ database, clock, log, timing = deliveryTiming }: FaultInjectionParts) {
    this.database = database;
    this.clock = clock;
    this.log = log;
    this.timing = timing;
  }

  /** Gives the fault of the attempt that is made now, or undefined. Never throws. */
  async take(book: Book): Promise<InjectedFault | undefined> {
    if (book.environment !== "sandbox") return undefined;
    try {
      await this.fresh();
      const key = bookKey(book);
      const expected = this.known.get(key);
      if (expected === undefined) return undefined;
      if (expected === "reorder" && !this.hold(key)) return undefined;
      const [row] = await this.database.query<Pick<SwitchRow, "mode">>(takeFault(book));
      if (row?.mode !== "reorder") this.held.delete(key);
      return row?.mode;
    } catch (error) {
      this.log.warn({ err: error }, "faults could not be read; the delivery is made as usual");
      return undefined;
    }
  }

  /** False while a delivery of the book is held back already: the deliveries that follow are sent at once and so overtake it. */
  private hold(key: string): boolean {
    const now = stopwatchMs();
    if ((this.held.get(key) ?? -Infinity) > now) return false;
    this.held.set(key, now + this.timing.reorderMs);
    return true;
  }

  private async fresh(): Promise<void> {
    if (stopwatchMs() - this.readAt < this.timing.faultRefreshMs) return;
    this.reading ??= this.read().finally(() => (this.reading = undefined));
    await this.reading;
  }

  private async read(): Promise<void> {
    const begun = stopwatchMs();
    const rows = await this.database.query<SwitchRow>(selectActiveFaults);
    this.known = new Map(rows.map((row) => [bookKey(bookOfRow(row)), row.mode]));
    for (const key of this.held.keys()) if (!this.known.has(key)) this.held.delete(key);
    this.readAt = begun;
  }
}

/** Sends a delivery with the fault that its sandbox asked for, if any. Never throws: an error becomes a failed result. */
export async function sendWithFaults(
  sender: Pick<Sender, "send">,
  faults: FaultInjection,
  book: Book,
  delivery: OutgoingDelivery,
): Promise<FaultResult> {
  const mode = await faults.take(book);
  if (mode === undefined) return sender.send(delivery);
  const { clock, timing } = faults;
  let result: FaultResult = unsent(clock.now(), "Nothing was sent.");
  const said = [notes(timing)[mode]];
  for (const step of planFault(mode, delivery, clock.now(), timing)) {
    if (step.do === "wait") await pause(step.ms);
    else if (step.do === "fail") result = unsent(clock.now(), step.reason);
    else {
      const copies = Array.from({ length: step.copies }, () => sender.send(step.delivery));
      const results = await Promise.all(copies);
      // The copy that failed decides: `duplicate` tests that the receiver accepts the same event twice.
      const worst = results.find(({ succeeded }) => !succeeded) ?? results[0];
      const { body, eventId } = step.delivery;
      if (step.counts && worst) {
        result = { ...worst, requestBody: body === delivery.body ? undefined : body };
        if (worst.note !== undefined) said.push(worst.note);
        const others = results.filter((one) => one !== worst);
        said.push(...others.map((one) => `The other copy ${resultOf(one)}.`));
      } else said.push(...results.map((one) => `That was ${eventId}, with the same data, and ${resultOf(one)}.`));
    }
  }
  return { ...result, note: said.join(" ").slice(0, NOTE_MAX) };
}

/** Describes, as part of a sentence, the result of a send that has no record of its own. */
function resultOf({ status, durationMs, reason }: AttemptResult): string {
  if (status === undefined) return `got no answer (${(reason ?? "no reason is known").replace(/\.$/, "")})`;
  return `was answered ${status} in ${durationMs} ms`;
}
