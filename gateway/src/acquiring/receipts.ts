// What operators say of received money: which transaction it is, and whether what no payment awaited goes back to the payer or to the merchant.
import { bookCommand } from "../commands/command-context.ts";
import { Fault, validationFault } from "../ground/fault.ts";
import { type Posting, unappliedCreditPostings, unappliedReturnPostings } from "../ledger/journal.ts";
import { ledgerNeeds } from "../ledger/ledger.ts";
import type { Merchant } from "../merchants/directory.ts";
import type { Payment } from "../payments/payment.ts";
import { isPaid } from "../payments/states.ts";
import type { Command } from "../store/command.ts";
import { need } from "../store/working-set.ts";
import type { KeptReceipt } from "./receipt.ts";
import { receipts } from "./receipts.sql.ts";

export type ReceiptDecision = "returned" | "credited";

/** Throws VALIDATION_ERROR for a transaction that cannot be the payment's. `kept`: its receipt, if any. One that is over may have its own, or a new one. */
export function refuseOther({ reference, status }: Payment, kept: KeptReceipt | undefined, id: string): void {
  const isOwn = kept?.paymentReference === reference && status !== "processing";
  const other = kept ? "This transaction was reported before." : "Another transaction has paid it.";
  if (!isOwn && (kept || isPaid(status))) throw validationFault("transaction_id", id, other);
}

/** Applies the decision and gives the receipt. Throws OBJECT_NOT_FOUND, PAYMENT_NOT_PAYABLE (the receipt is no longer unapplied). */
export function decideReceipt(merchant: Merchant, kept: KeptReceipt, decision: ReceiptDecision): Command<KeptReceipt> {
  const { book, uuid, gatewayCode, paymentReference } = kept;
  const owner = { merchant, book };
  return bookCommand(owner, {
    name: "decide receipt",
    needs: [need(receipts, kept), ...ledgerNeeds(book)],
    execute({ set, now, post }) {
      const current = set.get(receipts, kept);
      if (!current) throw new Fault("OBJECT_NOT_FOUND");
      if (current.status !== "unapplied")
        throw new Fault("PAYMENT_NOT_PAYABLE", { details: { status: current.status } });
      const decided: KeptReceipt = { ...current, status: decision, decidedAt: now };
      set.update(receipts, decided);
      const postings: Posting[] =
        decision === "returned" ? unappliedReturnPostings(gatewayCode, current) : unappliedCreditPostings(current);
      const kind = `receipt_${decision}`;
      post({ groupId: paymentReference, kind, operationKey: `${kind}:${uuid}`, postings });
      return decided;
    },
  });
}
