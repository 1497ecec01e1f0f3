// The worker of acquirer operations: makes the calls that are planned, and inquires about those whose outcome is unknown.
import type { Operation } from "./operation.ts";
import { claimOperations, operationOfRow } from "./operations.sql.ts";
import type { Book } from "../merchants/books.ts";
import type { AcquiringParts, PaymentOperations } from "./payment-operations.ts";
import { performRefund } from "./refund-operations.ts";

/** Calls under way at the same time; to one acquirer, so that one that does not answer keeps nobody else waiting. */
const CALLS_MAX = 192;
const ACQUIRER_CALLS_MAX = 48;
/** Of which inquiries, and the ends of payments that follow them, may have so many: thousands of them never keep a refund waiting. */
const ACQUIRER_INQUIRIES_MAX = 32;
const CLAIM_MAX = 16;

export interface DueParts extends AcquiringParts {
  paymentOperations: PaymentOperations;
}

/** Takes up what is due, of one book, once, and waits for it. Any number of processes may do it: each operation is leased. */
export async function performDue(parts: DueParts, book: Book): Promise<void> {
  const rows = await parts.database.query(claimOperations(parts.clock.now(), { limit: CLAIM_MAX, book }));
  await Promise.all(rows.map((row) => perform(parts, operationOfRow(row))));
}

/** Takes up what is due of all books, and waits for no call before it takes up more. */
export class DueOperations {
  private readonly parts: DueParts;
  /** Calls under way, by acquirer; and those of them that are inquiries. */
  private readonly calls = new Counts();
  private readonly inquiries = new Counts();
  private readonly underWay = new Set<Promise<void>>();
  private polling: Promise<void> | undefined;
  private stopping = false;

  constructor(parts: DueParts) {
    this.parts = parts;
  }

  poll(): Promise<void> {
    this.polling ??= this.claimAll().finally(() => {
      this.polling = undefined;
    });
    return this.polling;
  }

  /** Ends when all calls have ended. */
  async stop(): Promise<void> {
    this.stopping = true;
    await this.polling;
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

/** How many of something each acquirer has. */
class Counts {
  private readonly of = new Map<string, number>();

  add(code: string, change: 1 | -1): void {
    const count = (this.of.get(code) ?? 0) + change;
    if (count > 0) this.of.set(code, count);
    else this.of.delete(code);
  }

  /** Those that have more than this. */
  over(most: number): string[] {
    return [...this.of].filter(([, count]) => count > most).map(([code]) => code);
  }
}

/** Never throws: what cannot be carried on is due again when its lease is over. */
async function perform(parts: DueParts, operation: Operation): Promise<void> {
  try {
    if (operation.kind === "payment") await parts.paymentOperations.perform(operation);
    else await performRefund(parts, operation);
  } catch (error) {
    parts.log.warn({ err: error, operation: operation.id }, "an acquirer's operation could not be carried on");
  }
}
