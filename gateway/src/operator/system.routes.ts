// GET /ops/v1/system: the running processes, the database, the settings, retention periods and queue lengths.
import { z } from "zod";
import { type Clock, DAY_SECONDS, wireTime } from "../ground/clock.ts";
import type { Config } from "../ground/config.ts";
import { assert } from "../ground/fault.ts";
import { reply } from "../ground/reply.ts";
import { exampleTimes } from "../http/examples.ts";
import { count, exampleOf, textOrNull, timestamp, withExample } from "../http/shapes.ts";
import { totalsKeptSeconds } from "../insights/totals.sql.ts";
import type { Database } from "../store/database.ts";
import { samplesKeptSeconds } from "../telemetry/telemetry.sql.ts";
import { type KnownProcess, now, readProcesses } from "../telemetry/vitals.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";
import { settingsInForce } from "./settings-in-force.ts";
import {
  type DatabaseRow,
  QUEUE_MAX,
  type QueueRow,
  type ReplicaRow,
  selectDatabase,
  selectQueues,
  selectReplicas,
} from "./system.sql.ts";
import { measuredSchema, measuredView } from "./vitals.schema.ts";

const processSchema = withExample(
  z.strictObject({
    process_id: z.uuid().meta({ examples: ["3f6c1f0e-8a55-4c0b-9b1e-6f2f0d1c7a10"] }),
    state: z.enum(["alive", "stopped", "lost"]).meta({
      description:
        "`stopped`: it said so. `lost`: it was not seen for 15 seconds. Those that went are told for an hour.",
    }),
    is_this: z.boolean().meta({ description: "True for the one that answers." }),
    roles: z.array(z.enum(["api", "worker"])),
    version: z.string().meta({ examples: ["0.1.0"] }),
    node: z.string().meta({ examples: ["v26.10.0"] }),
    host: z.string().meta({ description: "The machine's name.", examples: ["gateway-1"] }),
    pid: z.int().meta({ examples: [4711] }),
    started_at: timestamp,
    seen_at: timestamp,
    now: measuredSchema.nullable().meta({ description: "By its newest sample; null without one." }),
  }),
  {
    id: "SystemProcess",
  },
  { is_this: true, roles: ["api", "worker"], seen_at: exampleTimes.paid, now: exampleOf(measuredSchema) },
);

const replicaSchema = z
  .strictObject({
    name: textOrNull("standby"),
    state: textOrNull("streaming"),
    lag_seconds: z.nullable(z.number()).meta({ examples: [0.2] }),
  })
  .meta({ id: "SystemReplica", examples: [{ name: "standby", state: "streaming", lag_seconds: 0.2 }] });

const databaseSchema = withExample(
  z.strictObject({
    version: z.string().meta({ description: "Of PostgreSQL.", examples: ["18.4"] }),
    size_bytes: count(104_857_600),
    started_at: timestamp,
    connections: z.int().meta({ description: "To this database, by anybody.", examples: [17] }),
    connections_max: z.int().meta({ description: "That the server allows, to all its databases.", examples: [100] }),
    is_replica: z.boolean().meta({ description: "True: nothing can be written to it." }),
    replicas: z
      .array(replicaSchema)
      .meta({ description: "Servers that follow it. What our role may not see is null: grant it `pg_monitor`." }),
    schema_version: z.int().meta({ description: "Of the newest migration.", examples: [21] }),
    schema_name: z.string().meta({ examples: ["0021_status.sql"] }),
    migrated_at: timestamp,
  }),
  {
    id: "SystemDatabase",
  },
  { is_replica: false },
);

const clocksSchema = z
  .strictObject({
    service: timestamp.meta({ description: "By which this process acts: never ahead of the database's." }),
    database: timestamp,
    skew_ms: z.number().meta({
      description: "How far this machine's clock is ahead of the database's; negative when it is behind.",
      examples: [1.2],
    }),
    furthest_ms: z
      .number()
      .min(0)
      .meta({ description: "The furthest of any process, either way.", examples: [2] }),
  })
  .meta({
    id: "SystemClocks",
    examples: [{ service: exampleTimes.paid, database: exampleTimes.paid, skew_ms: 1.2, furthest_ms: 2 }],
  });

const settingSchema = z
  .strictObject({
    name: z.string().meta({ description: "The variable.", examples: ["SERVICE_NAME"] }),
    value: textOrNull("gerbang", "Null: nothing is set. Of a secret only `set`."),
    secret: z.boolean(),
  })
  .meta({ id: "SystemSetting", examples: [{ name: "SERVICE_NAME", value: "gerbang", secret: false }] });

const retentionSchema = withExample(
  z.strictObject({
    what: z.string().meta({ examples: ["Events, and every attempt to deliver them"] }),
    kept_seconds: z.int().meta({ examples: [2_592_000] }),
  }),
  { id: "SystemRetention" },
);

