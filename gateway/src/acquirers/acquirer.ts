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
  /** Amounts that it takes are whole multiples of this: 100 where it knows whole rupiah only. Undefined: any amount. */
  stepMinor?: Minor;
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

/**
 * An acquirer's own names for what it was asked to do, such as `{ payment_request: "pr-1" }`: at most 8, each of at most 255 printable
 * characters. They are kept with the operation, and handed back with every later request about it.
 */
export type ProviderIds = Readonly<Record<string, string>>;

/** What an acquirer is asked to take. But for `isOver` and `providerIds` everything in it is the same each time the same payment is asked about. */
export interface OpenRequest extends InstructionRequest {
  /** Ours, unique for this attempt at this acquirer: at most 64 characters of `[a-z0-9.]`. It makes the operation happen once. */
  operationKey: string;
  /** Where the acquirer reports what becomes of it. */
  callbackUrl: string;
  /** How often the merchant has asked again for this payment after all acquirers had failed; 0 at first. */
  round: number;
  /** True once nobody is to pay it any more: what is not there then is as good as ended. */
  isOver: boolean;
  /** Undefined while it has told none. */
  providerIds: ProviderIds | undefined;
}

export interface Opened {
  instructions: Instructions;
  providerIds?: ProviderIds | undefined;
}

export interface RefundRequest {
  operationKey: string;
  /** The operation key with which the payment was opened. */
  paymentOperationKey: string;
  paymentProviderIds: ProviderIds | undefined;
  /** The whole of the payment. */
  paymentAmountMinor: Minor;
  method: PaymentMethod;
  amountMinor: Minor;
  currency: string;
  callbackUrl: string;
  /** The refund's own; undefined while it has told none. */
  providerIds: ProviderIds | undefined;
}

export type RefundStatus = "pending" | "succeeded" | "failed";

export interface Refunded {
  status: RefundStatus;
  providerIds?: ProviderIds | undefined;
}

/** Money that an acquirer says it has received. Its identity is the acquirer's: one transaction counts once. */
export interface Receipt {
  /** 1 to 64 printable ASCII characters without spaces. */
  transactionId: string;
  amountMinor: Minor;
  currency: string;
  /** What it keeps of this for itself, where it says so. */
  feeMinor?: Minor | undefined;
}

/** How a payment stands at its acquirer. `isQuestioned`: its fraud detection wants a person to say whether the money is taken. */
export type Standing =
  | { status: "waiting" | "failed" }
  | { status: "processing"; isQuestioned?: boolean }
  | { status: "paid"; receipt: Receipt };

/** What a person says of a payment that is questioned. */
export type Judgement = "approve" | "refuse";

/**
 * Money of a payment that an acquirer has moved without us. refund: given back, by a refund that we never asked for. unlisted_refund: given
 * back, and it does not say by which refund. dispute: a part is charged back, and it does not say how much.
 */
export type Astray = "refund" | "unlisted_refund" | "dispute";

/** What an acquirer knows of an operation key. `known: false` is a promise: it is not there, and never will be. */
export type Known = { known: false } | ({ known: true; standing: Standing; astray?: readonly Astray[] } & Opened);

export type KnownRefund = { known: false } | ({ known: true } & Refunded);

/** Somebody contests a payment at the acquirer. Its identity is the acquirer's. */
export interface ReportedDispute {
  /** 1 to 64 printable ASCII characters without spaces. */
  id: string;
  status: "open" | "won" | "lost" | "withdrawn";
  amountMinor: Minor;
  currency: string;
  reason:
    | "product_not_received"
    | "product_unacceptable"
    | "fraudulent"
    | "duplicate"
    | "credit_not_processed"
    | "general";
  /** Until when the acquirer takes evidence; undefined when it does not say. */
  respondBy?: Micros | undefined;
}

export const reportKinds = [
  "payment",
  "refund",
  "look",
  "dispute",
  "refund_elsewhere",
] as const satisfies Report["kind"][];

/**
 * What an acquirer reports on its own account. It may come late, twice, or in another order than it happened. `look` says only that
 * something has happened: the acquirer is asked before anything is believed.
 */
export type Report =
  | { kind: "payment"; operationKey: string; standing: Standing; providerIds?: ProviderIds | undefined }
  | { kind: "refund"; operationKey: string; status: RefundStatus; providerIds?: ProviderIds | undefined }
  | {
      kind: "look";
      /** Or `ProviderIds.account`, of an acquirer that names a payment by the payer's account alone. */
      operationKey: string;
    }
  | {
      kind: "dispute";
      /** Or `ProviderIds.account`, of an acquirer that names a contested payment by its own name. */
      paymentOperationKey: string;
      dispute: ReportedDispute;
    }
  | {
      /** Money of this payment was given back, and not by a refund of ours. */
      kind: "refund_elsewhere";
      /** Or `ProviderIds.account`. */
      paymentOperationKey: string;
    };

