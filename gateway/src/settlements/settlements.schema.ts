// The shapes of settlement batches in the API.
import { z } from "zod";
import { wholeFrom } from "../ground/whole.ts";
import { exampleIds, exampleTimes } from "../http/examples.ts";
import {
  currencyCode,
  environmentField,
  exampleOf,
  exponentField,
  identity,
  inPath,
  limitQuery,
  listSchema,
  minorAmount,
  rangeBound,
  startingAfter,
  textOrNull,
  timestamp,
  withExample,
} from "../http/shapes.ts";
import { settlementStatuses, statementColumns } from "./settlement.ts";

const examplePayment = `${exampleIds.payment},order-1042,qris,nusantara,${exampleTimes.created},${exampleTimes.paid}`;
const exampleStatement = [
  statementColumns.map(([name]) => name).join(","),
  `payment,${exampleIds.payment},${examplePayment},${exampleTimes.paid},IDR,15000000,105000,0,0,14895000,148950.00`,
  `refund,${exampleIds.refund},${examplePayment},${exampleTimes.refunded},IDR,0,0,5000000,0,-5000000,-50000.00`,
  `dispute,dsp_01kafw3n8t2x6qy9zm4b7e5vch,pay_01ka6r2h5w9c3tn7xq8zb4m6ye,order-0977,card,merapi,2026-11-16T02:40:00Z,` +
    "2026-11-16T02:44:09Z,2026-11-22T09:12:30Z,IDR,0,0,0,1000000,-1000000,-10000.00",
  `total,${exampleIds.settlement},,,,,,,${exampleTimes.dayEnds},IDR,15000000,105000,5000000,1000000,8895000,88950.00`,
  "",
].join("\r\n");

const settlementStatus = z.enum(settlementStatuses).meta({
  id: "SettlementStatus",
  description:
    "`processing`: formed, awaits the bank. `failed`: the bank returned it, and its funds wait for another batch.",
});

/** A batch, also as the data of settlement events. */
export const settlementSchema = withExample(
  z.strictObject({
    uuid: identity("settlement"),
    environment: environmentField,
    status: settlementStatus,
    currency: currencyCode,
    exponent: exponentField,
    period_start: timestamp.meta({
      description: "When the oldest item in it happened.",
      examples: [exampleTimes.paid],
    }),
    period_end: timestamp.meta({
      description: "Everything in it happened before this moment, though perhaps within the same second.",
      examples: [exampleTimes.dayEnds],
    }),
    gross_minor: minorAmount("Payments and credited receipts.", 15_000_000),
    fee_minor: minorAmount("Fees.", 105_000),
    refund_minor: minorAmount(
      "Refunds and lost disputes: the `refund_minor` and `dispute_minor` of the statement together.",
      6_000_000,
    ),
    net_minor: minorAmount("What is paid out: gross less fees and refunds.", 8_895_000),
    payment_count: wholeFrom(0).meta({ description: "Payments in it.", examples: [1] }),
    paid_at: timestamp.nullable().meta({ description: "Null until it is paid.", examples: [exampleTimes.payout] }),
    bank_reference: textOrNull("TRF20261122001", "The bank's reference of the transfer; null until it is paid."),
  }),
  { id: "Settlement", description: "A batch of payments that is paid out as one transfer." },
  { status: "paid" },
);

export const settlementListSchema = listSchema(settlementSchema, "SettlementList");

export const formedSettlementsSchema = z.strictObject({ data: z.array(settlementSchema) }).meta({
  id: "FormedSettlements",
  description: "What was formed just now. A minimum payout and a frozen wallet hold batches back here too.",
  examples: [{ data: [{ ...exampleOf(settlementSchema), status: "processing", paid_at: null, bank_reference: null }] }],
});

export const settlementsQuerySchema = z.strictObject({
  status: settlementStatus.optional().meta({ description: "Only batches of this status." }),
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/, "must be a currency code")
    .optional()
    .meta({ description: "Only batches in this currency.", examples: ["IDR"] }),
  date_from: rangeBound("YYYY-MM-DD in UTC or a timestamp; compares `period_end`, inclusive."),
  date_to: rangeBound("YYYY-MM-DD (the whole day, in UTC) or a timestamp; compares `period_end`, inclusive."),
  limit: limitQuery,
  starting_after: startingAfter("settlement", "is not the uuid of a settlement", "`uuid` of the last batch received."),
});
export type SettlementsQuery = z.infer<typeof settlementsQuerySchema>;

/** The statement of a batch as CSV; `statementOf` writes it. */
export const statementSchema = z.string().meta({ id: "Statement", description: "CSV.", examples: [exampleStatement] });
export const statementFile = {
  description: "Comma-separated values, the names of the columns first.",
  schema: statementSchema,
  mediaType: "text/csv",
};

export const settlementParams = { uuid: inPath("settlement", "SettlementUuid", "`uuid` of the batch.") };
