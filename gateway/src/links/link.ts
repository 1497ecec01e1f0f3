// A payment link as the house knows it, how it stands, and how it is shown.
import { type Micros, wireTime } from "../ground/clock.ts";
import { type Minor, exponentOf, wireAmount } from "../ground/money.ts";
import type { Book } from "../merchants/books.ts";
import type { PaymentMethod } from "../merchants/settings.ts";
import { type PaymentStatus, isPaid } from "../payments/states.ts";

export const linkStatuses = ["active", "paid", "expired", "deactivated"] as const;
export type LinkStatus = (typeof linkStatuses)[number];

export interface Link {
  book: Book;
  uuid: string;
  /** 16 random bytes: the end of its address. */
  token: Buffer;
  reusable: boolean;
  currency: string;
  /** Undefined where the payer says how much, within the bounds that are given. */
  amountMinor: Minor | undefined;
  minimumMinor: Minor | undefined;
  maximumMinor: Minor | undefined;
  description: string | undefined;
  /** Undefined: every method that is active when it is paid. */
  methods: readonly PaymentMethod[] | undefined;
  /** The payer gives a name and an e-mail address. */
  customerRequired: boolean;
  /** Seconds in which each of its payments can be paid. */
  paymentExpiresIn: number;
  returnUrl: string | undefined;
  metadata: Record<string, string> | undefined;
  createdAt: Micros;
  /** Undefined: never. */
  expiresAt: Micros | undefined;
  deactivatedAt: Micros | undefined;
}

/** The one payment of a link that is not reusable, while it is open or once it is paid. */
export interface LinkPayment {
  reference: string;
  status: PaymentStatus;
  expiresAt: Micros;
}

/** A link with the payment that holds it, at a time of its book. */
export interface LinkStanding {
  link: Link;
  payment: LinkPayment | undefined;
  now: Micros;
}

/** How a link stands at a time of its book. What is paid stays paid, whatever happened to the link since. */
export function statusOf(link: Link, payment: LinkPayment | undefined, now: Micros): LinkStatus {
  if (payment && isPaid(payment.status)) return "paid";
  if (link.deactivatedAt !== undefined) return "deactivated";
  return link.expiresAt !== undefined && link.expiresAt <= now ? "expired" : "active";
}

const amount = (minor: Minor | undefined): number | null => (minor === undefined ? null : wireAmount(minor));
const time = (micros: Micros | undefined): string | null => (micros === undefined ? null : wireTime(micros));

/** A link as merchants see it. `url`: where it is paid. */
export function linkView({ link, payment, now }: LinkStanding, url: string): Record<string, unknown> {
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
    expires_at: time(link.expiresAt),
    deactivated_at: time(link.deactivatedAt),
  };
}
