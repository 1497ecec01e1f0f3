// Money that an acquirer says it received for a payment. One transaction of an acquirer counts once.
import type { Receipt } from "../acquirers/acquirer.ts";
import type { Micros } from "../ground/clock.ts";
import type { Book } from "../merchants/books.ts";

export const receiptStatuses = ["applied", "unapplied", "returned", "credited"] as const;
export type ReceiptStatus = (typeof receiptStatuses)[number];

export interface KeptReceipt extends Receipt {
  book: Book;
  uuid: string;
  gatewayCode: string;
  paymentReference: string;
  /** applied: paid its payment. unapplied: no payment awaited the money. returned, credited: an operator's decision on unapplied money. */
  status: ReceiptStatus;
  receivedAt: Micros;
  decidedAt: Micros | undefined;
}
