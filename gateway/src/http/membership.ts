// Membership: which processes take requests on this database, and whether this one is the only one.
import { randomUUID } from "node:crypto";
import { stopwatchMs } from "../ground/clock.ts";
import type { Log } from "../ground/log.ts";
import type { Database, Row, Statement } from "../store/database.ts";
import { type SettingsWatch, nextEpoch } from "../store/settings-watch.ts";

/** A process that has not renewed its row for so long is gone, by the database's clock. */
const LEASE_MS = 3_000;
const RENEW_MS = 750;
/** A process stops being alone by its own stopwatch so much before others may take it for gone. */
const MARGIN_MS = 500;
const POLL_MS = 25;
/** So long a request waits for a process to be a member again. */
const ASK_MS = 2_000;

/** Since when a process is alone. */
export type Since = "its start" | "others left";

export interface MembershipParts {
  database: Database;
  watch: SettingsWatch;
  log: Log;
  /** Nobody else is known to take requests. */
  takeOver(since: Since): Promise<void>;
  /** Somebody else is about to: writes down what only this process knew. It may be called again when it failed. */
  handOver(): Promise<void>;
}

/**
 * A row for each process, renewed while it lives. Changes of who is there wait for each other on a lock of the table, so of two that
 * come at once one sees the other. Needs nothing of its session, so it works through PgBouncer.
 */
export class Membership {
  private readonly parts: MembershipParts;
  private readonly processId = randomUUID();
  /** Has a row, and has waited for whoever was alone. */
  private member = false;
  /** Was taken for gone, and is not back yet. */
  private lost = false;
  /** Nobody else takes requests before this process has shared what it knows. */
  private alone = false;
  /** On the stopwatch: until then nobody takes this process for gone. */
  private heldUntil = 0;
  private timer: NodeJS.Timeout | undefined;
  private renewing: Promise<void> | undefined;
  private changing: Promise<void> | undefined;
  private stopping = false;

  constructor(parts: MembershipParts) {
    this.parts = parts;
    parts.watch.subscribe(() => {
      if (this.timer) this.renew(); // who joins says so by a new epoch of the settings
      return Promise.resolve();
    });
  }

  /** True while no other process takes requests: what this one remembers need not be written down for others. */
  get isAlone(): boolean {
    return this.alone && this.isMember;
  }

  /** True while others know of this process. */
  get isMember(): boolean {
    return this.member && stopwatchMs() < this.heldUntil;
  }

  /** Joins, and waits until whoever was alone has shared what it knows. Throws when it is stopped meanwhile. */
  async start(): Promise<void> {
    const joining = this.join("its start");
    this.changing = joining.catch(this.failed);
    await joining;
    this.changing = undefined;
    if (!this.stopping) this.timer = setInterval(() => this.renew(), RENEW_MS).unref();
    await this.untilShared();
    if (this.stopping) throw new Error("stopped before it took requests");
    this.member = true;
  }

  /** Asks at once where this process stands; for whoever finds that it is no member just now. Gives whether it is one. */
  async ask(): Promise<boolean> {
    if (this.timer) this.renew();
    const late = new Promise<void>((resolve) => setTimeout(resolve, ASK_MS).unref());
    await Promise.race([late, (this.renewing ?? Promise.resolve()).then(() => this.changing)]);
    return this.isMember;
  }

  /** Leaves: who comes next need not wait, and who is left may be alone. */
  async stop(): Promise<void> {
    this.stopping = true;
    clearInterval(this.timer);
    this.timer = undefined;
    await this.renewing;
    await this.changing;
    this.member = false;
    await this.parts.database.query(leaving(this.processId));
  }

  private renew(): void {
    this.renewing ??= this.renewRow()
      .then((row) => {
        // What a change takes is not waited for: the row must stay alive meanwhile.
        this.changing ??= this.change(row)
          .catch(this.failed)
          .finally(() => {
            this.changing = undefined;
          });
      })
      .catch(this.failed)
      .finally(() => {
        this.renewing = undefined;
      });
  }

  private readonly failed = (error: unknown): void =>
    this.parts.log.warn({ err: error }, "membership could not be renewed or shared; the next round tries again");

  private async renewRow(): Promise<Standing | undefined> {
    const sent = stopwatchMs();
    const [row] = await this.parts.database.query<Standing>(renewal(this.processId));
    if (row) this.heldUntil = sent + LEASE_MS - MARGIN_MS;
    return row;
  }

  private async change(row: Standing | undefined): Promise<void> {
    if (this.stopping) return;
    if (!row || this.lost) await this.rejoin(row !== undefined);
    else if (!this.member) return; // it is just starting
    else if (row.accompanied && (row.alone || this.alone)) await this.share();
    else if (!row.accompanied && !(row.alone && this.alone)) await this.claim();
  }

  /** Others took this process for gone, and may have become alone since: it takes no request until all know of each other again. */
  private async rejoin(hasRow: boolean): Promise<void> {
    this.lost = true;
    this.member = false;
    this.alone = false;
    if (!hasRow) await this.join("others left");
    if (!this.alone) {
      await this.parts.handOver();
      await this.untilShared();
    }
    this.lost = false;
    this.member = true;
  }

  private async join(since: Since): Promise<void> {
    const sent = stopwatchMs();
    const [alone, gone] = await this.parts.database.transaction(async (query) => {
      await query(PATIENCE);
      await query(lock);
      const dead = await query(forgetGone);
      const [row] = await query<{ alone: boolean }>(entry(this.processId));
      if (row && !row.alone) await nextEpoch(query);
      return [row?.alone === true, dead.length > 0] as const;
    });
    this.heldUntil = sent + LEASE_MS - MARGIN_MS;
    // Who died, or was taken for dead, may have been among others just before.
    if (alone) await this.beAlone(gone ? "others left" : since);
  }

  /** All others have gone. */
  private async claim(): Promise<void> {
    const alone = await this.parts.database.transaction(async (query) => {
      await query(PATIENCE);
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
    await this.parts.handOver();
    await this.parts.database.query(sharing(this.processId));
  }

  /** Waits until no other process is alone, or this one is to stop. */
  private async untilShared(): Promise<void> {
    const begun = stopwatchMs();
    for (let told = false; !this.stopping && !this.alone && (await this.isAnotherAlone());) {
      if (!told && stopwatchMs() - begun > 1_000) {
        told = true;
        this.parts.log.info("waiting for another process, which may have died, to share what it knows");
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
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

interface Standing extends Row {
  alone: boolean;
  accompanied: boolean;
}

/** Who is stopped in the middle of joining holds up everybody no longer than this. */
const PATIENCE: Statement = { text: "set local idle_in_transaction_session_timeout = '2s'" };
const LEASE = `interval '${LEASE_MS} milliseconds'`;
const lock: Statement = { text: "lock table api_processes in share row exclusive mode" };

const forgetGone: Statement = {
  text: "delete from api_processes where alive_until < clock_timestamp() returning process_id",
};

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
