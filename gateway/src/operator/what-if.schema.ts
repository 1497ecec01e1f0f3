// The JSON schemas of what-ifs: success and cost before and after, in total, by method, by acquirer and by day.
import { z } from "zod";
import { wholeBetween } from "../ground/whole.ts";
import { type Minor, exponentOf, wireMinor } from "../ground/money.ts";
import { exampleIds } from "../http/examples.ts";
import {
  checkedIdentity,
  currencyCode,
  environmentField,
  exponentField,
  identity,
  textOrNull,
  withExample,
  exampleOf,
} from "../http/shapes.ts";
import { paymentMethodSchema } from "../merchants/settings.ts";
import { type Estimate, OBSERVATIONS_MIN, type Outcome, type WhatIf, sumOf } from "../routing/what-if.ts";
import type { WhatIfAnswer, WhatIfQuestion } from "../routing/what-ifs.ts";
import { exactMinor } from "./shapes.ts";

const count = z.int().min(0);
const rate = z
  .number()
  .min(0)
  .max(1)
  .nullable()
  .meta({ description: "From 0 to 1; null where there is nothing to say it of.", examples: [0.9312] });
const code = textOrNull("cendana", "Null: no acquirer would be asked.");

const costSchema = withExample(
  z.strictObject({
    currency: currencyCode,
    exponent: exponentField,
    paid_minor: exactMinor.meta({ description: "Amounts of paid payments whose cost is known." }),
    cost_minor: exactMinor.meta({ description: "What acquirers charge for these." }),
    unknown: z.number().min(0).meta({ description: "Paid payments whose cost nobody knows." }),
  }),
  { id: "WhatIfCost", description: "What paid payments cost in one currency." },
  { paid_minor: 930_000_000, cost_minor: 3_720_000, unknown: 0 },
);
const outcomeSchema = withExample(
  z.strictObject({
    payments: count,
    open: count.meta({ description: "Not ended yet, or canceled by their merchant: not among the attempts." }),
    attempts: count,
    unknown: count.meta({ description: "Attempts of which nothing can be estimated." }),
    succeeded: z
      .number()
      .min(0)
      .meta({ description: "Of the attempts that are not unknown; estimates are fractions." }),
    success_rate: rate.meta({ description: "Among the attempts that are not unknown." }),
    success_rate_least: rate.meta({ description: "Should all unknown ones fail." }),
    success_rate_most: rate.meta({ description: "Should all unknown ones succeed." }),
    costs: z.array(costSchema),
  }),
  { id: "WhatIfOutcome", description: "What became of payments, or would have." },
  {
    payments: 1_000,
    open: 0,
    attempts: 1_000,
    unknown: 0,
    succeeded: 930,
    success_rate: 0.93,
    success_rate_least: 0.93,
    success_rate_most: 0.93,
  },
);
const sides = { before: outcomeSchema, after: outcomeSchema };
const exampleSides = {
  before: exampleOf(outcomeSchema),
  after: {
    ...exampleOf(outcomeSchema),
    succeeded: 945.2,
    success_rate: 0.9452,
    success_rate_least: 0.9452,
    success_rate_most: 0.9452,
  },
};

const methodSchema = withExample(
  z.strictObject({ payment_method: paymentMethodSchema, ...sides }),
  { id: "WhatIfMethod" },
  exampleSides,
);
const acquirerSchema = z
  .strictObject({ gateway_code: code, ...sides })
  .meta({ id: "WhatIfAcquirer", examples: [{ gateway_code: "nusantara", ...exampleSides }] });
const cellSchema = z.strictObject({ payment_method: paymentMethodSchema, gateway_code: code, ...sides }).meta({
  id: "WhatIfCell",
  examples: [{ payment_method: "qris" as const, gateway_code: "nusantara", ...exampleSides }],
});
const moveSchema = z.strictObject({ payment_method: paymentMethodSchema, from: code, to: code, ...sides }).meta({
  id: "WhatIfMove",
  description: "Payments that would go elsewhere: what became of them, and what is expected there.",
  examples: [{ payment_method: "qris" as const, from: "nusantara", to: "cendana", ...exampleSides }],
});
const daySchema = z
  .strictObject({ date: z.string().meta({ format: "date", examples: ["2026-11-22"] }), moved: count, ...sides })
  .meta({ id: "WhatIfDay", examples: [{ date: "2026-11-22", moved: 400, ...exampleSides }] });
const estimateSchema = withExample(
  z.strictObject({
    gateway_code: z.string(),
    payment_method: paymentMethodSchema,
    currency: currencyCode,
    amount_from_minor: count.nullable().meta({ description: "The band of amounts; null: all amounts." }),
    amount_to_minor: count.nullable(),
    observations: count.meta({ description: "Attempts of these days that this acquirer was asked first for." }),
    succeeded: count,
    success_rate: rate,
    low: rate.meta({ description: "Of its 95 % interval (Wilson)." }),
    high: rate,
    attempts: count.meta({ description: "Attempts that would move there." }),
    known: z
      .boolean()
      .meta({ description: `False with fewer than ${OBSERVATIONS_MIN} observations: their outcome is unknown.` }),
  }),
  { id: "WhatIfEstimate", description: "By what moved payments are judged." },
  {
    gateway_code: "cendana",
    observations: 812,
    succeeded: 771,
    success_rate: 0.9495,
    low: 0.9322,
    high: 0.9626,
    attempts: 400,
    known: true,
  },
);