const queueSchema = z
  .strictObject({
    what: z.enum(["deliveries_due", "deliveries_undelivered", "acquirer_operations"]).meta({
      description:
        "`deliveries_due`: events that should be on their way. `deliveries_undelivered`: given up. `acquirer_operations`: calls and inquiries under way.",
    }),
    count: count(0, `Counted to ${QUEUE_MAX}.`),
    is_more: z.boolean(),
  })
  .meta({ id: "SystemQueue", examples: [{ what: "deliveries_due", count: 0, is_more: false }] });

const systemSchema = withExample(
  z.strictObject({
    as_of: timestamp,
    processes: z.array(processSchema).meta({ description: "Those that live first; a hundred at most." }),
    database: databaseSchema,
    clocks: clocksSchema,
    queues: z.array(queueSchema),
    retention: z.array(retentionSchema).meta({ description: "What is deleted by itself, and when." }),
    settings: z.array(settingSchema).meta({ description: "Of the process that answers." }),
  }),
  {
    id: "System",
  },
  { as_of: exampleTimes.paid },
);

interface SystemEndpointParts {
  database: Database;
  clock: Clock;
  config: Config;
  skewMs: () => number;
  processId: string;
}

export function systemEndpoint(parts: SystemEndpointParts): OperatorEndpoint {
  const { database, clock, config, skewMs } = parts;
  return operatorEndpoint({
    method: "GET",
    operationId: "getSystem",
    path: "/ops/v1/system",
    summary: "What runs, on which database, with which settings",
    description: "No secret is in it: of those it is told only whether they are set.",
    tag: "System",
    role: "viewer",
    success: { description: "The system.", schema: systemSchema },
    async handle() {
      const [processes, [facts], replicas, queues] = await Promise.all([
        readProcesses(database),
        database.query<DatabaseRow>(selectDatabase),
        database.query<ReplicaRow>(selectReplicas),
        database.query<QueueRow>(selectQueues(clock.now())),
      ]);
      assert(facts, "there is one row of facts");
      const { database_at: databaseAt, migrated_at: migratedAt, ...others } = facts;
      return reply(200, {
        as_of: wireTime(clock.now()),
        processes: processes.map((process) => processView(process, parts.processId)),
        database: {
          ...others,
          size_bytes: Number(others.size_bytes),
          started_at: wireTime(others.started_at),
          migrated_at: wireTime(migratedAt),
          replicas,
        },
        clocks: {
          service: wireTime(clock.now()),
          database: wireTime(databaseAt),
          skew_ms: Math.round(skewMs() * 10) / 10,
          furthest_ms: measuredView(now(processes)).clock_skew_ms,
        },
        queues: queues.map(({ what, count: counted }) => ({
          what,
          count: Math.min(counted, QUEUE_MAX),
          is_more: counted > QUEUE_MAX,
        })),
        retention: retentionOf(config),
        settings: settingsInForce(config),
      } satisfies z.infer<typeof systemSchema>);
    },
  });
}

function processView(process: KnownProcess, own: string): z.infer<typeof processSchema> {
  const { is_alive: isAlive, ended_at: endedAt } = process;
  return {
    process_id: process.process_id,
    state: isAlive ? "alive" : endedAt === null ? "lost" : "stopped",
    is_this: process.process_id === own,
    roles: process.roles.split(" ") as ("api" | "worker")[],
    version: process.version,
    node: process.node,
    host: process.host,
    pid: process.pid,
    started_at: wireTime(process.started_at),
    seen_at: wireTime(process.seen_at),
    now: isAlive && process.newest ? measuredView(now([process])) : null,
  };
}

function retentionOf({ webhookHistoryDays }: Config): z.infer<typeof retentionSchema>[] {
  const kept = (what: string, seconds: number) => ({ what, kept_seconds: seconds });
  return [
    kept("Events, and every attempt to deliver them", webhookHistoryDays * DAY_SECONDS),
    kept("Idempotency keys with their answers", 3 * DAY_SECONDS),
    kept("Requests of merchants' systems, 10,000 a book at most", 7 * DAY_SECONDS),
    kept("Calls of this API that were refused", 30 * DAY_SECONDS),
    kept("Payments of all merchants by the minute", totalsKeptSeconds[60]),
    kept("Payments of all merchants by the quarter of an hour", totalsKeptSeconds[900]),
    kept("Payments of all merchants by the hour", totalsKeptSeconds[3600]),
    kept("What processes measured, by five seconds", samplesKeptSeconds[5]),
    kept("What processes measured, by the minute", samplesKeptSeconds[60]),
    kept("What processes measured, by the hour", samplesKeptSeconds[3600]),
  ];
}
