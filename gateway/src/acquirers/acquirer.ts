// Types that acquirers and the rest of Gerbang share: capabilities and costs, calls, reports, disputes and payment instructions.
import type { Micros } from "../ground/clock.ts";
import type { FeeRule, Minor } from "../ground/money.ts";
import type { PaymentMethod } from "../merchants/settings.ts";

/** One payment method of an acquirer: its currencies, its amount limits, and what the acquirer charges the platform. */
export interface Capability {
  method: PaymentMethod;
  currencies: readonly string[];
  minimumMinor: Minor;
  maximumMinor: Minor;
  cost: FeeRule;
  /** The acquirer takes only multiples of this amount, such as 100 for whole rupiah. Undefined: any amount within the limits. */
  stepMinor?: Minor;
  /** False: the acquirer gives no money of this method back, so the merchant pays it back from the bank. */
  refunds?: boolean;
}

export interface InstructionRequest {
  reference: string;
  amountMinor: Minor;
  currency: string;
  method: PaymentMethod;
  merchantName: string;
  expiresAt: Micros;
  /** Gerbang's own payer page of this payment, for methods that redirect. */
  payUrl: string;
  /** Address to which the payer's browser returns; undefined when the merchant named none. */
  returnUrl: string | undefined;
  metadata: Readonly<Record<string, string>> | undefined;
}

/** Interface 2.2: `type`, `value` and `expires_at` are always present; the other fields depend on the method. */
export interface Instructions {
  type: "qr_string" | "va_number" | "bank_account" | "redirect";
  value: string;
  expires_at: string;
  [field: string]: string;
}

/**
 * The acquirer's own identifiers of an operation, such as `{ payment_request: "pr-1" }`: at most 8, each of at most 255 printable characters.
 * Gerbang stores them with the operation and passes them to every later request about it.
 */
export type ProviderIds = Readonly<Record<string, string>>;

/** A request to open a payment, or to inquire about it. For one payment only `isOver` and `providerIds` ever differ. */
export interface OpenRequest extends InstructionRequest {
  /** Gerbang's idempotency key, unique for this attempt at this acquirer: at most 64 characters of `[a-z0-9.]`. */
  operationKey: string;
  /** Address to which the acquirer sends notifications about this payment. */
  callbackUrl: string;
  /** Number of times the merchant asked again for this payment after all acquirers had failed; 0 at first. */
  round: number;
  /** True once the payment must not be paid any more. A payment that the acquirer does not show then counts as ended. */
  isOver: boolean;
  /** Undefined until the acquirer has returned identifiers. */
  providerIds: ProviderIds | undefined;
}

export interface Opened {
  instructions: Instructions;
  providerIds?: ProviderIds | undefined;
  /** State of the payment, when the answer tells it; absent: the payment waits. */
  state?: ReportedState;
}

export interface RefundRequest {
  operationKey: string;
  /** The operation key under which the payment was opened. */
  paymentOperationKey: string;
  paymentProviderIds: ProviderIds | undefined;
  paymentAmountMinor: Minor;
  method: PaymentMethod;
  amountMinor: Minor;
  currency: string;
  callbackUrl: string;
  /** True once the refund has ended here, or another attempt is about to make it: an inquiry then only asks, and never orders. */
  isOver: boolean;
  /** The acquirer's identifiers of the refund; undefined until the acquirer has returned them. */
  providerIds: ProviderIds | undefined;
}

export type RefundStatus = "pending" | "succeeded" | "failed";

export interface Refunded {
  status: RefundStatus;
  providerIds?: ProviderIds | undefined;
}

/** Money that the acquirer reports as received. The acquirer's transaction id identifies it, so that each transaction counts once. */
export interface Receipt {
  /** 1 to 64 printable ASCII characters without spaces. */
  transactionId: string;
  amountMinor: Minor;
  currency: string;
  /** The fee that the acquirer keeps of this amount, when the acquirer states one. */
  feeMinor?: Minor | undefined;
}

/** State of a payment at its acquirer. `isUnderReview`: the acquirer's fraud detection wants a person to approve or refuse the payment. */
export type ReportedState =
  | { status: "waiting" | "failed" }
  | { status: "processing"; isUnderReview?: boolean }
  | { status: "paid"; receipt: Receipt };

/** A person's decision about a payment under its acquirer's review. */
export type Judgement = "approve" | "refuse";

/**
 * Money of a payment that the acquirer moved without an order of Gerbang. `refundId`: paid back by this refund of its own.
 * `unlisted_refund`: paid back, and it does not say by which refund. `dispute`: charged back in part, and it does not say how much.
 */
export type Unrequested = "unlisted_refund" | "dispute" | { refundId: string };

export type Found = { state: ReportedState; unrequested?: readonly Unrequested[] } & Opened;
/** Result of an inquiry about a payment. `known: false` is final: the acquirer has no such payment and never will have it. */
export type Known = { known: false } | ({ known: true } & Found);

export type KnownRefund = { known: false } | ({ known: true } & Refunded);

