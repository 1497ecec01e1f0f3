// Creations of payments for pure tests: request bodies, and counts of earlier payments of a merchant and its customers.
import type { BookOwner } from "../src/commands/command-context.ts";
import type { LinkMark } from "../src/payments/payment.ts";
import type { CreatePayment } from "../src/payments/payments.schema.ts";
import { type Created, type PaymentParts, createPayment } from "../src/payments/payments.ts";
import type { Customer } from "../src/risk/risk.ts";
import { customerVelocity, merchantVelocity } from "../src/risk/velocity.sql.ts";
import type { Command } from "../src/store/command.ts";
import { type GivenRow, NOW, ownerWith, row } from "./given.ts";
import { payers } from "./payers.ts";
import { aRouter } from "./routing.ts";

/** The body of a payment of 1,000,000 minor units by QRIS, of a customer without signs of fraud, with the given changes. */
export function aCreation(changes: Partial<CreatePayment> = {}): CreatePayment {
  return {
    amount_minor: 1_000_000,
    currency: "IDR",
    payment_method: "qris",
    reference_id: "order-1",
    customer: { email: "sari@pelanggan.id" },
    ...changes,
  };
}

export function creating(
  changes: Partial<CreatePayment> = {},
  { owner = ownerWith(), router = aRouter(), link }: { owner?: BookOwner; router?: PaymentParts; link?: LinkMark } = {},
): Command<Created> {
  const body = aCreation(changes);
  const payer = payers.seal({ book: owner.book, referenceId: body.reference_id }, body.customer);
  const request = { idempotencyKey: "key-of-creation", realNow: NOW, payer, link };
  return createPayment(router, owner, body, request);
}

/** Rows that count payments: the merchant's of the last minute, and those of each of these customers of the last hour. */
export function earlier(
  { book, merchant }: BookOwner,
  merchantPayments: number,
  customers: readonly [Customer, payments: number][] = [],
): GivenRow[] {
  const { merchant_per_minute, customer_per_hour } = merchant.settings.risk;
  const ofMerchant = { book, contactKey: null, realSince: 0, most: merchant_per_minute };
  return [
    row(merchantVelocity, { key: ofMerchant, count: merchantPayments }),
    ...customers.flatMap(([customer, count]) => {
      const { customerKey, phoneKey } = payers.seal({ book, referenceId: "earlier" }, customer);
      return [customerKey, phoneKey]
        .filter((contactKey) => contactKey !== null)
        .map((contactKey) =>
          row(customerVelocity, { key: { book, contactKey, realSince: 0, most: customer_per_hour }, count }),
        );
    }),
  ];
}
