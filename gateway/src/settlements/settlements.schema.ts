// The shapes of settlement batches in the API.
import { z } from "zod";
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
  timestamp,
} from "../http/shapes.ts";
import { settlementStatuses, statementHead } from "./settlement.ts";

const exampleStatement = [
  statementHead.join(","),
  `payment,${exampleIds.payment},${exampleIds.payment},order-1042,qris,nusantara,${exampleTimes.created},${exampleTimes.paid},` +
    `${exampleTimes.paid},IDR,15000000,105000,0,0,14895000,148950.00`,
  "",
].join("\r\n");

const settlementStatus = z.enum(settlementStatuses).meta({
  id: "SettlementStatus",
  description:
    "`processing`: formed, awaits the bank. `failed`: the bank returned it, and its funds wait for another batch.",
});

/** A batch, also as the data of settlement events. */
export const settlementSchema = z
  .strictObject({
    uuid: identity("settlement"),
    environment: environmentField,
    status: settlementStatus,
    currency: currencyCode,
    exponent: exponentField,
    period_start: timestamp.meta({
      description: "When the oldest item in it happened.",
      examples: [exampleTimes.dayBegins],
    }),
    period_end: timestamp.meta({
      description: "The moment before which everything in it happened.",
      examples: [exampleTimes.dayEnds],
    }),
    gross_minor: minorAmount("Payments and credited receipts.", 15_000_000),
    fee_minor: minorAmount("Fees.", 105_000),
    refund_minor: minorAmount("Refunds and lost disputes.", 5_000_000),
    net_minor: minorAmount("What is paid out: gross less fees and refunds.", 9_895_000),
    payment_count: z
      .int()
      .min(0)
      .meta({ description: "Payments in it.", examples: [1] }),
    paid_at: timestamp.nullable().meta({ description: "Null until it is paid.", examples: [exampleTimes.payout] }),
    bank_reference: z
      .string()
      .nullable()
      .meta({
        description: "The bank's reference of the transfer; null until it is paid.",
        examples: ["TRF20261122001"],
      }),
  })
  .meta({
    id: "Settlement",
    description: "A batch of payments that is paid out as one transfer.",
    examples: [
      {
        uuid: exampleIds.settlement,
        environment: "sandbox",
        status: "paid",
        currency: "IDR",
        exponent: 2,
        period_start: exampleTimes.dayBegins,
        period_end: exampleTimes.dayEnds,
        gross_minor: 15_000_000,
        fee_minor: 105_000,
        refund_minor: 5_000_000,
        net_minor: 9_895_000,
        payment_count: 1,
        paid_at: exampleTimes.payout,
        bank_reference: "TRF20261122001",
      },
    ],
  });

export const settlementListSchema = listSchema(settlementSchema, "SettlementList");

export const formedSettlementsSchema = z.strictObject({ data: z.array(settlementSchema) }).meta({
  id: "FormedSettlements",
  description: "The batches that were formed just now; none when nothing waits.",
  examples: [{ data: [{ ...exampleOf(settlementSchema), status: "processing", paid_at: null, bank_reference: null }] }],
});

export const settlementsQuerySchema = z.strictObject({
  status: settlementStatus.optional().meta({ description: "Only batches of this status." }),
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/, "must be a currency code")
    .optional()
    .meta({ description: "Only batches in this currency.", examples: ["IDR"] }),
  date_from: rangeBound("YYYY-MM-DD or a timestamp; compares `period_end`, inclusive."),
  date_to: rangeBound("YYYY-MM-DD (the whole day) or a timestamp; compares `period_end`, inclusive."),
  limit: limitQuery,
  starting_after: startingAfter("settlement", "is not the uuid of a settlement", "`uuid` of the last batch received."),
});
export type SettlementsQuery = z.infer<typeof settlementsQuerySchema>;

/** The statement of a batch as CSV; `statementOf` writes it. */
export const statementSchema = z.string().meta({ id: "Statement", description: "CSV.", examples: [exampleStatement] });

/** Path parameter of a batch. */
export const settlementParams = { uuid: inPath("settlement", "SettlementUuid", "`uuid` of the batch.") };
