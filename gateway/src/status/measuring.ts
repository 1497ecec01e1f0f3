// Measures the service from inside: counts its results, polls a few states, and writes a row a minute and component. No request waits for it.
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Acquirer } from "../acquirers/acquirer.ts";
import { type Clock, type Micros, MINUTE, stopwatchMs } from "../ground/clock.ts";
import type { Log } from "../ground/log.ts";
import type { Environment } from "../merchants/books.ts";
import { type PaymentMethod, paymentMethods } from "../merchants/settings.ts";
import type { RoutingTable } from "../routing/routing.ts";
import { type Database, isOutOfService } from "../store/database.ts";
import type { Component } from "./components.ts";
import { Minutes, minuteOf } from "./minutes.ts";
import type { Counts } from "./states.ts";
import {
  type CountsRow,
  countDays,
  putMinutes,
  countBooksBySettlementDelay,
  countBooksByDeliveryDelay,
} from "./status.sql.ts";

const TICK_MS = 10_000;
/** Ticks between two polls of the database, and between two writes. */
const ASK_EVERY = 6;
const WRITE_EVERY = 2;
/** Minutes that one statement writes at most. */
const WRITE_MAX = 200;
/** A GET that takes longer is slow. Other requests may wait for an acquirer, which is measured as a component of its own. */
const READ_SLOW_MS = 1_000;
const PROBE_SLOW_MS = 1_000;

const STOP_MS = 1_000;

/** Error codes that are always the service's fault. Failures of acquirers count for their payment methods instead. */
const ourFaults: ReadonlySet<string> = new Set(["INTERNAL_ERROR", "SERVICE_UNAVAILABLE", "UNBALANCED_ENTRY"]);

interface MeasuringParts {
  database: Database;
  /** The database's time, also while the database is unavailable. */
  clock: Clock;
  log: Log;
  routingTable: () => RoutingTable;
  acquirer: (code: string) => Acquirer | undefined;
  /** The environment whose acquirers are measured: production where it is open. */
  environment: () => Environment;
  /** True in a worker process, which counts the days. */
  works: boolean;
}

/** Callbacks of each tick. */
interface Turn {
  /** Tells whether this process could answer a request. Undefined in a process that serves no requests. */
  probe: (() => Promise<boolean>) | undefined;
  /** Reads the status page's data again, so that it is cached when the database becomes unavailable. */
  refresh: () => Promise<unknown>;
}

export class Measuring {
  readonly minutes = new Minutes();
  private readonly parts: MeasuringParts;
  private readonly processId = randomUUID();
  private ticks = 0;
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private isStopping = false;

  constructor(parts: MeasuringParts) {
    this.parts = parts;
  }

  /** Measures now and at every tick from now on. */
  start(turn: Turn): void {
    const tick = (): void => {
      this.running ??= this.tick(turn).finally(() => (this.running = undefined));
    };
    this.timer = setInterval(tick, TICK_MS);
    this.timer.unref();
    tick();
  }

  /** Writes the remaining counts, but waits for the database no longer than STOP_MS. */
  async stop(): Promise<void> {
    if (!this.timer) return;
    clearInterval(this.timer);
    this.isStopping = true;
    await Promise.race([(this.running ?? Promise.resolve()).then(() => this.write()), pause(STOP_MS)]);
  }

  /** Counts an answer of the merchants' API. Only requests with a valid signature count, so that unauthenticated callers cannot influence the status page. */
  answered({ routeOptions, isProven, errorCode, method, begunAt }: FastifyRequest, reply: FastifyReply): void {
    if (!isProven || routeOptions.url?.startsWith("/v1/") !== true) return;
    const isOurs = reply.statusCode >= 500 && ourFaults.has(errorCode ?? "");
    const isSlow = method === "GET" && stopwatchMs() - begunAt > READ_SLOW_MS;
    this.note("api", isOurs ? "bad" : isSlow ? "slow" : "good");
  }

