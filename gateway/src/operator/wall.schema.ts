// The JSON schemas of the wall and of its event stream.
import { z } from "zod";
import { wireTime } from "../ground/clock.ts";
import { exampleTimes } from "../http/examples.ts";
import {
  count,
  currencyCode,
  environmentField,
  exponentField,
  sumMinor,
  timestamp,
  withExample,
} from "../http/shapes.ts";
import type { CircuitRow } from "../telemetry/telemetry.sql.ts";
import type { AcquirerSpan } from "../telemetry/vitals.ts";
import { measuredPointsSchema, measuredSchema } from "./vitals.schema.ts";
import { type Period, ofEachOutcome, periods, reasons } from "./wall.ts";
import { WAITING_MAX } from "./waiting.sql.ts";

export const wallQuery = z.strictObject({
  period: z
    .enum(Object.keys(periods) as [Period, ...Period[]])
    .default("hour")
    .meta({
      description:
        "`hour`: the last hour by the minute. `day`: by the quarter of an hour. `week`: by the hour. `month`: 30 days, by six hours.",
    }),
  environment: environmentField
    .optional()
    .meta({ description: "Payments and what waits of this environment alone; of both when absent." }),
});

export const points = (description: string) =>
  z.array(z.int().min(0)).meta({ description: `${description} One for each span.`, examples: [[3, 4]] });

const about = {
  asked: "Payments that were asked for.",
  succeeded: "Payments that succeeded.",
  failed: "Payments that an acquirer declined, or that none could take.",
  rejected: "Payments that were refused for their risk.",
  expired: "Payments that nobody paid in time.",
  canceled: "Payments that their merchant canceled.",
} as const;
const exampleCounts = { asked: 12, succeeded: 9, failed: 1, rejected: 0, expired: 1, canceled: 0 };

export const countsSchema = z
  .strictObject(ofEachOutcome((outcome) => count(exampleCounts[outcome], about[outcome])))
  .meta({ id: "WallCounts", examples: [exampleCounts] });
const countPointsSchema = z
  .strictObject(ofEachOutcome((outcome) => points(about[outcome])))
  .meta({ id: "WallCountPoints", examples: [ofEachOutcome(() => [3, 4])] });
const groupSchema = z
  .strictObject({
    key: z.string().meta({
      description: "The method, or the acquirer's `gateway_code`; empty where none was chosen.",
      examples: ["qris"],
    }),
    total: countsSchema,
    succeeded: points("Payments that succeeded."),
    ended: points("Payments that came to their end, but for canceled ones: what `succeeded` is a part of."),
  })
  .meta({
    id: "WallGroup",
    examples: [{ key: "qris", total: exampleCounts, succeeded: [5, 4], ended: [6, 5] }],
  });
const reasonSchema = z
  .strictObject({
    reason: z.enum(reasons).meta({
      description:
        "`declined` by the acquirer. `not_taken`: no acquirer could. `risk`: refused by fraud detection or a reviewer. " +
        "`unpaid`: nobody paid in time. `canceled` by the merchant.",
    }),
    payments: count(1, "Payments that ended so."),
  })
  .meta({ id: "WallReason", examples: [{ reason: "declined", payments: 1 }] });
const succeededMinor = sumMinor(135_000_000, "What succeeded payments came to.");
const amountsSchema = withExample(
  z.strictObject({
    currency: currencyCode,
    exponent: exponentField,
    succeeded_minor: succeededMinor,
    points: z.array(succeededMinor).meta({ description: "One for each span.", examples: [[135_000_000, 0]] }),
  }),
  { id: "WallAmounts" },
);

export const circuitSchema = withExample(
  z.strictObject({
    payment_method: z.string().meta({ examples: ["qris"] }),
    state: z
      .enum(["closed", "open", "probing"])
      .meta({ description: "The worst that any process sees. `open`: not asked for a while." }),
    calls: count(20, "Latest calls that are counted, of all processes."),
    failures: count(0, "Those of them that failed."),
    changed_at: timestamp.meta({ description: "When its state changed last." }),
  }),
  { id: "WallCircuit" },
);

export function circuitView(circuit: CircuitRow): z.infer<typeof circuitSchema> {
  const { method, state, calls, failures, changed_at: changedAt } = circuit;
  return { payment_method: method, state, calls, failures, changed_at: wireTime(changedAt) };
}

export const callMs = z.array(z.number().min(0).nullable()).meta({
  description: "How long a call took on average. One for each span; null without a call.",
  examples: [[120, null]],
});

export const leftAlone = z.array(z.boolean()).meta({
  description: "True where a circuit was open in some process. One for each span.",
  examples: [[false, true]],
});

