// The simulated acquirer's operations: the keys that it knows, what may happen to them, and the file that keeps them.
import { randomUUID } from "node:crypto";
import type { PaymentOrder, RefundOrder, Transaction } from "../../acquirers/remote-protocol.ts";
import { type Clock, wireTime } from "../../ground/clock.ts";
import type { RefundMode } from "./controls.ts";
import {
  type ClosedKey,
  type Operation,
  type Payment,
  type Refund,
  type Report,
  answerOf,
  instructionsFor,
  isClosed,
  isFinished,
} from "./operation.ts";
import { StateFile } from "./state-file.ts";

export interface Reply {
  status: number;
  body: Record<string, unknown>;
}

type Kind = Operation["kind"];

/** Number of callbacks about a change, and their delay. */
interface Notifying {
  callbacks: number;
  delay_ms: number;
}

export function failure(status: number, code: string, message: string, final = false): Reply {
  return { status, body: { error: { code, message, ...(final ? { final: true } : {}) } } };
}

export class Operations {
  private readonly all = new Map<string, Operation>();
  private readonly clock: Clock;
  private readonly maximum: number;
  private readonly file: StateFile | undefined;
  /** Number of operations from which on it is worth looking for finished ones. */
  private look: number;

  /** Reads the file if there is one. Keeps `maximum` operations, and up to twice as many if they are not finished. */
  constructor(clock: Clock, maximum: number, path: string | undefined) {
    this.clock = clock;
    this.maximum = maximum;
    this.look = maximum;
    if (path === undefined) return;
    // Each line has the operations that one change has touched, in their state after the change.
    for (const line of StateFile.read(path)) for (const operation of line as Operation[]) this.put(operation);
    this.forget();
    this.file = new StateFile(path, () => [...this.all.values()].map((operation) => [operation]));
  }

  async start(): Promise<void> {
    await this.file?.start();
  }

  /** Resolves when every change so far would survive a kill. */
  async durable(): Promise<void> {
    await this.file?.flushed();
  }

  async close(): Promise<void> {
    await this.file?.close();
  }

  /** All operations, oldest first. */
  values(): Iterable<Operation> {
    return this.all.values();
  }

  newest(count: number): Operation[] {
    return [...this.all.values()].slice(-count).toReversed();
  }

  get(kind: Kind, key: string): Operation | undefined {
    return this.all.get(`${kind} ${key}`);
  }

  openPayment(order: PaymentOrder): Reply {
    const known = this.repeated("payment", order);
    if (known) return known;
    const instructions = instructionsFor(order);
    if (!instructions) {
      return this.refuse("payment", order.operation_key, "unsupported", "This method or currency is not taken.");
    }
    const fresh = { status: "waiting", order, instructions, refunded_minor: 0 } as const;
    return this.create({ kind: "payment", ...this.base(order.operation_key), ...fresh });
  }

  openRefund(order: RefundOrder, mode: RefundMode): Reply {
    const known = this.repeated("refund", order);
    if (known) return known;
    const refuse = (code: string, message: string): Reply => this.refuse("refund", order.operation_key, code, message);
    const payment = this.get("payment", order.payment_operation_key);
    if (payment?.kind !== "payment" || isClosed(payment)) return refuse("unknown_payment", "There is no such payment.");
    if (payment.status !== "paid" || !payment.transaction) return refuse("not_paid", "The payment has not been paid.");
    if (payment.transaction.currency !== order.currency) {
      return refuse("currency_mismatch", "The payment has another currency.");
    }
    if (order.amount_minor > payment.transaction.amount_minor - payment.refunded_minor) {
      return refuse("exceeds_payment", "The refunds would exceed the payment.");
    }
    const status = mode === "now" ? "succeeded" : mode === "fail_now" ? "failed" : "pending";
    const concludesAs = mode === "later" ? "succeeded" : mode === "fail" ? "failed" : undefined;
    if (status !== "failed") payment.refunded_minor += order.amount_minor;
    return this.create({ kind: "refund", ...this.base(order.operation_key), status, order, concludesAs }, payment);
  }

  /** Refuses a key for ever. If there is an operation under the key already, the response is about it instead. */
  refuse(kind: Kind, key: string, code: string, message: string): Reply {
    const known = this.get(kind, key);
    if (known) return isClosed(known) ? refusalOf(known) : { status: 200, body: answerOf(known) };
    return this.create({ kind, ...this.base(key), status: "refused", refusal: { code, message } });
  }

  find(kind: Kind, key: string): Reply {
    const known = this.get(kind, key);
    if (!known || isClosed(known)) return failure(404, "unknown_operation", "There is nothing under this key.");
    return { status: 200, body: answerOf(known) };
  }