  /** Counts a call that opened a payment at an acquirer (`well`), or failed to. */
  called(gatewayCode: string, method: string, well: boolean): void {
    const component = paymentMethods.find((one) => one === method);
    if (component === undefined || this.parts.acquirer(gatewayCode)?.environment !== this.parts.environment()) return;
    this.note(component, well ? "good" : "bad");
  }

  /** Runs one tick. Never throws. */
  async tick({ probe, refresh }: Turn): Promise<void> {
    const at = this.ticks++;
    this.measureMethods();
    if (probe) await this.measureApi(probe);
    if (this.isStopping) return;
    if (at % ASK_EVERY === 0) await this.measureDeliveriesAndSettlements();
    if (at % WRITE_EVERY === 0) await this.write();
    if (at % ASK_EVERY !== 0 || this.isStopping) return;
    if (this.parts.works) await this.trying("days were not counted", countDays);
    await refresh();
  }

  /** Measures for each payment method whether some acquirer can be called now. A method without an acquirer is not measured. */
  measureMethods(): void {
    const table = this.parts.routingTable();
    for (const [method, condition] of methodConditions(table, this.parts.environment())) this.note(method, condition);
  }

  /** Writes unwritten minutes, oldest first. After a failed write they stay for the next one. */
  async write(): Promise<void> {
    for (;;) {
      const due = this.minutes.due(WRITE_MAX);
      if (due.length === 0) return;
      const rows = due.map((minute) => ({ ...minute, processId: this.processId }));
      if (!(await this.trying("minutes were not written", putMinutes(rows)))) return;
      this.minutes.written(due);
      if (due.every(({ minute }) => minute >= minuteOf(this.now()) - MINUTE)) return; // counts added meanwhile wait for the next write
    }
  }

  private note(component: Component, what: keyof Counts, count = 1): void {
    if (count > 0) this.minutes.note(component, this.now(), what, count);
  }

  private now(): Micros {
    return this.parts.clock.now();
  }

  private async measureApi(probe: () => Promise<boolean>): Promise<void> {
    const begunAt = stopwatchMs();
    const isWell = await probe();
    this.note("api", !isWell ? "bad" : stopwatchMs() - begunAt > PROBE_SLOW_MS ? "slow" : "good");
  }

  /** While the database is unavailable, nothing is delivered or settled, so both components count as bad. */
  private async measureDeliveriesAndSettlements(): Promise<void> {
    const { database, log } = this.parts;
    const asked = [
      ["webhooks", countBooksByDeliveryDelay],
      ["settlements", countBooksBySettlementDelay],
    ] as const;
    for (const [component, statement] of asked) {
      try {
        const [row] = await database.query<CountsRow>(statement(this.now()));
        for (const what of ["good", "slow", "bad"] as const) this.note(component, what, Number(row?.[what] ?? 0));
      } catch (error) {
        if (isOutOfService(error)) this.note(component, "bad");
        else log.warn({ err: error, component }, "a component of the status page was not measured");
      }
    }
  }

  private async trying(what: string, statement: Parameters<Database["query"]>[0]): Promise<boolean> {
    try {
      await this.parts.database.query(statement);
      return true;
    } catch (error) {
      this.parts.log.warn({ err: error }, `of the status page ${what}; they will be`);
      return false;
    }
  }
}

/** Tells for each method with an acquirer in the environment whether one can be called. `slow`: the best callable acquirer is degraded. */
export function methodConditions(
  { acquirers, states, open }: RoutingTable,
  environment: Environment,
): Map<PaymentMethod, keyof Counts> {
  const found = new Map<PaymentMethod, keyof Counts>();
  for (const method of paymentMethods) {
    const able = acquirers.filter(
      (one) =>
        one.environment === environment &&
        one.capabilities.some((capability) => capability.method === method) &&
        states.get(one.code)?.enabled !== false,
    );
    if (able.length === 0) continue;
    const healths = able
      .filter(({ code }) => open?.has(`${code}/${method}`) !== true)
      .map(({ code }) => states.get(code)?.health ?? "healthy");
    found.set(method, healths.includes("healthy") ? "good" : healths.includes("degraded") ? "slow" : "bad");
  }
  return found;
}
