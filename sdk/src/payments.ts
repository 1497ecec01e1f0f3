// Payments and payment links (interface, sections 4.2 to 4.5).
import { type CallOptions, type Calls, type ReadOptions, path } from "./calls.ts";
import { GerbangError } from "./errors.ts";
import type { List } from "./list.ts";
import type {
  CanceledPayment,
  CreatedPayment,
  CreatePayment,
  CreatePaymentLink,
  Payment,
  PaymentFilters,
  PaymentLink,
  PaymentLinkFilters,
  PaymentStatus,
} from "./types.ts";

export interface WaitOptions extends ReadOptions {
  /** How long to wait in all, in milliseconds; 5 minutes where it is left out. */
  timeoutMs?: number;
}

const WAIT_MS = 300_000;
/** Asked after 1, 2 and 3 seconds, and every 5 from then on: a payer needs longer than that. */
const paceMs = (asked: number): number => Math.min(asked + 1, 5) * 1000;

const PAID = ["partially_refunded", "refunded"] as const;

/** What may still follow a state (interface, section 3.1). */
const ends: Partial<Record<PaymentStatus, readonly PaymentStatus[]>> = {
  succeeded: ["partially_refunded", "refunded"],
  partially_refunded: ["refunded"],
  refunded: [],
  failed: [],
  expired: [],
  canceled: [],
};

export class Payments {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /**
   * Creates a payment. Retries are safe: all attempts carry one idempotency key. Throws RISK_REVIEW for a payment that waits for a person: it
   * exists, and has not failed. After an error with `outcomeUnknown` the payment may exist.
   */
  create(body: CreatePayment, options?: CallOptions): Promise<CreatedPayment> {
    return this.#calls.write("payments.create", "/v1/payments", { value: body, rules: "CreatePayment" }, options);
  }

  /**
   * Creates a payment, or finds the one that has this `reference_id` already: after a lost answer, a crash, or a second call. Throws
   * REFERENCE_ID_DUPLICATE if what is found has another amount, currency or method.
   */
  async createOrFind(body: CreatePayment, options?: CallOptions): Promise<CreatedPayment | Payment> {
    try {
      return await this.create(body, options);
    } catch (error) {
      if (!(error instanceof GerbangError)) throw error;
      const mayExist = error.outcomeUnknown || error.code === "REFERENCE_ID_DUPLICATE" || error.code === "RISK_REVIEW";
      if (!mayExist || error.code === "ABORTED") throw error;
      const found = await this.#find(body.reference_id, options);
      if (found === undefined || !isSame(found, body)) throw error;
      return found;
    }
  }

  /** The payment that has a `reference_id`; undefined when there is none, or the lookup fails as well. */
  async #find(referenceId: string, options?: CallOptions): Promise<Payment | undefined> {
    const { signal } = options ?? {};
    try {
      const { data } = await this.list({ reference_id: referenceId }, { signal });
      return data[0];
    } catch (error) {
      // The error of the creation says more than that of the lookup.
      if (error instanceof GerbangError) return undefined;
      throw error;
    }
  }

  get(reference: string, options?: ReadOptions): Promise<Payment> {
    return this.#calls.read("payments.get", path`/v1/payments/${reference}`, options);
  }

  /** Newest first. */
  list(filters?: PaymentFilters, options?: ReadOptions): List<Payment> {
    return this.#calls.list("payments.list", "/v1/payments", filters, options);
  }

  /** Cancels a pending payment. Throws PAYMENT_NOT_CANCELABLE for any other. */
  cancel(reference: string, body: { reason?: string } = {}, options?: CallOptions): Promise<CanceledPayment> {
    const target = path`/v1/payments/${reference}/cancel`;
    return this.#calls.write("payments.cancel", target, { value: body, rules: "CancelPayment" }, options);
  }

  /**
   * Asks until the payment has come to a state, or to one of several; a refunded payment has succeeded before. Throws STATE_NOT_REACHED when time is over, or when it has come to another end. Meant
   * for scripts and tests: a shop goes on by webhook.
   */
  async waitFor(
    reference: string,
    status: PaymentStatus | readonly PaymentStatus[],
    options: WaitOptions = {},
  ): Promise<Payment> {
    // What was given back was paid before.
    const wanted = [status].flat().flatMap((each) => (each === "succeeded" ? [each, ...PAID] : each));
    const { now, sleep } = this.#calls.transport.options;
    const endsAt = now() + (options.timeoutMs ?? WAIT_MS);
    for (let asked = 0; ; asked++) {
      const payment = await this.get(reference, options);
      if (wanted.includes(payment.status)) return payment;
      const left = ends[payment.status];
      const waitMs = paceMs(asked);
      const isOver = now() + waitMs > endsAt;
      if (isOver || (left !== undefined && !wanted.some((each) => left.includes(each)))) {
        throw new GerbangError({
          code: "STATE_NOT_REACHED",
          message: `The payment ${reference} is ${payment.status}, not ${[status].flat().join(" or ")}${isOver ? " in time" : ""}.`,
          details: { reference, status: payment.status },
        });
      }
      await sleep(waitMs, options.signal);
    }
  }
}

const isSame = (found: Payment, asked: CreatePayment): boolean =>
  found.amount_minor === asked.amount_minor &&
  found.currency === asked.currency &&
  found.payment_method === asked.payment_method;

export class PaymentLinks {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  create(body: CreatePaymentLink, options?: CallOptions): Promise<PaymentLink> {
    const sent = { value: body, rules: "CreatePaymentLink" } as const;
    return this.#calls.write("paymentLinks.create", "/v1/payment-links", sent, options);
  }

  get(uuid: string, options?: ReadOptions): Promise<PaymentLink> {
    return this.#calls.read("paymentLinks.get", path`/v1/payment-links/${uuid}`, options);
  }

  list(filters?: PaymentLinkFilters, options?: ReadOptions): List<PaymentLink> {
    return this.#calls.list("paymentLinks.list", "/v1/payment-links", filters, options);
  }

  /** Nobody can pay by it any more. */
  deactivate(uuid: string, options?: CallOptions): Promise<PaymentLink> {
    return this.#calls.write("paymentLinks.deactivate", path`/v1/payment-links/${uuid}/deactivate`, {}, options);
  }
}