  /** Closes a key that was never used, so that an order still on its way is refused. */
  void(kind: Kind, key: string): Reply {
    const known = this.get(kind, key);
    if (known && !isClosed(known)) return failure(409, "known_operation", "Something has been done under this key.");
    const reply = { status: 200, body: { operation_key: key, status: "void" } };
    if (known) return reply;
    const refusal = { code: "voided", message: "This key was voided." };
    const created = this.create({ kind, ...this.base(key), status: "void", refusal });
    return created.status === 503 ? created : reply;
  }

  /** Ends a waiting payment. */
  cancel(key: string): Reply {
    const known = this.get("payment", key);
    if (known?.kind !== "payment" || isClosed(known))
      return failure(404, "unknown_operation", "There is nothing under this key.");
    if (known.status === "waiting") {
      known.status = "failed";
      known.cancelled = true;
      this.write(known);
    }
    if (known.status !== "failed") return failure(409, "not_waiting", `The payment is ${known.status}.`);
    return { status: 200, body: answerOf(known) };
  }

  /** Sets the status of a payment. Any status may follow any other, so that every mistake of an acquirer can be tried. */
  moved(payment: Payment, status: Payment["status"], transaction: Transaction, notifying: Notifying): Report[] {
    payment.status = status;
    payment.transaction = status === "paid" ? transaction : undefined;
    return this.report(payment, payment.order.callback_url, notifying);
  }

  /** Decides a refund, and corrects the refunded sum of its payment. */
  concluded(refund: Refund, status: "succeeded" | "failed", notifying: Notifying): Report[] {
    const payment = this.get("payment", refund.order.payment_operation_key);
    const touched: Operation[] = [];
    if (payment?.kind === "payment" && !isClosed(payment)) {
      const held = (state: string): number => (state === "failed" ? 0 : refund.order.amount_minor);
      payment.refunded_minor += held(status) - held(refund.status);
      touched.push(payment);
    }
    refund.status = status;
    refund.concludesAs = undefined;
    return this.report(refund, refund.order.callback_url, notifying, touched);
  }

  write(...operations: Operation[]): void {
    this.file?.append(operations);
  }

  private base(operation_key: string): { operation_key: string; created_at: string; reports: Report[] } {
    return { operation_key, created_at: wireTime(this.clock.now()), reports: [] };
  }

  /** The response to an order whose key is known; undefined for a new key. */
  private repeated(kind: Kind, order: PaymentOrder | RefundOrder): Reply | undefined {
    const known = this.get(kind, order.operation_key);
    if (!known) return undefined;
    if (isClosed(known)) return refusalOf(known);
    if (!sameOrder(known.order, order)) {
      return failure(409, "key_conflict", "This key was used for something else.", true);
    }
    return { status: 200, body: answerOf(known) };
  }

  private create(operation: Operation, ...touched: Operation[]): Reply {
    if (this.all.size >= this.look) this.forget();
    if (this.all.size >= 2 * this.maximum)
      return failure(503, "full", "The simulator has too much that is unfinished.");
    this.put(operation);
    this.write(operation, ...touched);
    return isClosed(operation) ? refusalOf(operation) : { status: 201, body: answerOf(operation) };
  }

  private put(operation: Operation): void {
    this.all.set(`${operation.kind} ${operation.operation_key}`, operation);
  }

  /** Removes the oldest finished operations beyond the maximum, and some more, so that this happens seldom. */
  private forget(): void {
    const now = this.clock.now();
    let excess = this.all.size - Math.floor(this.maximum * 0.9);
    for (const [key, operation] of this.all) {
      if (excess <= 0) break;
      if (!isFinished(operation, now)) continue;
      this.all.delete(key);
      excess--;
    }
    this.look = Math.max(this.maximum, this.all.size + Math.ceil(this.maximum * 0.05));
  }

  private report(
    operation: Payment | Refund,
    url: string,
    { callbacks, delay_ms }: Notifying,
    touched: Operation[] = [],
  ): Report[] {
    const { kind, operation_key, status } = operation;
    const transaction = operation.kind === "payment" ? operation.transaction : undefined;
    const now = this.clock.now();
    const id = randomUUID();
    const body = JSON.stringify({
      callback_id: id,
      kind,
      operation_key,
      status,
      ...(transaction === undefined ? {} : { transaction }),
      occurred_at: wireTime(now),
    });
    const report = { id, url, body, remaining: callbacks, failures: 0, due: now + delay_ms * 1000 };
    if (callbacks > 0) operation.reports.push(report);
    this.write(operation, ...touched);
    return callbacks > 0 ? [report] : [];
  }
}

function refusalOf({ status, refusal }: ClosedKey): Reply {
  return failure(status === "void" ? 410 : 422, refusal.code, refusal.message, true);
}

function sameOrder(left: PaymentOrder | RefundOrder, right: PaymentOrder | RefundOrder): boolean {
  const names = Object.keys(right);
  const value = (order: object, name: string): unknown => (order as Record<string, unknown>)[name];
  return Object.keys(left).length === names.length && names.every((name) => value(left, name) === value(right, name));
}
