// Which dispute of an acquirer is which dispute here.
import type { Micros } from "../ground/clock.ts";
import type { Book } from "../merchants/books.ts";

/** A dispute of an acquirer and what it is here. */
export interface DisputeLink {
  book: Book;
  gatewayCode: string;
  /** The acquirer's own name for it. */
  acquirerDisputeId: string;
  disputeId: string;
  paymentReference: string;
  /** When it was reported first, or a worker looks next whether there is evidence to hand on. */
  reportedAt: Micros;
  /** When the merchant's evidence reached the acquirer, or was refused there; undefined before. */
  evidenceEndedAt: Micros | undefined;
  /** How often it was tried to hand it on. */
  evidenceTries: number;
}
