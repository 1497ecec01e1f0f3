// Endpoints of split tests and their results so far.
import { z } from "zod";
import { wireTimeOrNull } from "../ground/clock.ts";
import { exponentOf, wireMinor } from "../ground/money.ts";
import { reply } from "../ground/reply.ts";
import { exampleTimes } from "../http/examples.ts";
import { currencyCode, exampleOf, exponentField, timestamp, withExample } from "../http/shapes.ts";
import { type AcquirerCosts, costsOf } from "../routing/costs.ts";
import type { Router } from "../routing/router.ts";
import { splitTestSchema } from "../routing/routing.ts";
import type { RuleSets } from "../routing/rule-sets.ts";
import { type ArmRow, selectArms } from "../routing/split-results.sql.ts";
import { type ArmResult, type SplitResult, meanCost, splitResult } from "../routing/split-results.ts";
import type { Database } from "../store/database.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";
import { VERSION_PATTERN } from "./params.ts";
import { isVersion, requiredVersion } from "./routing.routes.ts";
import { rateOf, rounded } from "./what-if.schema.ts";

/** Payments that one call counts at most, divided among the listed split tests. */
const COUNTED_MAX = 200_000;
const COUNTED_OF_ONE_MAX = 100_000;

const count = z.int().min(0);
const rate = z
  .number()
  .min(-1)
  .max(1)
  .nullable()
  .meta({ description: "Null while there is nothing to say it of.", examples: [0.9312] });
const armCostSchema = z
  .strictObject({
    currency: currencyCode,
    exponent: exponentField,
    payments: count.meta({ description: "Paid payments whose cost is known." }),
    unknown: count.meta({ description: "Paid payments whose cost nobody knows." }),
    cost_minor: z.int().nullable().meta({ description: "What acquirers charge for the former, in all." }),
    mean_cost_minor: z.int().nullable().meta({ description: "Of one of them; null where none is known." }),
  })
  .meta({
    id: "SplitArmCost",
    examples: [{ currency: "IDR", exponent: 2, payments: 930, unknown: 0, cost_minor: 372_000, mean_cost_minor: 400 }],
  });
const armSchema = withExample(
  z.strictObject({
    gateway_code: z.string(),
    payments: count.meta({ description: "That this acquirer was asked first for, whoever took them in the end." }),
    open: count.meta({ description: "Not ended yet, or canceled by their merchant: not among the attempts." }),
    attempts: count,
    succeeded: count,
    success_rate: rate,
    low: rate.meta({ description: "Of its 95 % interval (Wilson)." }),
    high: rate,
    costs: z.array(armCostSchema),
  }),
  { id: "SplitArm" },
  {
    gateway_code: "nusantara",
    payments: 1_020,
    open: 20,
    attempts: 1_000,
    succeeded: 930,
    success_rate: 0.93,
    low: 0.9125,
    high: 0.9443,
  },
);
const differenceSchema = z.strictObject({ estimate: z.number(), low: z.number(), high: z.number() }).meta({
  id: "SplitDifference",
  description: "`test` minus `control`, with its 95 % interval (Newcombe).",
  examples: [{ estimate: 0.012, low: -0.02, high: 0.038 }],
});
const resultSchema = withExample(
  z.strictObject({
    rule: count.meta({ description: "The test's rule by its place, from 0." }),
    split: splitTestSchema,
    since: timestamp.nullable().meta({ description: "When the oldest payment that is counted was made." }),
    control: armSchema,
    test: armSchema,
    difference: differenceSchema.nullable(),
    verdict: z.enum(["no_data", "undecided", "test_better", "control_better"]).meta({
      description:
        "Whether the interval of the difference leaves zero out. Look at it when as many payments are in as you decided before.",
    }),
    more_payments: count
      .nullable()
      .meta({ description: "About so many more tell them apart, should the difference stay." }),
    words: z.string(),
  }),
  { id: "SplitTestResult" },
  {
    rule: 0,
    since: exampleTimes.created,
    test: {
      ...exampleOf(armSchema),
      gateway_code: "cendana",
      payments: 110,
      open: 0,
      attempts: 110,
      succeeded: 104,
      success_rate: 0.9455,
      low: 0.8862,
      high: 0.9748,
    },
    difference: { estimate: 0.0155, low: -0.0447, high: 0.0487 },
    verdict: "undecided",
    more_payments: 7_900,
    words: "Not yet distinguishable: about 7900 more payments, should the difference stay as it is.",
  },
);
const resultsSchema = withExample(
  z.strictObject({
    rules_version: z.int().min(1),
    counted_max: count.meta({ description: "The newest payments of each test are counted, no more than these." }),
    data: z.array(resultSchema),
  }),
  { id: "SplitTestResults" },
  { rules_version: 3, counted_max: COUNTED_OF_ONE_MAX },
);

