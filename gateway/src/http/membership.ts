// Membership: which processes take requests on this database, and whether this one is the only one.
import { randomUUID } from "node:crypto";
import { stopwatchMs } from "../ground/clock.ts";
import type { Log } from "../ground/log.ts";
import type { Database, Statement } from "../store/database.ts";
import { type SettingsWatch, nextEpoch } from "../store/settings-watch.ts";

/** A process that has not renewed its row for so long is gone, by the database's clock. */
const LEASE_MS = 3_000;
const RENEW_MS = 750;
/** A process stops being alone by its own stopwatch so much before others may take it for gone. */
const MARGIN_MS = 500;
const POLL_MS = 25;

/** Since when a process is alone. */
export type Since = "its start" | "others left";

export interface MembershipParts {
  database: Database;
  watch: SettingsWatch;
  log: Log;
  /** Nobody else takes requests from here on. */
  takeOver(since: Since): Promise<void>;
  /** Somebody else is about to: writes down what only this process knew. It may be called again when it failed. */
  handOver(): Promise<void>;
}

/**
 * A row for each process, renewed each second. Changes of who is there wait for each other on a lock of the table, so of two that
 * come at once one sees the other. Needs nothing of its session, so it works through PgBouncer.
 */
export class Membership {
  private readonly parts: MembershipParts;
  private readonly processId = randomUUID();
  private alone = false;
  private heldUntil = 0;
  private timer: NodeJS.Timeout | undefined;
  private ticking: Promise<void> | undefined;

  constructor(parts: MembershipParts) {
    this.parts = parts;
    parts.watch.subscribe(() => {
      this.tick(); // who joins says so by a new epoch of the settings
      return Promise.resolve();
    });
  }

  /** True while no other process takes requests: what this one remembers need not be written down for others. */
  get isAlone(): boolean {
    return this.alone && stopwatchMs() < this.heldUntil;
  }

  /** Joins, and waits until whoever was alone has shared what it knows. */
  async start(): Promise<void> {
    await this.join("its start");
    this.timer = setInterval(() => this.tick(), RENEW_MS);
    this.timer.unref();
    const begun = stopwatchMs();
    for (let told = false; await this.isAnotherAlone();) {
      if (!told && stopwatchMs() - begun > 1_000) {
        told = true;
        this.parts.log.info("waiting for another process, which may have died, to share what it knows");
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  /** Leaves: who comes next need not wait, and who is left may be alone. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.timer = undefined;
    await this.ticking;
    this.alone = false;
    await this.parts.database.query(leaving(this.processId));
  }

  private tick(): void {
    if (!this.timer) return;
    this.ticking ??= this.renew()
      .catch((error: unknown) => this.parts.log.debug({ err: error }, "membership could not be renewed"))
      .finally(() => {
        this.ticking = undefined;
      });
  }

  private async renew(): Promise<void> {
    const sent = stopwatchMs();
    const [row] = await this.parts.database.query<{ alone: boolean; accompanied: boolean }>(renewal(this.processId));
    if (!row) {
      // Others took this process for gone.
      this.alone = false;
      await this.parts.handOver();
      await this.join("others left");
      return;
    }
    this.heldUntil = sent + LEASE_MS - MARGIN_MS;
    if (row.accompanied && row.alone) await this.share();
    if (!row.accompanied && !this.alone) await this.claim();
  }

  private async join(since: Since): Promise<void> {
    const sent = stopwatchMs();
    const alone = await this.parts.database.transaction(async (query) => {
      await query(lock);
      await query(forgetGone);
      const [row] = await query<{ alone: boolean }>(entry(this.processId));
      if (row && !row.alone) await nextEpoch(query);
      return row?.alone === true;
    });
    this.heldUntil = sent + LEASE_MS - MARGIN_MS;
    if (alone) await this.beAlone(since);
  }

  /** All others have gone. */
  private async claim(): Promise<void> {
    const alone = await this.parts.database.transaction(async (query) => {
      await query(lock);
      await query(forgetGone);
      return (await query(claiming(this.processId))).length > 0;
    });
    if (alone) await this.beAlone("others left");
  }

  private async beAlone(since: Since): Promise<void> {
    await this.parts.takeOver(since);
    this.alone = true;
  }

  /** From now on everything is written down; what was not goes first, and then the others may begin. */
  private async share(): Promise<void> {
    this.alone = false;
    const renewing = setInterval(() => {
      this.parts.database
        .query(renewal(this.processId))
        .catch((error: unknown) => this.parts.log.debug({ err: error }, "membership could not be renewed"));
    }, RENEW_MS);
    try {
      await this.parts.handOver();
    } finally {
      clearInterval(renewing);
    }
    await this.parts.database.query(sharing(this.processId));
  }

  private async isAnotherAlone(): Promise<boolean> {
    const [row] = await this.parts.database.query<{ found: boolean }>({
      text: `select exists (
  select from api_processes where alone and process_id <> $1::uuid and alive_until >= clock_timestamp()
) as found`,
      values: [this.processId],
    });
    return row?.found === true;
  }
}

const LEASE = `interval '${LEASE_MS} milliseconds'`;
const lock: Statement = { text: "lock table api_processes in share row exclusive mode" };

const forgetGone: Statement = { text: "delete from api_processes where alive_until < clock_timestamp()" };

/** Alone when nobody else is there. */
function entry(processId: string): Statement {
  return {
    text: `insert into api_processes (process_id, alive_until, alone)
select $1::uuid, clock_timestamp() + ${LEASE}, not exists (select from api_processes)
returning alone`,
    values: [processId],
  };
}

function renewal(processId: string): Statement {
  return {
    name: "renew membership",
    text: `update api_processes
set alive_until = clock_timestamp() + ${LEASE}
where process_id = $1::uuid
returning alone, exists (
  select from api_processes o where o.process_id <> $1::uuid and o.alive_until >= clock_timestamp()
) as accompanied`,
    values: [processId],
  };
}

function claiming(processId: string): Statement {
  return {
    text: `update api_processes set alone = true
where process_id = $1::uuid and not exists (select from api_processes where process_id <> $1::uuid)
returning process_id`,
    values: [processId],
  };
}

function sharing(processId: string): Statement {
  return { text: "update api_processes set alone = false where process_id = $1::uuid", values: [processId] };
}

function leaving(processId: string): Statement {
  return { text: "delete from api_processes where process_id = $1::uuid", values: [processId] };
}
