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
}

/** Interface 2.2: `type`, `value` and `expires_at` always; the rest depends on the method. */
export interface Instructions {
  type: "qr_string" | "va_number" | "bank_account" | "redirect";
  value: string;
  expires_at: string;
  [field: string]: string;
}

export interface Acquirer {
  /** `gateway_code` on the wire. */
  readonly code: string;
  readonly name: string;
  readonly environment: "sandbox" | "production";
  readonly capabilities: readonly Capability[];
  /** Instructions made here, from a range of our own: no call is needed, so creation is one transaction. Pure. */
  issue(request: InstructionRequest): Instructions;
  /** True when the acquirer answers a refund of this payment later, by a word of its own. */
  refundsLater(payment: { metadata: Readonly<Record<string, string>> | undefined }): boolean;
}