/** Calls in each span, those that failed, how long one took on average, and whether a circuit was open. */
export function callsView(spans: readonly (AcquirerSpan | undefined)[]) {
  return {
    calls: spans.map((span) => span?.calls ?? 0),
    failed: spans.map((span) => (span ? span.refused + span.unknown : 0)),
    call_ms: spans.map((span) => (span && span.calls > 0 ? Math.round(span.callMs / span.calls) : null)),
    left_alone: spans.map((span) => span?.isOpen ?? false),
  };
}

export const acquirerStates = ["well", "failing", "down", "off"] as const;
const acquirerSchema = withExample(
  z.strictObject({
    gateway_code: z.string().meta({ examples: ["nusantara"] }),
    name: z.string().meta({ examples: ["Nusantara QR"] }),
    environment: environmentField,
    state: z.enum(acquirerStates).meta({
      description:
        "`off`: switched off. `down`: stated so, or a circuit is open. `failing`: its latest calls failed in part, or it is stated degraded.",
    }),
    circuits: z.array(circuitSchema),
    calls: points("Calls to it."),
    failed: points("Calls of these that were refused, or whose outcome is unknown."),
    call_ms: callMs,
    left_alone: leftAlone,
  }),
  { id: "WallAcquirer" },
  { calls: [3, 0], failed: [0, 0], left_alone: [false, false] },
);

const waitingSchema = withExample(
  z.strictObject({
    kind: z.string().meta({ examples: ["review"] }),
    about: z
      .string()
      .meta({ examples: ["A payment that fraud detection left to a person; it is refused at `due_at`."] }),
    count: count(1, `How many wait; counted to ${WAITING_MAX}.`),
    is_more: z.boolean().meta({ description: `True when there are more than ${WAITING_MAX}.` }),
    since: timestamp.nullable().meta({ description: "Since when the first of them waits, by the clock of its book." }),
  }),
  { id: "WallWaiting", description: "As in `GET /ops/v1/waiting`, without the items." },
  { about: "A payment …", is_more: false, since: exampleTimes.created },
);

const processesSchema = z
  .strictObject({
    alive: count(2, "Processes that were seen in the last 15 seconds."),
    lost: count(0, "Processes of the last hour that are not seen any more and did not say that they stop."),
    versions: z.array(z.string()).meta({ description: "Versions that run.", examples: [["0.1.0"]] }),
  })
  .meta({ id: "WallProcesses", examples: [{ alive: 2, lost: 0, versions: ["0.1.0"] }] });

const paymentsSchema = withExample(
  z.strictObject({
    total: countsSchema,
    points: countPointsSchema,
    by_method: z.array(groupSchema).meta({ description: "The largest first." }),
    by_acquirer: z.array(groupSchema).meta({ description: "The largest first." }),
    by_reason: z.array(reasonSchema).meta({ description: "Why payments did not succeed, the most frequent first." }),
    amounts: z.array(amountsSchema).meta({ description: "By currency; the one of the most payments first." }),
  }),
  { id: "WallPayments" },
);

export const wallSchema = withExample(
  z.strictObject({
    period: z.enum(Object.keys(periods) as [Period, ...Period[]]),
    environment: environmentField.nullable().meta({ description: "Null: both." }),
    as_of: timestamp.meta({ description: "Now." }),
    counted_at: timestamp.nullable().meta({
      description:
        "Up to when payments are counted: a second ago or so. Null while they are counted for the first time.",
    }),
    span_seconds: z.int().meta({ description: "How long a span is.", examples: [60] }),
    at: z.array(timestamp).meta({ description: "When each span begins, oldest first. The last one still runs." }),
    payments: paymentsSchema,
    acquirers: z.array(acquirerSchema).meta({ description: "Those of the environment, by name." }),
    now: measuredSchema.meta({ description: "What all processes do now, by their newest samples." }),
    measured: measuredPointsSchema,
    processes: processesSchema,
    waiting: z.array(waitingSchema).meta({ description: "Every kind, those too of which nothing waits." }),
  }),
  { id: "Wall", description: "How the whole installation does, over a period and now." },
  { as_of: exampleTimes.paid, counted_at: exampleTimes.paid, at: [exampleTimes.created, exampleTimes.paid] },
);

export const wallStreamSchema = z.string().meta({
  id: "WallStream",
  description:
    "Server-sent events. `begin`: ask for everything. `sample`: there are new figures. `acquirer`: an acquirer's circuit or failures changed; the data say " +
    "how it is. `waiting`: how many of each kind wait, where that changed.",
  examples: [
    'event: acquirer\ndata: {"gateway_code":"nusantara","payment_method":"qris","state":"open","calls":6,"failures":5}\n\n',
  ],
});
