// The shapes of disputes in the API.
import { z } from "zod";
import { disputeReasons } from "../acquirers/acquirer.ts";
import { exampleTimes } from "../http/examples.ts";
import {
  checkedIdentity,
  currencyCode,
  environmentField,
  exampleOf,
  exponentField,
  identity,
  inPath,
  limitQuery,
  listSchema,
  rangeBound,
  startingAfter,
  timestamp,
  withExample,
} from "../http/shapes.ts";
import { disputeStatuses } from "../payments/payment.ts";
import { amountMinor, batchIdentity, orderIdentity } from "../payments/payments.schema.ts";
import { outcomes } from "./dispute.ts";

const disputeStatus = z.enum(disputeStatuses).meta({
  id: "DisputeStatus",
  description:
    "`needs_response`: evidence is awaited. `under_review`: it is looked at. `won` and `withdrawn`: the held funds are released. `lost`: they " +
    "are gone.",
});
const disputeReason = z
  .enum(disputeReasons)
  .meta({ id: "DisputeReason", description: "Why the payer contests the payment." });
const disputeOutcome = z.enum(outcomes).meta({ id: "DisputeOutcome", description: "How it was decided." });

/** A dispute, also as the data of dispute events. */
export const disputeSchema = withExample(
  z.strictObject({
    uuid: identity("dispute"),
    environment: environmentField,
    payment_reference: identity("payment").meta({ description: "The payment that is contested." }),
    reference_id: orderIdentity,
    status: disputeStatus,
    reason: disputeReason,
    amount_minor: amountMinor.meta({ description: "What is contested and held, in minor units." }),
    currency: currencyCode,
    exponent: exponentField,
    evidence_due_at: timestamp.meta({ examples: [exampleTimes.evidenceDue] }),
    opened_at: timestamp.meta({ examples: [exampleTimes.disputed] }),
    resolved_at: timestamp.nullable().meta({ description: "Null while it runs." }),
    outcome: disputeOutcome.nullable().meta({ description: "Null while it runs." }),
    settlement_uuid: batchIdentity,
  }),
  { id: "Dispute", description: "A payment that its payer contests. While it runs the contested amount is held." },
  { amount_minor: 10_000_000 },
);

export const disputeListSchema = listSchema(disputeSchema, "DisputeList");

export const disputesQuerySchema = z.strictObject({
  status: disputeStatus.optional().meta({ description: "Only disputes of this status." }),
  payment_reference: checkedIdentity("payment", "is not the reference of a payment")
    .optional()
    .meta({ description: "Only disputes about this payment." }),
  opened_from: rangeBound("YYYY-MM-DD in UTC or a timestamp; inclusive."),
  opened_to: rangeBound("YYYY-MM-DD (the whole day, in UTC) or a timestamp; inclusive."),
  limit: limitQuery,
  starting_after: startingAfter("dispute", "is not the uuid of a dispute", "`uuid` of the last dispute received."),
});

export const openDisputeSchema = z
  .strictObject({
    reason: disputeReason,
    amount_minor: amountMinor.optional().meta({ description: "Minor units; all that was not refunded when absent." }),
  })
  .meta({ id: "OpenDispute", examples: [{ reason: "product_not_received", amount_minor: 10_000_000 }] });

/** Why a dispute cannot be opened. */
export const openDisputeErrors = ["PAYMENT_NOT_FOUND", "PAYMENT_NOT_REFUNDABLE", "INVALID_AMOUNT"] as const;

export const resolveDisputeSchema = withExample(z.strictObject({ outcome: disputeOutcome }), { id: "ResolveDispute" });

/** The dispute of the example after the decision of `resolveDisputeSchema`'s. */
export const resolvedExamples = {
  won: {
    summary: "Decided for you",
    value: { ...exampleOf(disputeSchema), status: "won", resolved_at: exampleTimes.resolved, outcome: "won" },
  },
};

export const disputeParams = { uuid: inPath("dispute", "DisputeUuid", "`uuid` of the dispute.") };
