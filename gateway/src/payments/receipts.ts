// What an operator decides about money that no payment awaited: it goes back to the payer, or to the merchant.
import { Fault } from "../ground/fault.ts";
import { type Posting, unappliedCreditPostings, unappliedReturnPostings } from "../ledger/journal.ts";
import { ledgerNeeds, post } from "../ledger/ledger.ts";
import { bookClocks, bookNow } from "../merchants/books.ts";
import type { Command } from "../store/lane.ts";
import { need } from "../store/working-set.ts";
import { type KeptReceipt, receipts } from "./receipts.sql.ts";

export type ReceiptDecision = "returned" | "credited";

/** Decides about one receipt. Answers it; throws OBJECT_NOT_FOUND, PAYMENT_NOT_PAYABLE (it is not unapplied any more). */
export function decideReceipt(receipt: KeptReceipt, decision: ReceiptDecision): Command<KeptReceipt> {
  const { book, uuid, gatewayCode, paymentReference } = receipt;
  return {
    name: "decide receipt",
    book,
    needs: [need(bookClocks, book), need(receipts, receipt), ...ledgerNeeds(book)],
    execute(set, realNow) {
      const now = bookNow(set, book, realNow);
      const current = set.get(receipts, receipt);
      if (!current) throw new Fault("OBJECT_NOT_FOUND");
      if (current.status !== "unapplied")
        throw new Fault("PAYMENT_NOT_PAYABLE", { details: { status: current.status } });
      const decided: KeptReceipt = { ...current, status: decision, decidedAt: now };
      set.update(receipts, decided);
      const postings: Posting[] =
        decision === "returned" ? unappliedReturnPostings(gatewayCode, current) : unappliedCreditPostings(current);
      const kind = `receipt_${decision}`;
      post(set, book, { groupId: paymentReference, kind, operationKey: `${kind}:${uuid}`, postings }, now);
      return decided;
    },
  };
}
