// The simulated acquirer's actions when the payer, a person or a timer changes something. HTTP is not known here.
import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../../ground/clock.ts";
import type { SigningKey } from "../../ground/signing-key.ts";
import { Behaviour, type PayOrder, type ConcludeOrder, paySchema, concludeSchema } from "./controls.ts";
import { type Operation, isClosed, rowOf } from "./operation.ts";
import { type Operations, type Reply, failure } from "./operations.ts";
import { Reporter } from "./reporter.ts";

/** Delay after which a refund with `concludesAs` is decided. */
const SETTLE_MS = 300;

export class Desk {
  readonly behaviour = new Behaviour();
  readonly operations: Operations;
  readonly clock: Clock;
  readonly key: SigningKey;
  private readonly reporter: Reporter;
  private readonly stopping = new AbortController();

  constructor(operations: Operations, clock: Clock, key: SigningKey, log: (line: string) => void) {
    this.operations = operations;
    this.clock = clock;
    this.key = key;
    const keep = (operation: Operation): void => operations.write(operation);
    this.reporter = new Reporter({ key, clock, keep, durable: () => operations.durable(), log });
  }

  /** Aborts when `stop` is called. */
  get stopped(): AbortSignal {
    return this.stopping.signal;
  }

  /** Resumes the callbacks and the decisions that an earlier process left open. */
  async start(): Promise<void> {
    await this.operations.start();
    for (const operation of this.operations.values()) {
      for (const report of operation.reports) this.reporter.plan(operation, report);
      this.concludeSoon(operation);
    }
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.reporter.stop();
    await this.operations.close();
  }

  /** Moves a payment to a new status, and plans its callbacks. */
  pay(key: string, input: PayOrder): Reply {
    const { status, callbacks, delay_ms, ...given } = paySchema.parse(input);
    const payment = this.operations.get("payment", key);
    if (payment?.kind !== "payment" || isClosed(payment)) return failure(404, "unknown_payment", "No such payment.");
    if (payment.cancelled === true) return failure(409, "cancelled", "It was cancelled: nobody can pay it any more.");
    const transaction = {
      transaction_id: given.transaction_id ?? `tx-${key}`.slice(0, 64),
      amount_minor: given.amount_minor ?? payment.order.amount_minor,
      currency: given.currency ?? payment.order.currency,
    };
    const reports = this.operations.moved(payment, status, transaction, { callbacks, delay_ms });
    for (const report of reports) this.reporter.plan(payment, report);
    return { status: 200, body: rowOf(payment) };
  }

  /** Decides a refund, and plans its callbacks. */
  conclude(key: string, input: ConcludeOrder): Reply {
    const { status, callbacks, delay_ms } = concludeSchema.parse(input);
    const refund = this.operations.get("refund", key);
    if (refund?.kind !== "refund" || isClosed(refund)) return failure(404, "unknown_refund", "No such refund.");
    const reports = this.operations.concluded(refund, status, { callbacks, delay_ms });
    for (const report of reports) this.reporter.plan(refund, report);
    return { status: 200, body: rowOf(refund) };
  }

  /** Decides a refund with `concludesAs`, after a short delay. */
  concludeSoon(operation: Operation | undefined): void {
    if (operation?.kind !== "refund" || isClosed(operation) || operation.concludesAs === undefined) return;
    delay(SETTLE_MS, undefined, { signal: this.stopped }).then(
      () => {
        const { concludesAs } = operation;
        if (concludesAs !== undefined) this.conclude(operation.operation_key, { status: concludesAs });
      },
      () => undefined, // stopped: the next start decides it
    );
  }
}
