// GET /ops/v1/acquirers/{gateway_code}/health: the health of an acquirer by payment method, over time.
import { z } from "zod";
import { type Clock, wireTime, wireTimeOrNull } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { reply } from "../ground/reply.ts";
import { exampleTimes } from "../http/examples.ts";
import { count, environmentField, exampleOf, timestamp, withExample } from "../http/shapes.ts";
import type { Router } from "../routing/router.ts";
import type { Database } from "../store/database.ts";
import { type MethodHealth, readAcquirerHealth } from "./acquirer-health.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";
import { acquirerParams } from "./params.ts";
import { type WallCounts, periods } from "./wall.ts";
import {
  callMs,
  callsView,
  circuitSchema,
  circuitView,
  countsSchema,
  leftAlone,
  points,
  wallQuery,
} from "./wall.schema.ts";

const methodSchema = withExample(
  z.strictObject({
    payment_method: z.string().meta({ examples: ["qris"] }),
    is_taken: z.boolean().meta({ description: "False: it does not take the method any more." }),
    circuit: circuitSchema
      .nullable()
      .meta({ description: "Null where it is not called over a network, or was not yet." }),
    total: countsSchema.meta({ description: "What became of its payments." }),
    succeeded: points("Payments that succeeded."),
    ended: points("Payments that came to their end, but for canceled ones: what `succeeded` is a part of."),
    calls_in_all: count(120, "Calls in the period."),
    failed_in_all: count(2, "Calls of these that were refused, or whose outcome is unknown."),
    call_ms_mean: z
      .number()
      .min(0)
      .nullable()
      .meta({ description: "How long a call took on average; null without a call.", examples: [120] }),
    calls: points("Calls."),
    failed: points("Calls of these that were refused, or whose outcome is unknown."),
    call_ms: callMs,
    left_alone: leftAlone,
  }),
  { id: "AcquirerMethodHealth" },
  {
    is_taken: true,
    circuit: exampleOf(circuitSchema),
    succeeded: [5, 4],
    ended: [6, 5],
    calls_in_all: 7,
    failed_in_all: 1,
    calls: [7, 0],
    failed: [1, 0],
  },
);

const healthSchema = withExample(
  z.strictObject({
    gateway_code: z.string().meta({ examples: ["nusantara"] }),
    name: z.string().meta({ examples: ["Nusantara QR"] }),
    environment: environmentField,
    period: wallQuery.shape.period.unwrap(),
    as_of: timestamp.meta({ description: "Now." }),
    counted_at: timestamp
      .nullable()
      .meta({ description: "Up to when payments are counted; null while they are counted for the first time." }),
    span_seconds: count(60, "How long a span is."),
    at: z.array(timestamp).meta({ description: "When each span begins, oldest first. The last one still runs." }),
    methods: z.array(methodSchema),
  }),
  {
    id: "AcquirerHealthOverTime",
  },
  { period: "hour", counted_at: exampleTimes.created, at: [exampleTimes.created, exampleTimes.paid] },
);

const healthQuery = z.strictObject({ period: wallQuery.shape.period });

export function acquirerHealthEndpoint(router: Router, database: Database, clock: Clock): OperatorEndpoint {
  return operatorEndpoint({
    method: "GET",
    operationId: "getAcquirerHealth",
    path: "/ops/v1/acquirers/{gateway_code}/health",
    params: acquirerParams,
    summary: "How an acquirer does, by method over a period: success, time of calls, circuit",
    description: "From the figures of the wall: payments by the real time, calls as every process measured them.",
    tag: "Acquirers",
    role: "viewer",
    query: healthQuery,
    success: { description: "Each method.", schema: healthSchema },
    async handle({ params, query: { period } }) {
      const acquirer = router.acquirer(params.gateway_code ?? "");
      if (!acquirer) throw new Fault("OBJECT_NOT_FOUND", { message: "No such acquirer." });
      const health = await readAcquirerHealth({ database, clock }, acquirer, period);
      return reply(200, {
        gateway_code: acquirer.code,
        name: acquirer.name,
        environment: acquirer.environment,
        period,
        as_of: wireTime(health.asOf),
        counted_at: wireTimeOrNull(health.countedAt),
        span_seconds: periods[period].spanSeconds,
        at: health.begins.map(wireTime),
        methods: health.methods.map(methodView),
      } satisfies z.infer<typeof healthSchema>);
    },
  });
}

const noPayments: WallCounts = { asked: 0, succeeded: 0, failed: 0, rejected: 0, expired: 0, canceled: 0 };

function methodView({ method, isTaken, payments, circuit, calls }: MethodHealth): z.infer<typeof methodSchema> {
  const all = calls.filter((span) => span !== undefined);
  const sum = (of: (span: (typeof all)[number]) => number): number => all.reduce((total, span) => total + of(span), 0);
  const inAll = sum((span) => span.calls);
  const none = calls.map(() => 0);
  return {
    payment_method: method,
    is_taken: isTaken,
    circuit: circuit ? circuitView(circuit) : null,
    total: payments?.total ?? noPayments,
    succeeded: payments?.succeeded ?? none,
    ended: payments?.ended ?? none,
    calls_in_all: inAll,
    failed_in_all: sum((span) => span.refused + span.unknown),
    call_ms_mean: inAll === 0 ? null : Math.round(sum((span) => span.callMs) / inAll),
    ...callsView(calls),
  };
}
