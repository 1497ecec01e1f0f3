// The shapes of figures over time, of the home page, and of the stream of changes.
import { z } from "zod";
import { ownedSchema } from "../balances/owned.ts";
import { isCurrency } from "../ground/money.ts";
import { isTimeZone } from "../ground/time-zones.ts";
import { exampleIds, exampleTimes } from "../http/examples.ts";
import {
  count,
  currencyCode,
  environmentField,
  exponentField,
  identity,
  sumMinor,
  timestamp,
  withExample,
  exampleOf,
} from "../http/shapes.ts";
import { divisions } from "../insights/figures.sql.ts";
import { type Range, ranges } from "../insights/figures.ts";

const timeZone = z
  .string()
  .max(64)
  .refine(isTimeZone, "is not a name such as Asia/Jakarta")
  .optional()
  .meta({ description: "Whose days they are, by its IANA name; yours when absent.", examples: ["Asia/Jakarta"] });

export const overviewQuery = z.strictObject({ time_zone: timeZone });

export const seriesQuery = z.strictObject({
  range: z
    .enum(Object.keys(ranges) as [Range, ...Range[]])
    .default("week")
    .meta({
      description: "`day`: 24 hours, by the hour. `week`, `month`, `quarter`: 7, 30 and 91 days. All up to now.",
    }),
  by: z.enum(divisions).default("method").meta({ description: "What payments are told apart by." }),
  currency: currencyCode.refine(isCurrency, "is not a currency of ISO 4217").default("IDR"),
  time_zone: timeZone,
});

const counts = {
  payments: count(12, "Payments that came to their end."),
  succeeded: count(9, "Those that succeeded."),
  amount_minor: sumMinor(135_000_000, "What those came to."),
};

const countedAt = timestamp.nullable().meta({
  description:
    "Up to when payments are counted, by the real time: a second ago or so. Null while they are counted for the first time.",
  examples: [exampleTimes.paid],
});

const pointSchema = withExample(z.strictObject(counts), { id: "CountPoint" });
const seriesSchema = withExample(
  z.strictObject({
    key: z.string().meta({
      description: "The method, acquirer or outcome; an empty acquirer: none was chosen.",
      examples: ["qris"],
    }),
    total: pointSchema,
    points: z.array(pointSchema).meta({ description: "One for each span." }),
  }),
  { id: "CountSeries" },
);

export const paymentsSeriesSchema = withExample(
  z.strictObject({
    environment: environmentField,
    currency: currencyCode,
    exponent: exponentField,
    step: z.enum(["hour", "day"]).meta({ description: "How long a span is." }),
    at: z.array(timestamp).meta({ description: "When each span begins, oldest first. The last one still runs." }),
    data: z.array(seriesSchema).meta({ description: "The largest first." }),
    counted_at: countedAt,
  }),
  {
    id: "PaymentsOverTime",
  },
  { step: "day", at: [exampleTimes.dayBegins], counted_at: exampleTimes.paid },
);

const outcomes = z.record(z.string(), z.int().min(0)).meta({
  description:
    "How payments ended. `succeeded`; `rejected`: refused for their risk; `failed`: the acquirer could not take them, or declined; " +
    "`expired`: nobody paid in time; `canceled`: by you.",
  examples: [{ succeeded: 9, expired: 3 }],
});
const periodSchema = withExample(
  z.strictObject({ ...counts, fee_minor: sumMinor(945_000, "What the service cost you for them."), outcomes }),
  { id: "PeriodFigures" },
);

const currencySchema = withExample(
  z.strictObject({
    currency: currencyCode,
    exponent: exponentField,
    today: periodSchema,
    yesterday: periodSchema,
    week: periodSchema.meta({ description: "The last seven days with today." }),
    balance: ownedSchema.nullable().meta({ description: "Null where your role does not see balances." }),
  }),
  { id: "CurrencyFigures" },
  { balance: exampleOf(ownedSchema) },
);

