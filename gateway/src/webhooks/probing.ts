// Probes whether a receiver still needs the previous secret after a rotation. A 2xx answer to a delivery with both signatures does not
// say which of them was verified. So during the overlap some deliveries are sent with the new signature alone. Where the receiver
// refuses such a probe, the delivery is sent again at once with both signatures.
import { type Micros, SECOND } from "../ground/clock.ts";
import type { Log } from "../ground/log.ts";
import { NewestMap } from "../ground/newest.ts";
import { type Book, bookKey } from "../merchants/books.ts";
import type { PreviousSecretMark } from "../merchants/merchants.ts";
import { type AttemptResult, type OutgoingDelivery, Sender, type SenderParts } from "./sender.ts";

/*
 * Probing is safe in production. The service's own signature header always carries the new signature alone, so only receivers that
 * verify the headers of Standard Webhooks see a difference. A refused probe costs the event no time and no attempt: the second call
 * follows at once within the same attempt and decides it, and both calls are on record. At most one first attempt a minute of a book
 * is a probe, in all processes together, and far fewer after a refusal, which may alarm someone at the receiver. The first minute
 * after a rotation has no probe. A call without an answer is not repeated, because it says nothing about a signature.
 *
 * A probe has limits: a receiver that verifies nothing accepts the new signature alone as well, and a receiver that fails for another
 * reason seems to need the previous secret. That error is harmless: the operator keeps a secret for longer.
 */

const PROBE_SECONDS = 60;
const BOOKS_MAX = 10_000;

/** Decides which process may probe a book, and when. */
export interface ProbeTurns {
  /** Takes the turn of a book if it is due and no other process took it. Gives whether this call took it, and when the next turn is due. */
  takeProbe(book: Book, next: Micros): Promise<{ taken: boolean; next: Micros }>;
}

export class ProbingSender extends Sender {
  private readonly turns: ProbeTurns;
  private readonly log: Log;
  /** Time of each book's next turn, as far as this process knows. The database is not queried before it. */
  private readonly next = new NewestMap<string, Micros>(BOOKS_MAX);
  private found: PreviousSecretMark[] = [];

  constructor(parts: SenderParts, turns: ProbeTurns, log: Log) {
    super(parts);
    this.turns = turns;
    this.log = log;
  }

  /** Gives the results of probes since the last call. */
  takeFindings(): PreviousSecretMark[] {
    return this.found.splice(0);
  }

  override async send(delivery: OutgoingDelivery): Promise<AttemptResult> {
    const { book } = delivery;
    if (!book || !isPlain(delivery) || !(await this.isTurn(book))) return super.send(delivery);
    const [current] = delivery.secrets;
    const alone = await super.send({ ...delivery, secrets: [current] });
    if (alone.succeeded) this.found.push({ book, at: this.parts.clock.now(), fact: "not needed" });
    if (alone.succeeded || alone.status === undefined)
      return {
        ...alone,
        note: "Sent with the signature of the new secret alone, to find out whether the one before is needed.",
      };
    const both = await super.send(delivery);
    if (both.succeeded) this.found.push({ book, at: this.parts.clock.now(), fact: "needed" });
    const answered = `answered ${alone.status} in ${alone.durationMs} ms`;
    return {
      ...both,
      note: `First sent with the signature of the new secret alone, to find out whether the one before is needed: ${answered}. Then, at once, with both.`,
    };
  }

  private async isTurn(book: Book): Promise<boolean> {
    const key = bookKey(book);
    const now = this.parts.clock.now();
    if (now < (this.next.get(key) ?? -Infinity)) return false;
    // Keeps deliveries that start during the query from querying too.
    this.next.set(key, now + PROBE_SECONDS * SECOND);
    try {
      const { taken, next } = await this.turns.takeProbe(book, now + PROBE_SECONDS * SECOND);
      this.next.set(key, next);
      return taken;
    } catch (error) {
      this.log.warn({ err: error }, "the turn of a probe could not be read; the delivery is made as usual");
      return false;
    }
  }
}

/** True for a first attempt during an overlap that neither fault injection nor a receiver test has changed. */
function isPlain({ secrets, attempt, timestampSkewSeconds, signedBody, slowly }: OutgoingDelivery): boolean {
  return (
    secrets.length > 1 && attempt === 1 && timestampSkewSeconds === undefined && signedBody === undefined && !slowly
  );
}