export const whatIfSchema = withExample(
  z.strictObject({
    environment: environmentField,
    merchant_id: identity("merchant").nullable(),
    days: z.int(),
    rules_version: z.int().meta({ description: "The version that decides today." }),
    payments: count.meta({ description: "Payments that were routed again, newest first." }),
    moved: count.meta({ description: "Those that would have gone to another acquirer." }),
    ended: z.enum(["all", "limit", "time"]).meta({
      description:
        "`all`: every payment of these days was taken. `limit`: as many as it takes. `time`: as long as it may.",
    }),
    total: z.strictObject(sides).meta({ id: "WhatIfTotal", examples: [exampleSides] }),
    by_method: z.array(methodSchema),
    by_acquirer: z.array(acquirerSchema),
    cells: z.array(cellSchema).meta({ description: "By method and acquirer." }),
    moves: z.array(moveSchema).meta({ description: "The most payments first." }),
    per_day: z.array(daySchema).meta({ description: "By the day on which they were made, UTC." }),
    estimates: z.array(estimateSchema),
  }),
  {
    id: "RoutingWhatIf",
    description:
      "`before` is what happened. `after` is the same for payments that would not move; of those that would, it is estimated by what the acquirer did with others like them.",
  },
  { days: 7, rules_version: 3, payments: 1_000, moved: 400 },
);

export const whatIfFields = {
  days: wholeBetween(1, 90).meta({ description: "So many days back from now.", examples: [7] }),
  environment: environmentField.optional().meta({ description: "`sandbox` when absent." }),
  merchant_id: checkedIdentity("merchant", "is not the identity of a merchant")
    .optional()
    .meta({ description: "Only this merchant's payments.", examples: [exampleIds.merchant] }),
};

export function whatIfView(
  question: WhatIfQuestion,
  { whatIf, version, ended }: WhatIfAnswer,
): z.infer<typeof whatIfSchema> {
  const { cells, moves, days, estimates } = whatIf;
  return {
    environment: question.environment,
    merchant_id: question.merchantId ?? null,
    days: question.days,
    rules_version: version,
    payments: whatIf.payments,
    moved: whatIf.moved,
    ended,
    total: sumView(cells),
    by_method: [...Map.groupBy(cells, ({ method }) => method)].map(([method, own]) => ({
      payment_method: method,
      ...sumView(own),
    })),
    by_acquirer: [...Map.groupBy(cells, (cell) => cell.code)]
      .toSorted(([one = "~"], [other = "~"]) => (one < other ? -1 : 1))
      .map(([one, own]) => ({ gateway_code: one ?? null, ...sumView(own) })),
    cells: cells.map((cell) => ({ payment_method: cell.method, gateway_code: cell.code ?? null, ...sumView([cell]) })),
    moves: moves.map((move) => ({
      payment_method: move.method,
      from: move.from ?? null,
      to: move.to ?? null,
      ...sumView([move]),
    })),
    per_day: days.map((day) => ({ date: day.day, moved: day.moved, ...sumView([day]) })),
    estimates: estimates.map(estimateView),
  };
}

type Sides = Pick<WhatIf["cells"][number], "before" | "after">;

function sumView(summands: readonly Sides[]) {
  return {
    before: outcomeView(sumOf(summands.map(({ before }) => before))),
    after: outcomeView(sumOf(summands.map(({ after }) => after))),
  };
}

function outcomeView({ payments, open, attempts, unknown, succeeded, costs }: Outcome): z.infer<typeof outcomeSchema> {
  return {
    payments,
    open,
    attempts,
    unknown,
    succeeded: rounded(succeeded, 1),
    success_rate: rateOf(succeeded, attempts - unknown),
    success_rate_least: rateOf(succeeded, attempts),
    success_rate_most: rateOf(succeeded + unknown, attempts),
    costs: costs.map((cost) => ({
      currency: cost.currency,
      exponent: exponentOf(cost.currency),
      paid_minor: wireMinor(cost.paidMinor),
      cost_minor: wireMinor(cost.costMinor),
      unknown: rounded(cost.unknown, 1),
    })),
  };
}

function estimateView(estimate: Estimate): z.infer<typeof estimateSchema> {
  const { band, of, succeeded, interval } = estimate;
  return {
    gateway_code: estimate.code,
    payment_method: estimate.method,
    currency: estimate.currency,
    amount_from_minor: bound(band?.fromMinor),
    amount_to_minor: bound(band?.toMinor),
    observations: of,
    succeeded,
    success_rate: rateOf(succeeded, of),
    low: interval ? rounded(interval.low, 4) : null,
    high: interval ? rounded(interval.high, 4) : null,
    attempts: estimate.attempts,
    known: estimate.isKnown,
  };
}

function bound(amount: Minor | undefined): number | null {
  return amount === undefined ? null : wireMinor(amount);
}

/** A rate, capped at 1: estimates are sums of fractions, and rounding can push them slightly above the whole. */
export function rateOf(succeeded: number, of: number): number | null {
  return of === 0 ? null : Math.min(1, rounded(succeeded / of, 4));
}

export function rounded(value: number, places: number): number {
  return Math.round(value * 10 ** places) / 10 ** places;
}
