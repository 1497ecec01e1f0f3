// The worker of acquirer operations: makes the calls that are planned, and inquires about those whose outcome is unknown.
import type { Operation } from "./operation.ts";
import { claimOperations, operationOfRow } from "./operations.sql.ts";
import type { Book } from "../merchants/books.ts";
import type { AcquiringParts, PaymentOperations } from "./payment-operations.ts";
import { performRefund } from "./refund-operations.ts";

/** Calls under way at the same time; to one acquirer, so that one that does not answer keeps nobody else waiting. */
const CALLS_MAX = 192;
const ACQUIRER_CALLS_MAX = 48;
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
  /** Calls under way, by acquirer. */
  private readonly calls = new Map<string, number>();
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
      const busy = [...this.calls].filter(([, count]) => count > ACQUIRER_CALLS_MAX - CLAIM_MAX).map(([code]) => code);
      const rows = await database.query(claimOperations(clock.now(), { limit: CLAIM_MAX, busy }));
      for (const row of rows) this.start(operationOfRow(row));
      claimed = rows.length;
    }
  }

  private start(operation: Operation): void {
    const { gatewayCode: code } = operation;
    this.calls.set(code, (this.calls.get(code) ?? 0) + 1);
    const call = perform(this.parts, operation).finally(() => {
      const others = (this.calls.get(code) ?? 1) - 1;
      if (others > 0) this.calls.set(code, others);
      else this.calls.delete(code);
      this.underWay.delete(call);
    });
    this.underWay.add(call);
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
