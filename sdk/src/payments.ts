// Payments and payment links (interface, sections 4.2 to 4.5).
import { type CallOptions, type Calls, type ReadOptions, path } from "./calls.ts";
import { type ErrorCode, GerbangError } from "./errors.ts";
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
  /** Longest wait in milliseconds; 5 minutes by default. */
  timeoutMs?: number;
}

const PAYMENTS = "/v1/payments";
/** Codes after which a payment with this `reference_id` may exist. */
const mayExist: ErrorCode[] = ["REFERENCE_ID_DUPLICATE", "RISK_REVIEW", "IDEMPOTENCY_CONFLICT"];
const WAIT_MS = 300_000;
const LOOKUP_MS = 2_000;

const PAID = ["partially_refunded", "refunded"] as const;

/** The states that may follow each paid or final state (interface, section 3.1). */
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
   * Creates a payment. Retries are safe: all attempts carry one idempotency key. Throws RISK_REVIEW for a payment that waits for a person: that
   * payment exists and has not failed. After an error with `outcomeUnknown` the payment may exist.
   */
  create(body: CreatePayment, options?: CallOptions): Promise<CreatedPayment> {
    const sent = { value: body, rules: "CreatePayment", identity: "reference" } as const;
    return this.#calls.write("payments.create", PAYMENTS, sent, options);
  }

  /**
   * Creates a payment, or finds the existing one with this `reference_id`, as after a lost answer, a crash or a second call. Without a key of your
   * own the key is made of the body, so that a second call takes the same payment further after GATEWAY_ERROR. Throws REFERENCE_ID_DUPLICATE
   * when the existing payment has another amount, currency or method.
   */
  async createOrFind(body: CreatePayment, options?: CallOptions): Promise<CreatedPayment | Payment> {
    // The caller may use the object for its next order meanwhile.
    const asked = { ...body };
    const { now, deadlineMs } = this.#calls.transport.options;
    const endsAt = now() + (options?.deadlineMs ?? deadlineMs);
    try {
      const sent = { value: body, rules: "CreatePayment", isIntent: true, identity: "reference" } as const;
      const answer = await this.#calls.answer("payments.create", PAYMENTS, sent, options);
      const created = answer.body as CreatedPayment;
      if (!isSame(created, asked)) {
        const message = "The answer is about another payment.";
        throw new GerbangError({ ...answer, code: "ANSWER_UNREADABLE", message, outcomeUnknown: true });
      }
      // A kept answer, which the service gives with status 200, shows the payment as it was at its creation.
      return answer.status === 200 ? ((await this.#find(asked, endsAt, options)) ?? created) : created;
    } catch (error) {
      if (!(error instanceof GerbangError)) throw error;
      if (error.code === "ABORTED" || !(error.outcomeUnknown || mayExist.includes(error.code))) throw error;
      const found = await this.#find(asked, endsAt, options);
      if (found === undefined) throw error;
      return found;
    }
  }

  /** The payment that a creation asked for; undefined when there is none, another one has its `reference_id`, or the lookup fails. */
  async #find(body: CreatePayment, endsAt: number, options?: CallOptions): Promise<Payment | undefined> {
    const { now, timeoutMs } = this.#calls.transport.options;
    // What is left of the deadline, and two seconds at least: after a lost answer the lookup is what matters.
    const deadlineMs = Math.max(endsAt - now(), Math.min(timeoutMs, LOOKUP_MS));
    try {
      const { data } = await this.list({ reference_id: body.reference_id }, { signal: options?.signal, deadlineMs });
      return data.find((payment) => isSame(payment, body));
    } catch (error) {
      // The caller then gets the error of the creation, which says more than the error of the lookup.
      if (error instanceof GerbangError) return undefined;
      throw error;
    }
  }

  get(reference: string, options?: ReadOptions): Promise<Payment> {
    return this.#calls.read("payments.get", path`/v1/payments/${reference}`, options, "reference");
  }

  /** Newest first. */
  list(filters?: PaymentFilters, options?: ReadOptions): List<Payment> {
    return this.#calls.list("payments.list", PAYMENTS, filters, options);
  }

  /** Cancels a pending payment. Throws PAYMENT_NOT_CANCELABLE for a payment in another state. */
  cancel(reference: string, body: { reason?: string } = {}, options?: CallOptions): Promise<CanceledPayment> {
    const target = path`/v1/payments/${reference}/cancel`;
    return this.#calls.write(
      "payments.cancel",
      target,
      { value: body, rules: "CancelPayment", identity: "reference" },
      options,
    );
  }

  /**
   * Polls until the payment reaches a state, or one of several; a refunded payment counts as succeeded. Throws STATE_NOT_REACHED when the time is over
   * or the payment can no longer reach the state. Meant for scripts and tests: a shop relies on webhooks.
   */
  async waitFor(
    reference: string,
    status: PaymentStatus | readonly PaymentStatus[],
    options: WaitOptions = {},
  ): Promise<Payment> {
    // A refunded payment had succeeded before.
    const wanted = [status].flat().flatMap((each) => (each === "succeeded" ? [each, ...PAID] : each));
    const { now } = this.#calls.transport.options;
    const timeoutMs = options.timeoutMs ?? WAIT_MS;
    const endsAt = now() + timeoutMs;
    for (let asked = 1, waited = 0; ; asked++) {
      const deadlineMs = Math.max(1, Math.min(endsAt - now(), options.deadlineMs ?? Infinity));
      const payment = await this.get(reference, { signal: options.signal, deadlineMs });
      if (wanted.includes(payment.status)) return payment;
      const left = Object.hasOwn(ends, payment.status) ? ends[payment.status]! : wanted;
      // 1, 2, 3 and 4 seconds between the first polls, then always 5: payers need longer than that.
      const waitMs = Math.min(asked, 5) * 1000;
      const isOpen = wanted.some((each) => left.includes(each));
      // The waits count by themselves: the clock may be set back.
      if (!isOpen || now() + waitMs > endsAt || (waited += waitMs) > timeoutMs) {
        throw new GerbangError({
          code: "STATE_NOT_REACHED",
          message: `The payment ${reference} is ${payment.status}, not ${[status].flat().join(" or ")}${isOpen ? " in time" : ""}.`,
          details: { reference, status: payment.status },
        });
      }
      await this.#calls.transport.wait(waitMs, options.signal);
    }
  }
}

const isSame = (found: CreatedPayment | Payment, asked: CreatePayment): boolean =>
  found.reference_id === asked.reference_id &&
  found.amount_minor === asked.amount_minor &&
  found.currency === asked.currency &&
  found.payment_method === asked.payment_method;

export class PaymentLinks {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  create(body: CreatePaymentLink, options?: CallOptions): Promise<PaymentLink> {
    const sent = { value: body, rules: "CreatePaymentLink", identity: "uuid" } as const;
    return this.#calls.write("paymentLinks.create", "/v1/payment-links", sent, options);
  }

  get(uuid: string, options?: ReadOptions): Promise<PaymentLink> {
    return this.#calls.read("paymentLinks.get", path`/v1/payment-links/${uuid}`, options, "uuid");
  }

  list(filters?: PaymentLinkFilters, options?: ReadOptions): List<PaymentLink> {
    return this.#calls.list("paymentLinks.list", "/v1/payment-links", filters, options);
  }

  /** Closes the link: nobody can pay by it any more. */
  deactivate(uuid: string, options?: CallOptions): Promise<PaymentLink> {
    const target = path`/v1/payment-links/${uuid}/deactivate`;
    return this.#calls.write("paymentLinks.deactivate", target, { identity: "uuid" }, options);
  }
}