export const disputeReasons = [
  "product_not_received",
  "product_unacceptable",
  "fraudulent",
  "duplicate",
  "credit_not_processed",
  "general",
] as const;
export type DisputeReason = (typeof disputeReasons)[number];

/** A dispute of a payment as the acquirer reports it, identified by the acquirer's id. */
export interface ReportedDispute {
  /** 1 to 64 printable ASCII characters without spaces. */
  id: string;
  /** `under_review`: it was answered, here or at the acquirer, and waits for the bank. `appealed`: what was decided is contested anew. */
  status: "open" | "under_review" | "won" | "lost" | "withdrawn" | "appealed";
  amountMinor: Minor;
  currency: string;
  reason: DisputeReason;
  /** The acquirer takes evidence until this time; undefined when it does not say. */
  respondBy?: Micros | undefined;
}

export const reportKinds = [
  "payment",
  "refund",
  "look",
  "dispute",
  "refund_elsewhere",
] as const satisfies Report["kind"][];

/** A notification. It may be late, double or out of order. `look`: something happened, and an inquiry is made before anything is booked. */
export type Report =
  | { kind: "payment"; operationKey: string; state: ReportedState; providerIds?: ProviderIds | undefined }
  | { kind: "refund"; operationKey: string; status: RefundStatus; providerIds?: ProviderIds | undefined }
  | {
      kind: "look";
      /** The operation key, or `ProviderIds.account` when the acquirer names a payment only by the payer's account. */
      operationKey: string;
    }
  | {
      kind: "dispute";
      /** The operation key, or `ProviderIds.account` when the acquirer names a disputed payment only by its own id. */
      paymentOperationKey: string;
      dispute: ReportedDispute;
    }
  | {
      /** The acquirer paid money of this payment back, by a refund that Gerbang did not order. */
      kind: "refund_elsewhere";
      /** The operation key, or `ProviderIds.account`. */
      paymentOperationKey: string;
      /** The acquirer's id of that refund. */
      refundId: string;
    };

/** An HTTP request that an acquirer sends to Gerbang. */
export interface Message {
  method: string;
  /** Request target as it was sent, query included. */
  target: string;
  /** The part of the path after the callback address: "" or "/x/y". */
  rest: string;
  /** Keyed by lower-case names. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Buffer;
}

/** Gerbang's response to an acquirer, in the format that this acquirer expects. */
export interface ProviderReply {
  status: number;
  headers?: Readonly<Record<string, string>>;
  body: string;
}

/** The bill of a payment as it is now, for acquirers that ask what a payer owes. */
export interface Bill extends Pick<InstructionRequest, "amountMinor" | "currency" | "merchantName" | "expiresAt"> {
  /** False once the payment is paid, cancelled or otherwise over. */
  payable: boolean;
  instructions: Instructions | undefined;
  providerIds: ProviderIds | undefined;
}

/** Outcome of a report: accepted, about an operation that this acquirer never got, or refused as contradicting what Gerbang knows. */
export type Taken = "taken" | "unknown operation" | "refused";

/**
 * Meaning of a message. `reply`: no look-up is needed. `reports`: something happened; without a `reply` of its own Gerbang responds in its
 * standard format. `bill`: the acquirer asks what a payer owes, by operation key or by account number (`ProviderIds.account`).
 */
export type MessageMeaning = { message?: AcquirerMessage } & (
  | { kind: "reply"; reply: ProviderReply }
  | { kind: "reports"; reports: readonly Report[]; reply?: (taken: Taken) => ProviderReply }
  | {
      kind: "bill";
      find: { operationKey: string } | { account: string };
      reply: (bill: Bill | undefined) => ProviderReply;
    }
);

/** A record of one exchange with an acquirer, for people to read later. It contains no secrets and no personal data. */
export interface AcquirerMessage {
  /** The request or the notification, such as `POST /v2/charge`. */
  about: string;
  /** HTTP status of the acquirer's response; undefined when there was none. */
  status: number | undefined;
  text: string;
}

/** Receives a record of each exchange during a call. Returns at once and never throws. */
export type RecordMessage = (message: AcquirerMessage) => void;

/** A reported dispute that the acquirer is asked to confirm. */
export interface ConfirmDisputeRequest {
  /** Operation key of the disputed payment. */
  operationKey: string;
  providerIds: ProviderIds | undefined;
  dispute: ReportedDispute;
}

/** A merchant's evidence in a dispute, for an acquirer that takes evidence through its API. */
export interface EvidenceRequest {
  /** The acquirer's id of the dispute. */
  disputeId: string;
  /** Gerbang's idempotency key for this evidence: it is submitted once. */
  operationKey: string;
  statement: string;
  carrier: string | undefined;
  trackingNumber: string | undefined;
  /** Format: YYYY-MM-DD. */
  deliveredOn: string | undefined;
  files: readonly { name: string; type: string; bytes: Buffer }[];
}

/** Result of a harmless test call with an acquirer's keys. */
export interface Checked {
  /** Each finding is one sentence. */
  findings: readonly { well: boolean; text: string }[];
  /** The acquirer's clock minus Gerbang's; undefined when the response carries no date. */
  clockDifferenceMs: number | undefined;
}

/**
 * A definite refusal: the acquirer did nothing under this operation key and never will, so another acquirer may be tried. Every other error of a
 * call leaves its outcome unknown: Gerbang then makes an inquiry instead of repeating the call.
 */
export class AcquirerRefused extends Error {
  override name = "AcquirerRefused";
  /** True when the acquirer can take nothing now (unreachable or down); false when it will not take this operation. */
  readonly unavailable: boolean;

