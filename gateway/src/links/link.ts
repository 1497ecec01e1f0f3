// A payment link, its status, and its shape in the API.
import { type Micros, wireTime, wireTimeOrNull } from "../ground/clock.ts";
import { type Minor, exponentOf, wireAmount } from "../ground/money.ts";
import type { Book } from "../merchants/books.ts";
import type { PaymentMethod } from "../merchants/settings.ts";
import type { PaymentSummary } from "../payments/payment.ts";
import { isPaid } from "../payments/states.ts";

export const linkStatuses = ["active", "paid", "expired", "deactivated"] as const;
export type LinkStatus = (typeof linkStatuses)[number];

export interface Link {
  book: Book;
  uuid: string;
  /** 16 random bytes: the last part of the link's address. */
  token: Buffer;
  reusable: boolean;
  currency: string;
  /** Undefined when the payer chooses the amount, within the minimum and maximum if given. */
  amountMinor: Minor | undefined;
  minimumMinor: Minor | undefined;
  maximumMinor: Minor | undefined;
  description: string | undefined;
  /** Undefined: every method that is active at the time of the payment. */
  methods: readonly PaymentMethod[] | undefined;
  /** Whether the payer has to give a name and an e-mail address. */
  customerRequired: boolean;
  /** How long each payment by this link can be paid, in seconds. */
  paymentExpiresIn: number;
  returnUrl: string | undefined;
  metadata: Record<string, string> | undefined;
  createdAt: Micros;
  /** Undefined for a link that never expires. */
  expiresAt: Micros | undefined;
  deactivatedAt: Micros | undefined;
}

/** The payment of a link that is not reusable, while the payment is open or once it is paid. */
export type LinkPayment = Pick<PaymentSummary, "reference" | "referenceId" | "status" | "expiresAt">;

/** A link with the payment that occupies it, at a time of its book. */
export interface LinkSnapshot {
  link: Link;
  payment: LinkPayment | undefined;
  now: Micros;
}

/** The status of a link at a time of its book. A paid link stays paid, whatever happens to it later. */
export function statusOf(link: Link, payment: LinkPayment | undefined, now: Micros): LinkStatus {
  if (payment && isPaid(payment.status)) return "paid";
  if (link.deactivatedAt !== undefined) return "deactivated";
  return link.expiresAt !== undefined && link.expiresAt <= now ? "expired" : "active";
}

const amount = (minor: Minor | undefined): number | null => (minor === undefined ? null : wireAmount(minor));

/** A link in the API. `url`: the address of the link's page. */
export function linkView({ link, payment, now }: LinkSnapshot, url: string): Record<string, unknown> {
  return {
    uuid: link.uuid,
    url,
    status: statusOf(link, payment, now),
    reusable: link.reusable,
    amount_minor: amount(link.amountMinor),
    minimum_minor: amount(link.minimumMinor),
    maximum_minor: amount(link.maximumMinor),
    currency: link.currency,
    exponent: exponentOf(link.currency),
    description: link.description ?? null,
    payment_methods: link.methods ?? null,
    customer_required: link.customerRequired,
    payment_expires_in: link.paymentExpiresIn,
    payment_reference: payment?.reference ?? null,
    environment: link.book.environment,
    return_url: link.returnUrl ?? null,
    metadata: link.metadata ?? {},
    created_at: wireTime(link.createdAt),
    expires_at: wireTimeOrNull(link.expiresAt),
    deactivated_at: wireTimeOrNull(link.deactivatedAt),
  };
}
