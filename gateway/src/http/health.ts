// GET /v1/health (section 2.7): queries the database and the ledger, with a deadline, at most once in KEEP_MS.
import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import { type Clock, stopwatchMs, wireTime } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import type { Database } from "../store/database.ts";
import type { WriteHealth } from "../store/write-health.ts";
import { type Reply, errorOf, reply } from "../ground/reply.ts";
import { selectLedgerHealth } from "./health.sql.ts";
import { exampleIds } from "./examples.ts";
import { environmentField, errorBody, timestamp, withExample } from "./shapes.ts";

const state = z.enum(["ok", "unavailable"]);
const dependencies = z
  .strictObject({
    core_ledger: state.meta({ description: "The ledger and its balances." }),
    database: state.meta({ description: "Reading and writing." }),
  })
  .meta({ id: "HealthDependencies" });

export const healthSchema = withExample(
  z.strictObject({
    status: state.meta({ description: "`ok` when healthy." }),
    service: z.string().meta({ description: "Name of the service.", examples: ["gerbang"] }),
    version: z.string().meta({ description: "Version of the service.", examples: ["0.1.0"] }),
    environment: environmentField.meta({ description: "`production` only where production payments are taken." }),
    dependencies,
    time: timestamp,
  }),
  { id: "Health" },
  { dependencies: { core_ledger: "ok", database: "ok" } },
);

/** The body of health with a 503. */
export const unhealthySchema = withExample(
  healthSchema.extend({ error: errorBody }),
  { id: "Unhealthy", description: "The health object and the error, in one." },
  {
    status: "unavailable",
    dependencies: { core_ledger: "ok", database: "unavailable" },
    error: {
      code: "SERVICE_UNAVAILABLE",
      message: new Fault("SERVICE_UNAVAILABLE").message,
      request_id: exampleIds.request,
    },
  },
);

interface HealthParts {
  database: Database;
  writes: WriteHealth;
  /** False while the process must take no requests because its clock is wrong. */
  mayServe(): boolean;
  /** False while secrets are met that another master key has sealed. */
  opensSecrets(): boolean;
  clock: Clock;
  serviceName: string;
  version: string;
  /** "production" when the service takes production payments, else "sandbox". */
  environment(): string;
}

interface Findings {
  database: boolean;
  ledger: boolean;
}

const NEITHER: Findings = { database: false, ledger: false };
const DEADLINE_MS = 2_000;
const KEEP_MS = 250;

export class Health {
  private readonly parts: HealthParts;
  private asked = -Infinity;
  private opened = false;
  private findings = Promise.resolve(NEITHER);

  constructor(parts: HealthParts) {
    this.parts = parts;
  }

  /** Notes that the start is over: from now on the answer may be 200. */
  open(): void {
    this.opened = true;
  }

  /** Answers 200 when all is well, else 503 with the same object beside the error. */
  async answer(requestId: string): Promise<Reply> {
    const { database, ledger } = await this.find();
    const isWell = this.opened && database && ledger && this.parts.opensSecrets();
    const word = (well: boolean): string => (well ? "ok" : "unavailable");
    const object = {
      status: word(isWell),
      service: this.parts.serviceName,
      version: this.parts.version,
      environment: this.parts.environment(),
      dependencies: { core_ledger: word(ledger), database: word(database) },
      time: wireTime(this.parts.clock.now()),
    };
    if (isWell) return reply(200, object);
    return reply(503, { ...object, error: errorOf(new Fault("SERVICE_UNAVAILABLE"), requestId) });
  }

  /** True when the service can do its work. A secret that does not open is a fault of its merchant's alone, and of who set the keys. */
  async isWell(): Promise<boolean> {
    const { database, ledger } = await this.find();
    return this.opened && database && ledger;
  }

  private find(): Promise<Findings> {
    if (stopwatchMs() - this.asked > KEEP_MS) {
      this.asked = stopwatchMs();
      this.findings = Promise.race([this.ask(), pause(DEADLINE_MS, NEITHER, { ref: false })]);
    }
    return this.findings;
  }

  private async ask(): Promise<Findings> {
    try {
      const [row] = await this.parts.database.query<{ whole: boolean; writable: boolean }>(selectLedgerHealth);
      const writable = row?.writable === true && (await this.parts.writes.isWritable());
      return { database: writable && this.parts.mayServe(), ledger: row?.whole === true };
    } catch {
      return NEITHER; // a failed query means that both are unavailable
    }
  }
}
