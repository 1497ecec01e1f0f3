// The worker of acquirer operations: makes the calls that are planned, and inquires about those whose outcome is unknown.
import { KeyedCount } from "../ground/keyed-count.ts";
import type { Operation } from "./operation.ts";
import { claimOperations, operationOfRow } from "./operations.sql.ts";
import type { Book } from "../merchants/books.ts";
import type { AcquiringParts, PaymentOperations } from "./payment-operations.ts";
import { performRefund } from "./refund-operations.ts";

/** Maximum of calls in flight to all acquirers, and to each: an acquirer that does not answer must not delay the others. */
const CALLS_MAX = 192;
const ACQUIRER_CALLS_MAX = 48;
/** Maximum of inquiries (with the cancellations that follow) among an acquirer's calls: they must never keep a refund waiting. */
const ACQUIRER_INQUIRIES_MAX = 32;
const CLAIM_MAX = 16;

export interface DueParts extends AcquiringParts {
  paymentOperations: PaymentOperations;
}

/** Claims all operations of one book that were due at `at`, and waits for them. Any number of processes may do so: each operation is leased. */
export async function performDue(parts: DueParts, book: Book, at = parts.clock.now()): Promise<void> {
  const rows = await parts.database.query(claimOperations(parts.clock.now(), { limit: CLAIM_MAX, book, at }));
  await Promise.all(rows.map((row) => perform(parts, operationOfRow(row))));
  if (rows.length === CLAIM_MAX) await performDue(parts, book, at);
}

/** Claims due operations of all books, and waits for no call before it claims more. */
export class DueOperations {
  private readonly parts: DueParts;
  /** Calls in flight by acquirer, and how many of them are inquiries. */
  private readonly calls = new KeyedCount();
  private readonly inquiries = new KeyedCount();
  private readonly underWay = new Set<Promise<void>>();
  private polling: Promise<void> | undefined;
  private stopping = false;

  constructor(parts: DueParts) {
    this.parts = parts;
  }

  poll(): Promise<void> {
    this.polling ??= this.claimAll().finally(() => (this.polling = undefined));
    return this.polling;
  }

  /** Resolves when all calls have ended. */
  async stop(): Promise<void> {
    this.stopping = true;
    await this.polling?.catch(() => undefined); // its own round tells
    await Promise.all(this.underWay);
  }

  private async claimAll(): Promise<void> {
    const { database, clock } = this.parts;
    for (let claimed = CLAIM_MAX; claimed === CLAIM_MAX && !this.stopping;) {
      if (this.underWay.size > CALLS_MAX - CLAIM_MAX) return;
      const busy = this.calls.over(ACQUIRER_CALLS_MAX - CLAIM_MAX);
      const inquiring = this.inquiries.over(ACQUIRER_INQUIRIES_MAX - CLAIM_MAX);
      const rows = await database.query(claimOperations(clock.now(), { limit: CLAIM_MAX, busy, inquiring }));
      for (const row of rows) this.start(operationOfRow(row));
      claimed = rows.length;
    }
  }

  private start(operation: Operation): void {
    const { gatewayCode: code, step } = operation;
    const counts = step === "calling" ? [this.calls] : [this.calls, this.inquiries];
    for (const count of counts) count.add(code, 1);
    const call = perform(this.parts, operation).finally(() => {
      for (const count of counts) count.add(code, -1);
      this.underWay.delete(call);
    });
    this.underWay.add(call);
  }
}

/** Never throws: an operation that fails here is due again when its lease ends. */
async function perform(parts: DueParts, operation: Operation): Promise<void> {
  try {
    if (operation.kind === "payment") await parts.paymentOperations.perform(operation);
    else await performRefund(parts, operation);
  } catch (error) {
    parts.log.warn({ err: error, operation: operation.id }, "an acquirer's operation could not be carried on");
  }
}
