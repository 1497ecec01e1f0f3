// The JSON schemas of the payout calendar, and of the settlement batches of a day.
import { z } from "zod";
import { parseWireTime } from "../ground/clock.ts";
import {
  count,
  currencyCode,
  environmentField,
  exampleOf,
  exponentField,
  identity,
  listSchema,
  timestamp,
  wholeOrNull,
  withExample,
} from "../http/shapes.ts";
import { settlementSchema, settlementsQuerySchema } from "../settlements/settlements.schema.ts";
import { pageFieldsOf } from "./lists.ts";

/** Two months, and the days that complete their first and last weeks. */
export const CALENDAR_DAYS_MAX = 75;

const isDay = (text: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(text) && parseWireTime(text)?.wholeDay === true;
const day = (description: string, example: string) =>
  z
    .string()
    .refine(isDay, "is not a date YYYY-MM-DD of 1970 to 2199")
    .meta({ description, pattern: "^\\d{4}-\\d{2}-\\d{2}$", examples: [example] });

const environment = environmentField.default("production").meta({ description: "`production` when absent." });

export const calendarQuery = z.strictObject({
  environment,
  from: day("The first day; 30 days ago when absent.", "2026-10-24").optional(),
  to: day(`The last day, at most ${CALENDAR_DAYS_MAX} later; in 14 days when absent.`, "2026-12-07").optional(),
});

export const dayQuery = z.strictObject({
  environment,
  payout_date: day("The day, as merchants' calendars have it.", "2026-11-23"),
  status: settlementsQuerySchema.shape.status,
  currency: settlementsQuerySchema.shape.currency,
  ...pageFieldsOf("settlement", "uuid"),
});

const sumMinor = wholeOrNull(9_895_000, "Null beyond 2^53 - 1.");
const batchesSchema = z
  .strictObject({
    batches: count(1),
    net_minor: sumMinor,
  })
  .meta({ id: "CalendarBatches", description: "How many batches, and what they pay out together." });
const nothing = { batches: 0, net_minor: 0 };
const currencySchema = withExample(
  z.strictObject({
    currency: currencyCode,
    exponent: exponentField,
    paid: batchesSchema.meta({ description: "The bank paid them." }),
    processing: batchesSchema.meta({ description: "They wait for the bank. On a day before today they are overdue." }),
    failed: batchesSchema.meta({ description: "The bank returned them." }),
    to_come: z
      .strictObject({
        books: count(12, "Books whose next batch is paid out on this day."),
        available_minor: sumMinor.meta({
          description: "What is available in them now: at most so much will be paid, as things stand.",
        }),
      })
      .meta({ id: "CalendarToCome", description: "Batches that are not formed yet." }),
  }),
  {
    id: "CalendarCurrency",
  },
  {
    paid: nothing,
    processing: { batches: 3, net_minor: 9_895_000 },
    failed: nothing,
    to_come: { books: 12, available_minor: 214_000_000 },
  },
);
const calendarDaySchema = z
  .strictObject({
    day: z.iso.date().meta({ description: "As merchants' calendars have it.", examples: ["2026-11-23"] }),
    currencies: z.array(currencySchema),
  })
  .meta({ id: "CalendarDay", examples: [{ day: "2026-11-23", currencies: [exampleOf(currencySchema)] }] });

export const calendarSchema = withExample(
  z.strictObject({
    environment: environmentField,
    from: z.iso.date().meta({ examples: ["2026-10-24"] }),
    to: z.iso.date().meta({ examples: ["2026-12-07"] }),
    as_of: timestamp,
    days: z
      .array(calendarDaySchema)
      .meta({ description: "Days on which anything is or was paid out, in their order." }),
  }),
  {
    id: "SettlementCalendar",
  },
  { environment: "production" },
);

export const payoutSchema = withExample(
  settlementSchema.extend({
    merchant_id: identity("merchant"),
    merchant_name: z.string().meta({ examples: ["Toko Senja"] }),
    payout_date: z.iso.date().meta({ description: "The day on which it is due, and then on which it was made." }),
  }),
  { id: "Payout", description: "A batch with its merchant." },
  { status: "paid", payout_date: "2026-11-23" },
);
export const payoutListSchema = listSchema(payoutSchema, "PayoutList");
