// Probes whether the secret before a rotation is still needed. An answer of 2xx to a delivery that carries both signatures
// does not say which of them was verified. So during the overlap now and then one delivery is sent with the new secret's
// signature alone; where that is refused, it is sent with both at once.
import { type Clock, type Micros, SECOND } from "../ground/clock.ts";
import type { Log } from "../ground/log.ts";
import { type Book, bookKey } from "../merchants/books.ts";
import type { PreviousSecretMark } from "../merchants/merchants.ts";
import type { Exemptions } from "./exemptions.ts";
import { type AttemptResult, type OutgoingDelivery, Sender, type SenderTiming } from "./sender.ts";

/*
 * Why this is safe enough to do to production. The header of the interface carries the new signature alone anyway, so only
 * receivers of the Standard-Webhooks headers see a difference. A refusal costs its event no time and no attempt: the second
 * sending follows at once, within the same attempt, and decides it; both are on record. No more than one first attempt a minute
 * and book is a probe, in all processes together, and much fewer after a refusal, which may alarm somebody at the receiver.
 * The first minute after a rotation has no probe. A call without an answer is not repeated: it says nothing about a signature.
 *
 * What a probe does not show: a receiver that verifies nothing takes the new signature alone, too; and one that fails for
 * another reason just then looks as if it needed the old one. The doubt is on the side of keeping a secret for longer.
 */

const PROBE_SECONDS = 60;
const BOOKS_MAX = 10_000;

/** Which process may probe a book, and when. */
export interface ProbeTurns {
  /** Takes the turn of a book if it is time, in all processes together. Gives when the next one is, and whether this one is taken. */
  takeProbe(book: Book, next: Micros): Promise<{ taken: boolean; next: Micros }>;
}

export class ProbingSender extends Sender {
  private readonly turns: ProbeTurns;
  private readonly log: Log;
  private readonly now: () => Micros;
  /** When a book's next turn is, as far as this process knows. Until then the database is not asked. */
  private readonly next = new Map<string, Micros>();
  private found: PreviousSecretMark[] = [];

  constructor(
    {
      clock,
      prefix,
      serviceName,
      exemptions,
      timing,
    }: {
      clock: Clock;
      prefix: string;
      serviceName: string;
      exemptions: Exemptions;
      timing: SenderTiming;
    },
    turns: ProbeTurns,
    log: Log,
  ) {
    super(clock, prefix, serviceName, exemptions, timing);
    this.turns = turns;
    this.log = log;
    this.now = () => clock.now();
  }

  /** What probes have shown since the last call. */
  takeFindings(): PreviousSecretMark[] {
    return this.found.splice(0);
  }

  override async send(delivery: OutgoingDelivery): Promise<AttemptResult> {
    const { book } = delivery;
    if (!book || !isPlain(delivery) || !(await this.isTurn(book))) return super.send(delivery);
    const [current] = delivery.secrets;
    const alone = await super.send({ ...delivery, secrets: [current] });
    if (alone.succeeded) this.found.push({ book, at: this.now(), fact: "not needed" });
    if (alone.succeeded || alone.status === undefined)
      return {
        ...alone,
        note: "Sent with the signature of the new secret alone, to find out whether the one before is needed.",
      };
    const both = await super.send(delivery);
    if (both.succeeded) this.found.push({ book, at: this.now(), fact: "needed" });
    const answered = `answered ${alone.status} in ${alone.durationMs} ms`;
    return {
      ...both,
      note: `First sent with the signature of the new secret alone, to find out whether the one before is needed: ${answered}. Then, at once, with both.`,
    };
  }

  private async isTurn(book: Book): Promise<boolean> {
    const key = bookKey(book);
    const now = this.now();
    if (now < (this.next.get(key) ?? -Infinity)) return false;
    // Deliveries that come meanwhile do not ask as well.
    this.remember(key, now + PROBE_SECONDS * SECOND);
    try {
      const { taken, next } = await this.turns.takeProbe(book, now + PROBE_SECONDS * SECOND);
      this.remember(key, next);
      return taken;
    } catch (error) {
      this.log.warn({ err: error }, "the turn of a probe could not be read; the delivery is made as usual");
      return false;
    }
  }

  private remember(key: string, next: Micros): void {
    this.next.delete(key);
    this.next.set(key, next);
    const [oldest] = this.next.keys();
    if (this.next.size > BOOKS_MAX && oldest !== undefined) this.next.delete(oldest);
  }
}

/** A first attempt during an overlap, with nothing done to it on purpose. */
function isPlain({ secrets, attempt, timestampSkewSeconds, signedBody, slowly }: OutgoingDelivery): boolean {
  return (
    secrets.length > 1 && attempt === 1 && timestampSkewSeconds === undefined && signedBody === undefined && !slowly
  );
}
