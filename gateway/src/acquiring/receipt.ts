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
  /** What the acquirer kept of it, where it said so. */
  feeMinor?: Minor | undefined;
  /** applied: it paid its payment. unapplied: nothing awaits it. returned, credited: what an operator decided then. */
  status: ReceiptStatus;
  receivedAt: Micros;
  decidedAt: Micros | undefined;
}