const payoutsSchema = withExample(
  z.strictObject({
    next_run_at: timestamp.nullable().meta({
      description: "When the next batch is formed; null while nothing waits for one.",
      examples: [exampleTimes.dayEnds],
    }),
    next_payout_date: z.iso
      .date()
      .nullable()
      .meta({ description: "The day on which that batch is paid out.", examples: ["2026-11-23"] }),
    next: z
      .array(
        withExample(
          z.strictObject({
            currency: currencyCode,
            exponent: exponentField,
            payments: count(12, "Payments in it so far."),
            amount_minor: z.int().meta({ description: "What it pays out so far.", examples: [8_950_000] }),
            is_least: z
              .boolean()
              .meta({ description: "True when more waits than was looked at: then it is the least." }),
          }),
          { id: "NextPayout" },
          { is_least: false },
        ),
      )
      .meta({ description: "What that batch takes of each currency as things stand; what comes until then is added." }),
    batches: z
      .array(
        withExample(
          z.strictObject({
            uuid: identity("settlement"),
            currency: currencyCode,
            exponent: exponentField,
            amount_minor: z.int().meta({ description: "What is paid out.", examples: [9_895_000] }),
            payout_date: z.iso.date().meta({ examples: ["2026-11-23"] }),
            is_late: z.boolean().meta({
              description: "True when that day is over, as when the wallet is frozen or the bank has not answered.",
            }),
          }),
          { id: "UnpaidBatch" },
          { is_late: false },
        ),
      )
      .meta({ description: "Formed and not paid yet, the next one first; five at most." }),
    has_more: z.boolean().meta({ description: "True when there are more than these." }),
  }),
  { id: "Payouts" },
  { has_more: false },
);

const waitingCount = {
  count: count(1, "How many; beyond 1,000 they are not counted."),
  has_more: z.boolean().meta({ description: "True when there are more than were counted." }),
};

const none = { count: 0, has_more: false };
const waitingSchema = withExample(
  z.strictObject({
    disputes: z
      .strictObject({
        ...waitingCount,
        next: z
          .array(
            z
              .strictObject({
                uuid: identity("dispute"),
                payment_reference: identity("payment"),
                reason: z.string().meta({ examples: ["product_not_received"] }),
                amount_minor: z.int().meta({ examples: [5_000_000] }),
                currency: currencyCode,
                exponent: exponentField,
                evidence_due_at: timestamp,
              })
              .meta({ id: "UnansweredDispute" }),
          )
          .meta({ description: "The most urgent first; five at most." }),
      })
      .nullable()
      .meta({ description: "Disputes that wait for your answer. Null where your role does not see them." }),
    undelivered: z.strictObject(waitingCount).nullable().meta({
      description: "Events that were given up after every attempt. Null where your role does not see events.",
    }),
    retrying: z
      .strictObject(waitingCount)
      .nullable()
      .meta({ description: "Events that your endpoint did not accept yet, and that are tried again." }),
    endpoint: z.enum(["missing", "failing", "well"]).nullable().meta({
      description: "`missing`: no address is registered. `failing`: events are tried again or were given up.",
    }),
  }),
  { id: "Waiting" },
  { disputes: { ...none, next: [] }, undelivered: none, retrying: none, endpoint: "well" },
);

export const overviewSchema = withExample(
  z.strictObject({
    environment: environmentField,
    as_of: timestamp.meta({ description: "Now, by the clock of the environment." }),
    counted_at: countedAt,
    currencies: z.array(currencySchema),
    payouts: payoutsSchema.nullable().meta({ description: "Null where your role does not see settlements." }),
    waiting: waitingSchema,
  }),
  { id: "Overview" },
  { as_of: exampleTimes.paid, payouts: exampleOf(payoutsSchema) },
);

export const streamSchema = z.string().meta({
  id: "ChangeStream",
  description:
    "Server-sent events: the type of what happened, how often, and the identities of some of the objects. The last one of a turn has an id: " +
    "send it as Last-Event-ID to go on from there. `begin` and `reset` say that everything is to be asked for again.",
  examples: [`id: 84213\nevent: payment.succeeded\ndata: {"count":1,"ids":["${exampleIds.payment}"]}\n\n`],
});
