// Candidate payments for an unapplied receipt, from the same book, ranked by matching signs. The ranking is pure.
import { z } from "zod";
import type { KeptReceipt } from "../acquiring/receipt.ts";
import { wireTime } from "../ground/clock.ts";
import { exponentOf, wireAmount } from "../ground/money.ts";
import { currencyCode, exponentField, identity, timestamp, withExample } from "../http/shapes.ts";
import type { Payment } from "../payments/payment.ts";
import { paymentStatusSchema } from "../payments/payments.schema.ts";
import { paymentOfRow } from "../payments/payments.sql.ts";
import type { Database } from "../store/database.ts";
import { selectSameAmount } from "./receipt-candidates.sql.ts";
import { selectOthersOfPayer } from "./risk-seen.sql.ts";
import { referenceId, score } from "./shapes.ts";

const CANDIDATES_MAX = 10;

/** Signs that a receipt was meant for a payment, with their weights. */
const signs = {
  named: 45,
  same_payer: 30,
  same_amount: 25,
  awaits_money: 20,
  expired: 10,
} as const;
type Sign = keyof typeof signs;

export const candidateSchema = withExample(
  z.strictObject({
    reference: identity("payment"),
    reference_id: referenceId,
    status: paymentStatusSchema.shape.status,
    amount_minor: paymentStatusSchema.shape.amount_minor,
    currency: currencyCode,
    exponent: exponentField,
    created_at: timestamp,
    score,
    signs: z.array(z.enum(Object.keys(signs) as Sign[])).meta({
      description:
        "What speaks for it. named: the acquirer named it. same_payer, same_amount. awaits_money: it is pending. expired: it expired or was canceled.",
      examples: [["named", "expired"]],
    }),
  }),
  { id: "ReceiptCandidate", description: "A payment that the money may have been meant for." },
  { status: "expired" as const, score: 80, signs: ["named", "same_amount", "expired"] },
);
type Candidate = z.infer<typeof candidateSchema>;

/** Ranks the candidates by score, then newest first. Each payment appears once. */
export function rank(
  receipt: Pick<KeptReceipt, "paymentReference" | "amountMinor" | "currency">,
  named: Payment,
  { ofPayer, ofAmount }: { ofPayer: readonly Payment[]; ofAmount: readonly Payment[] },
): Candidate[] {
  const payers = new Set([named, ...ofPayer].map(({ reference }) => reference));
  const all = new Map([named, ...ofPayer, ...ofAmount].map((payment) => [payment.reference, payment]));
  const ranked = [...all.values()].map((payment): Candidate => {
    const { reference, status } = payment;
    const holds: Record<Sign, boolean> = {
      named: reference === receipt.paymentReference,
      same_payer: reference !== named.reference && payers.has(reference),
      same_amount: payment.amountMinor === receipt.amountMinor && payment.currency === receipt.currency,
      awaits_money: status === "pending" || status === "processing",
      expired: status === "expired" || status === "canceled",
    };
    const held = (Object.keys(signs) as Sign[]).filter((sign) => holds[sign]);
    return {
      reference,
      reference_id: payment.referenceId,
      status,
      amount_minor: wireAmount(payment.amountMinor),
      currency: payment.currency,
      exponent: exponentOf(payment.currency),
      created_at: wireTime(payment.createdAt),
      score: held.reduce((sum, sign) => sum + signs[sign], 0),
      signs: held,
    };
  });
  return ranked
    .toSorted((one, other) => other.score - one.score || (other.reference > one.reference ? 1 : -1))
    .slice(0, CANDIDATES_MAX);
}

/** Reads and ranks the candidates of a receipt. `named` is the payment that the acquirer named. */
export async function findCandidates(database: Database, receipt: KeptReceipt, named: Payment): Promise<Candidate[]> {
  const [ofPayer = [], ofAmount = []] = await database.pipeline([
    selectOthersOfPayer(named),
    selectSameAmount(receipt),
  ]);
  return rank(receipt, named, { ofPayer: ofPayer.map(paymentOfRow), ofAmount: ofAmount.map(paymentOfRow) });
}