/** A request of an acquirer to us. */
export interface Message {
  method: string;
  /** As it was sent, with its query. */
  target: string;
  /** What follows the address for callbacks in its path: "" or "/x/y". */
  rest: string;
  /** By lower-case names. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Buffer;
}

/** An answer in the acquirer's own words. */
export interface ProviderReply {
  status: number;
  headers?: Readonly<Record<string, string>>;
  body: string;
}

/** What is asked of the payer now. */
export interface Bill {
  amountMinor: Minor;
  currency: string;
  merchantName: string;
  expiresAt: Micros;
  /** False when it is paid, over or cancelled. */
  payable: boolean;
  instructions: Instructions | undefined;
  providerIds: ProviderIds | undefined;
}

/** What became of a report: taken, of an operation that this acquirer was never asked for, or refused as contradicting what is known. */
export type Taken = "taken" | "unknown operation" | "refused";

/**
 * What a message means. `reply`: nothing has to be looked up. `reports`: something happened; without a reply of its own it is answered in
 * our words. `bill`: it asks what a payer owes, by our operation key or by the account number (`ProviderIds.account`) that was given out.
 */
export type Heard = { words?: Words } & (
  | { kind: "reply"; reply: ProviderReply }
  | { kind: "reports"; reports: readonly Report[]; reply?: (taken: Taken) => ProviderReply }
  | {
      kind: "bill";
      find: { operationKey: string } | { account: string };
      reply: (bill: Bill | undefined) => ProviderReply;
    }
);

/** Something said between an acquirer and us, for people to read later: without secrets and without what names a person. */
export interface Words {
  /** Such as `POST /v2/charge`. */
  about: string;
  /** Of its answer; undefined when there was none. */
  status: number | undefined;
  text: string;
}

/** Hears all that is said during a call. Returns at once, and never throws. */
export type Tell = (words: Words) => void;

/** A dispute of a payment, as it was reported. */
export interface ConfirmDisputeRequest {
  /** Of the payment. */
  operationKey: string;
  providerIds: ProviderIds | undefined;
  dispute: ReportedDispute;
}

/** What a merchant answers to a dispute, for an acquirer that takes it. */
export interface EvidenceRequest {
  /** The acquirer's name for it. */
  disputeId: string;
  /** Ours, unique for this evidence: it is submitted once. */
  operationKey: string;
  statement: string;
  carrier: string | undefined;
  trackingNumber: string | undefined;
  /** YYYY-MM-DD */
  deliveredOn: string | undefined;
  files: readonly { name: string; type: string; bytes: Buffer }[];
}

/** What a harmless call with an acquirer's keys has shown. */
export interface Checked {
  /** A sentence each. */
  findings: readonly { well: boolean; text: string }[];
  /** Their clock minus ours. */
  clockDifferenceMs: number | undefined;
}

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
  open(request: OpenRequest, signal: AbortSignal, tell?: Tell): Promise<Opened>;
  /**
   * Asks what became of a payment. Throws when no answer can be had. Where the acquirer lets a thing happen once under our key, it may
   * complete what it finds not done, while the payment is not yet over.
   */
  ask(request: OpenRequest, signal: AbortSignal, tell?: Tell): Promise<Known>;
  /**
   * Ends a payment that an inquiry has just found waiting, and that nobody is to pay any more: after it nobody can. Ended twice it is ended.
   * Throws `AcquirerRefused` where the acquirer cannot end it before its time; an Error where it is not known whether it has ended, and
   * where it was paid meanwhile. Absent where it can end none.
   */
  cancel?(request: OpenRequest, signal: AbortSignal, tell?: Tell): Promise<void>;
  /**
   * Tells what a person says of a payment that an inquiry has just found questioned. Told twice it is told. Throws `AcquirerRefused` where
   * it is not to be told any more, and an Error where it is not known whether it was. Absent where none is questioned.
   */
  judge?(request: OpenRequest, judgement: Judgement, signal: AbortSignal, tell?: Tell): Promise<void>;
  /** Asks for a refund. Throws `AcquirerRefused` for a definite no. */
  refund(request: RefundRequest, signal: AbortSignal, tell?: Tell): Promise<Refunded>;
  askRefund(request: RefundRequest, signal: AbortSignal, tell?: Tell): Promise<KnownRefund>;
  /**
   * Reads what an acquirer sends to us; `now` is real time. Throws SIGNATURE_MISSING, SIGNATURE_INVALID, TIMESTAMP_OUT_OF_WINDOW,
   * MALFORMED_JSON, and VALIDATION_ERROR only of what proves to come from the acquirer: it is kept for a person.
   */
  receive(message: Message, now: Micros): Heard;
  /** Whether a dispute that was reported without a proof of its own stands so at the acquirer. Absent: its reports prove themselves. */
  confirmDispute?(request: ConfirmDisputeRequest, signal: AbortSignal, tell?: Tell): Promise<boolean>;
  /** Hands a merchant's evidence on. Throws `AcquirerRefused` for a definite no. Absent where it takes none. */
  submitEvidence?(request: EvidenceRequest, signal: AbortSignal, tell?: Tell): Promise<void>;
  /** Makes the cheapest harmless call with the keys. Throws when no answer can be had. */
  check?(signal: AbortSignal, tell?: Tell): Promise<Checked>;
}

export interface Acquirer {
  /** `gateway_code` on the wire. */
  readonly code: string;
  readonly name: string;
  readonly environment: "sandbox" | "production";
  readonly capabilities: readonly Capability[];
  /** Its share among equal priorities, where the rule that gives it a payment names none; 100 when absent. */
  readonly weight?: number | undefined;
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
  /** Where its own people look at a payment with these ids; undefined when that cannot be told. */
  dashboardUrl?(ids: ProviderIds): string | undefined;
}
