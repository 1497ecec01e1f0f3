// The link between an acquirer's dispute and the dispute here.
import type { Micros } from "../ground/clock.ts";
import type { Book } from "../merchants/books.ts";

export interface DisputeLink {
  book: Book;
  gatewayCode: string;
  acquirerDisputeId: string;
  disputeId: string;
  paymentReference: string;
  /** When the dispute was first reported; later, when a worker next checks whether there is evidence to submit. */
  reportedAt: Micros;
  /** When the acquirer took or refused the merchant's evidence; undefined before. */
  evidenceEndedAt: Micros | undefined;
  /** How often a worker has claimed the dispute to submit its evidence. */
  evidenceTries: number;
}
