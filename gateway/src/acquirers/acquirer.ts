// What an acquirer is to the rest of the house: what it can take, at what cost, and how it tells the payer to pay.
import type { Micros } from "../ground/clock.ts";
import type { FeeRule, Minor } from "../ground/money.ts";
import type { PaymentMethod } from "../merchants/settings.ts";

/** A method that an acquirer takes, in which currencies, between which amounts, and what it charges the platform. */
export interface Capability {
  method: PaymentMethod;
  currencies: readonly string[];
  minimumMinor: Minor;
  maximumMinor: Minor;
  cost: FeeRule;
}

export interface InstructionRequest {
  reference: string;
  amountMinor: Minor;
  currency: string;
  method: PaymentMethod;
  merchantName: string;
  expiresAt: Micros;
  /** The payer's page of this payment, for methods that redirect. */
  payUrl: string;
  /** Where the payer's browser goes back to; undefined when the merchant named nothing. */
  returnUrl: string | undefined;
  metadata: Readonly<Record<string, string>> | undefined;
}

/** Interface 2.2: `type`, `value` and `expires_at` always; the rest depends on the method. */
export interface Instructions {
  type: "qr_string" | "va_number" | "bank_account" | "redirect";
  value: string;
  expires_at: string;
  [field: string]: string;
}

/** What an acquirer is asked to take. Everything in it is the same each time the same payment is asked about. */
export interface OpenRequest extends InstructionRequest {
  /** Ours, unique for this attempt at this acquirer: at most 64 characters of `[a-z0-9.]`. It makes the operation happen once. */
  operationKey: string;
  /** Where the acquirer reports what becomes of it. */
  callbackUrl: string;
  /** How often the merchant has asked again for this payment after all acquirers had failed; 0 at first. */
  round: number;
}

export interface RefundRequest {
  operationKey: string;
  /** The operation key with which the payment was opened. */
  paymentOperationKey: string;
  amountMinor: Minor;
  currency: string;
  callbackUrl: string;
}

/** Money that an acquirer says it has received. Its identity is the acquirer's: one transaction counts once. */
export interface Receipt {
  /** 1 to 64 printable ASCII characters without spaces. */
  transactionId: string;
  amountMinor: Minor;
  currency: string;
}

/** How a payment stands at its acquirer. */
export type Standing = { status: "waiting" | "processing" | "failed" } | { status: "paid"; receipt: Receipt };

/** What an acquirer knows of an operation key. `known: false` is a promise: it is not there, and never will be. */
export type Known = { known: false } | { known: true; instructions: Instructions; standing: Standing };

export type RefundStatus = "pending" | "succeeded" | "failed";
export type KnownRefund = { known: false } | { known: true; status: RefundStatus };

/** What an acquirer reports on its own account. It may come late, twice, or in another order than it happened. */
export type Callback =
  | { kind: "payment"; operationKey: string; standing: Standing }
  | { kind: "refund"; operationKey: string; status: RefundStatus };

/**
 * A definite no: the acquirer did nothing for this operation key and never will, so that another may be asked. Whatever
 * else a call throws means that its outcome is unknown, and it is asked about instead of being repeated.
 */
export class AcquirerRefused extends Error {
  override name = "AcquirerRefused";
  /** True when the acquirer cannot take anything now (it was not reached, it is down); false when it will not take this. */
  readonly unavailable: boolean;

  constructor(message: string, { unavailable = false, ...options }: ErrorOptions & { unavailable?: boolean } = {}) {
    super(message, options);
    this.unavailable = unavailable;
  }
}

/**
 * The calls of an acquirer that is asked over a network. None is made inside a transaction. Each ends when `signal` does,
 * and each may be made again with the same operation key without happening twice.
 */
export interface AcquirerCalls {
  /** How long a call may take, in milliseconds, before its outcome is unknown. */
  readonly deadlineMs: number;
  /** Opens a payment. Throws `AcquirerRefused` for a definite no. */
  open(request: OpenRequest, signal: AbortSignal): Promise<Instructions>;
  /** Asks what became of a payment. Throws when no answer can be had. */
  ask(request: OpenRequest, signal: AbortSignal): Promise<Known>;
  /** Asks for a refund. Throws `AcquirerRefused` for a definite no. */
  refund(request: RefundRequest, signal: AbortSignal): Promise<RefundStatus>;
  askRefund(request: RefundRequest, signal: AbortSignal): Promise<KnownRefund>;
  /**
   * Reads a callback. `path` is the path that was called, `headers` have lower-case names, `now` is real time. Throws
   * SIGNATURE_MISSING, SIGNATURE_INVALID, TIMESTAMP_OUT_OF_WINDOW, MALFORMED_JSON or VALIDATION_ERROR.
   */
  readCallback(
    path: string,
    headers: Readonly<Record<string, string | string[] | undefined>>,
    body: Buffer,
    now: Micros,
  ): Callback;
}

export interface Acquirer {
  /** `gateway_code` on the wire. */
  readonly code: string;
  readonly name: string;
  readonly environment: "sandbox" | "production";
  readonly capabilities: readonly Capability[];
  /**
   * Instructions made here, from a range of our own: no call is needed, so creation is one transaction. Undefined when the
   * acquirer must be asked, through `calls`. Pure.
   */
  issue(request: InstructionRequest): Instructions | undefined;
  /** After how many milliseconds to ask how an open payment stands; undefined when its callbacks say it all. */
  asksAfterMs(request: InstructionRequest): number | undefined;
  /** True when the acquirer answers a refund of this payment later, by a word of its own. */
  refundsLater(payment: { metadata: Readonly<Record<string, string>> | undefined }): boolean;
  readonly calls?: AcquirerCalls;
  /** True for an acquirer whose calls leave this process: their outcomes tell how healthy it is. */
  readonly remote: boolean;
}