  constructor(message: string, { unavailable = false, ...options }: ErrorOptions & { unavailable?: boolean } = {}) {
    super(message, options);
    this.unavailable = unavailable;
  }
}

/** Network calls, never inside a transaction; each ends when `signal` aborts, and has its effect once under its operation key. */
export interface AcquirerCalls {
  /** Milliseconds after which the outcome of a call is unknown. */
  readonly deadlineMs: number;
  /** Longest message that `receive` gets; 64 KiB when absent. */
  readonly messageMaxBytes?: number;
  /** Opens a payment. Throws `AcquirerRefused` for a definite refusal. */
  open(request: OpenRequest, signal: AbortSignal, record?: RecordMessage): Promise<Opened>;
  /**
   * Inquires about a payment. Throws when no usable answer arrives. If the acquirer makes an operation happen only once under the operation key,
   * the inquiry may open a missing payment, as long as the payment is not yet over.
   */
  inquire(request: OpenRequest, signal: AbortSignal, record?: RecordMessage): Promise<Known>;
  /**
   * Ends a payment that an inquiry has just found waiting and that must not be paid any more; afterwards nobody can pay it. A second call
   * changes nothing. Throws `AcquirerRefused` when the acquirer cannot end the payment before its time, and an Error when the outcome is unknown
   * or the payment was paid meanwhile. Absent when the acquirer can end no payment.
   */
  cancel?(request: OpenRequest, signal: AbortSignal, record?: RecordMessage): Promise<void>;
  /**
   * Passes on a person's decision about a payment that an inquiry just found under review. A second call changes nothing. Throws `AcquirerRefused`
   * when no decision is taken any more, and an Error when the outcome is unknown. Absent when no payments are reviewed.
   */
  judge?(request: OpenRequest, judgement: Judgement, signal: AbortSignal, record?: RecordMessage): Promise<void>;
  /** Orders a refund. Throws `AcquirerRefused` for a definite refusal. */
  refund(request: RefundRequest, signal: AbortSignal, record?: RecordMessage): Promise<Refunded>;
  /**
   * Inquires about a refund. Throws when no usable answer arrives. If the acquirer makes a refund happen only once under the operation key, the
   * inquiry may order a missing refund, as long as the refund is not over.
   */
  inquireRefund(request: RefundRequest, signal: AbortSignal, record?: RecordMessage): Promise<KnownRefund>;
  /**
   * Reads a message of the acquirer; `now` is real time. Throws SIGNATURE_MISSING, SIGNATURE_INVALID, TIMESTAMP_OUT_OF_WINDOW and
   * MALFORMED_JSON, and VALIDATION_ERROR only for messages that provably come from the acquirer: Gerbang keeps those for a person to read.
   */
  receive(message: Message, now: Micros): MessageMeaning;
  /** Asks the acquirer whether a dispute that was reported without proof has this state. Absent when reports prove themselves. */
  confirmDispute?(request: ConfirmDisputeRequest, signal: AbortSignal, record?: RecordMessage): Promise<boolean>;
  /** Submits a merchant's evidence. Throws `AcquirerRefused` for a definite refusal. Absent when the acquirer takes none. */
  submitEvidence?(request: EvidenceRequest, signal: AbortSignal, record?: RecordMessage): Promise<void>;
  /** Makes the cheapest harmless call with the configured keys. Throws when no answer arrives. */
  check?(signal: AbortSignal, record?: RecordMessage): Promise<Checked>;
}

export interface Acquirer {
  /** The acquirer's `gateway_code` on the wire. */
  readonly code: string;
  readonly name: string;
  readonly environment: "sandbox" | "production";
  readonly capabilities: readonly Capability[];
  /** Share of payments among acquirers of equal priority, when the routing rule names no weight; 100 when absent. */
  readonly weight?: number | undefined;
  /** Makes instructions from numbers of Gerbang's own, in the payment's transaction. Undefined when the acquirer must be asked by `calls`. Pure. */
  issue(request: InstructionRequest): Instructions | undefined;
  /** Milliseconds after which Gerbang inquires about an open payment; undefined when the acquirer's notifications suffice. */
  inquiresAfterMs(request: InstructionRequest): number | undefined;
  /** True when a refund of this payment stays pending until the acquirer reports its result; false when it succeeds at once. */
  refundsLater(payment: { metadata: Readonly<Record<string, string>> | undefined }): boolean;
  readonly calls?: AcquirerCalls;
  /** True for an acquirer whose calls leave this process: their outcomes measure the acquirer's health. */
  readonly remote: boolean;
  /** Address of the payment in the acquirer's own dashboard; undefined when it cannot be derived from the ids. */
  dashboardUrl?(ids: ProviderIds): string | undefined;
}
