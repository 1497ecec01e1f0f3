// Money that an acquirer says it received for a payment. One transaction of an acquirer counts once.
import type { Micros } from "../ground/clock.ts";
import type { Minor } from "../ground/money.ts";
import type { Book } from "../merchants/books.ts";

export const receiptStatuses = ["applied", "unapplied", "returned", "credited"] as const;
export type ReceiptStatus = (typeof receiptStatuses)[number];

export interface KeptReceipt {
  book: Book;
  uuid: string;
  gatewayCode: string;
  transactionId: string;
  paymentReference: string;
  amountMinor: Minor;
  currency: string;
  /** The fee that the acquirer kept; undefined when it reported none. */
  feeMinor?: Minor | undefined;
  /** applied: paid its payment. unapplied: no payment awaited the money. returned, credited: an operator's decision on unapplied money. */
  status: ReceiptStatus;
  receivedAt: Micros;
  decidedAt: Micros | undefined;
}
