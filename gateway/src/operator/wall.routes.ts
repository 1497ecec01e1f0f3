// GET /ops/v1/wall: the state of the whole installation. GET /ops/v1/stream notifies clients when to read it again.
import type { z } from "zod";
import { wireTime, wireTimeOrNull } from "../ground/clock.ts";
import { assert } from "../ground/fault.ts";
import { exponentOf, wireMinor } from "../ground/money.ts";
import { type Reply, reply } from "../ground/reply.ts";
import type { Router } from "../routing/router.ts";
import { now } from "../telemetry/vitals.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";
import type { OperatorStreams } from "./stream.ts";
import { measuredPointsView, measuredView } from "./vitals.schema.ts";
import { type Wall, type WallPicture, periods } from "./wall.ts";
import { type acquirerStates, callsView, circuitView, wallQuery, wallSchema, wallStreamSchema } from "./wall.schema.ts";

interface WallEndpointParts {
  wall: Wall;
  streams: OperatorStreams;
  router: Router;
}

const tag = "Wall";

export function wallEndpoints({ wall, streams, router }: WallEndpointParts): OperatorEndpoint[] {
  return [
    operatorEndpoint({
      method: "GET",
      operationId: "getWall",
      path: "/ops/v1/wall",
      summary: "How the whole installation does, over a period and now",
      description:
        "Payments of all merchants, acquirers, what waits and how every process does, in one answer. All who ask within half a second get the same one.",
      tag,
      role: "viewer",
      query: wallQuery,
      success: { description: "One picture.", schema: wallSchema },
      async handle({ query: { period, environment } }) {
        const picture = await wall.picture(period, environment);
        return reply(200, {
          period,
          environment: environment ?? null,
          as_of: wireTime(picture.asOf),
          counted_at: wireTimeOrNull(picture.countedAt),
          span_seconds: periods[period].spanSeconds,
          at: picture.begins.map(wireTime),
          payments: paymentsView(picture),
          acquirers: acquirersView(router, picture).filter(
            (acquirer) => environment === undefined || acquirer.environment === environment,
          ),
          now: measuredView(now(picture.vitals.processes)),
          measured: measuredPointsView(picture.vitals.series),
          processes: processesView(picture),
          waiting: picture.waiting.map(({ items, ...queue }) => ({ ...queue, since: items[0]?.since ?? null })),
        } satisfies z.infer<typeof wallSchema>);
      },
    }),
    operatorEndpoint({
      method: "GET",
      operationId: "streamWall",
      path: "/ops/v1/stream",
      summary: "Hear of what changes on the wall, as it does",
      description:
        "Goes on until whoever asks may not ask any more: a token that is revoked ends it within seconds. A comment comes at least every 15 seconds.",
      tag,
      role: "viewer",
      success: {
        description: "Events until somebody hangs up.",
        schema: wallStreamSchema,
        mediaType: "text/event-stream",
      },
      async handle({ operator, mayStill }): Promise<Reply> {
        assert(mayStill, "whoever listens asked by themselves");
        const stream = await streams.listen({ name: operator.name, mayStill });
        return { status: 200, body: "", stream, contentType: "text/event-stream; charset=utf-8" };
      },
    }),
  ];
}

function paymentsView({ payments }: WallPicture): z.infer<typeof wallSchema>["payments"] {
  return {
    total: payments.total,
    points: payments.points,
    by_method: payments.byMethod,
    by_acquirer: payments.byAcquirer,
    by_reason: [...payments.byReason]
      .map(([reason, count]) => ({ reason, payments: count }))
      .toSorted((one, other) => other.payments - one.payments || (one.reason < other.reason ? -1 : 1)),
    amounts: payments.amounts.map(({ currency, succeededMinor, points }) => ({
      currency,
      exponent: exponentOf(currency),
      succeeded_minor: wireMinor(succeededMinor),
      points: points.map(wireMinor),
    })),
  };
}

function acquirersView(router: Router, { vitals, begins }: WallPicture): z.infer<typeof wallSchema>["acquirers"] {
  const { acquirers, states } = router.table;
  return acquirers.map(({ code, name, environment }) => {
    const stated = states.get(code) ?? { enabled: true, health: "healthy" as const };
    const circuits = vitals.circuits.filter(({ gateway_code: own }) => own === code);
    const spans = vitals.acquirers.get(code) ?? begins.map(() => undefined);
    return {
      gateway_code: code,
      name,
      environment,
      state: stateOf(stated, circuits),
      circuits: circuits.map(circuitView),
      ...callsView(spans),
    };
  });
}

/** The state of an acquirer, from the health that operators set and from the circuits that processes report. */
export function stateOf(
  { enabled, health }: { enabled: boolean; health: "healthy" | "degraded" | "down" },
  circuits: readonly { state: string; failures: number }[],
): (typeof acquirerStates)[number] {
  if (!enabled) return "off";
  if (health === "down" || circuits.some(({ state }) => state === "open")) return "down";
  const fails = circuits.some(({ state, failures }) => state === "probing" || failures > 0);
  return health === "degraded" || fails ? "failing" : "well";
}

function processesView({ vitals: { processes } }: WallPicture): z.infer<typeof wallSchema>["processes"] {
  const alive = processes.filter(({ is_alive: isAlive }) => isAlive);
  return {
    alive: alive.length,
    lost: processes.filter(({ is_alive: isAlive, ended_at: endedAt }) => !isAlive && endedAt === null).length,
    versions: [...new Set(alive.map(({ version }) => version))],
  };
}