interface SplitEndpointParts {
  database: Database;
  ruleSets: RuleSets;
  router: Router;
  costs: AcquirerCosts;
}

export function splitEndpoints({ database, ruleSets, router, costs }: SplitEndpointParts): OperatorEndpoint[] {
  return [
    operatorEndpoint({
      method: "GET",
      operationId: "listSplitTests",
      path: "/ops/v1/routing/splits",
      summary: "Read the split tests of a version, and what they have shown so far",
      tag: "Routing",
      role: "viewer",
      query: z.strictObject({
        version: z
          .string()
          .refine(isVersion, "is not a version")
          .optional()
          .meta({ description: "The one that decides when absent.", pattern: VERSION_PATTERN, examples: ["3"] }),
      }),
      success: { description: "Each test with its result.", schema: resultsSchema },
      errors: ["OBJECT_NOT_FOUND"],
      async handle({ query }) {
        const { table } = router;
        const { version, rules } = await requiredVersion(ruleSets, query.version ?? String(table.version));
        const costOf = costsOf(await costs.read(), table.acquirers);
        const tests = rules.flatMap(({ gateway_code: control, split }, rule) =>
          split ? [{ rule, control, split }] : [],
        );
        const countedMax = Math.min(COUNTED_OF_ONE_MAX, Math.floor(COUNTED_MAX / Math.max(1, tests.length)));
        const data: z.infer<typeof resultSchema>[] = [];
        // The tests are counted one after another, to leave the database capacity for payments.
        for (const { rule, control, split } of tests) {
          const asked = { id: split.id, control, test: split.gateway_code, percent: split.percent };
          const rows = await database.query<ArmRow>(selectArms(asked, countedMax));
          data.push({ rule, split, ...resultView(splitResult(asked, rows, costOf)) });
        }
        return reply(200, { rules_version: version, counted_max: countedMax, data });
      },
    }),
  ];
}

function resultView(result: SplitResult): Omit<z.infer<typeof resultSchema>, "rule" | "split"> {
  const { since, control, test, difference: apart, verdict, more, words } = result;
  return {
    since: wireTimeOrNull(since),
    control: armView(control),
    test: armView(test),
    difference: apart
      ? { estimate: rounded(apart.estimate, 4), low: rounded(apart.low, 4), high: rounded(apart.high, 4) }
      : null,
    verdict,
    more_payments: more ?? null,
    words,
  };
}

function armView({ gatewayCode, interval, costs, ...counts }: ArmResult): z.infer<typeof armSchema> {
  return {
    gateway_code: gatewayCode,
    ...counts,
    success_rate: rateOf(counts.succeeded, counts.attempts),
    low: interval ? rounded(interval.low, 4) : null,
    high: interval ? rounded(interval.high, 4) : null,
    costs: costs.map((cost) => {
      const mean = meanCost(cost);
      return {
        currency: cost.currency,
        exponent: exponentOf(cost.currency),
        payments: cost.payments,
        unknown: cost.unknown,
        cost_minor: wireMinor(cost.costMinor),
        mean_cost_minor: mean === undefined ? null : wireMinor(mean),
      };
    }),
  };
}
