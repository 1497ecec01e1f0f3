// Admission: each valid signature is used once, and each client's requests are counted, in every process. A process that takes requests
// alone remembers both by itself; as soon as there is another one, both are in the database.
import { type Clock, type Micros, SECOND, stopwatchMs } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import type { Log } from "../ground/log.ts";
import type { Client } from "../merchants/directory.ts";
import { type Database, isConnectionLoss } from "../store/database.ts";
import type { SettingsWatch } from "../store/settings-watch.ts";
import { anyUsed, countedIn } from "./admission.sql.ts";
import { Membership, type Since } from "./membership.ts";
import { type Rate, RequestCounts, WINDOW_SECONDS, windowStart } from "./rate.ts";
import { SharedAdmission } from "./shared-admission.ts";
import { type Use, UsedSignatures } from "./used-signatures.ts";

export interface Admitted {
  /** The signature had been used before. */
  replayed: boolean;
  /** Requests of this client in the window, this one included. */
  count: number;
  rate: Rate;
  /** Of a write whose use only this process knows: what it has an effect on must write the use down. */
  owed?: Owed;
}

/** A use that is to be written down together with its effect. */
export interface Owed {
  use: Use;
  /** It is written down by now, or had no effect. More than once is once. */
  settle(): void;
}

/** A signature may be used 300 seconds before its timestamp and as long after it; and clocks of two processes differ a little. */
const GOOD_AT_MOST_SECONDS = 600 + 5;
/** 20 to 40 bytes each: beyond that they go to the database, as if there were others. */
const REMEMBERED_MAX = 1_500_000;
/** A signature that was accepted at the end of its time may come here a moment later. */
const GRACE_SECONDS = 5;
const COUNTS_MS = 1_000;
/** Commands that were admitted before have so long to be decided; if they are not, handing over is tried again. */
const DECIDED_MS = 15_000;
const STEP = 2_000;
/** A process that was taken for gone may wake up and commit what it had let in, and its clock may be ahead. */
const LINGERING: Micros = 10 * SECOND;

export interface AdmissionParts {
  database: Database;
  clock: Clock;
  log: Log;
  watch: SettingsWatch;
  /** How many uses memory is for. */
  rememberedMax?: number;
}

export class Admission {
  private readonly rememberedMax: number;
  private readonly database: Database;
  private readonly clock: Clock;
  private readonly log: Log;
  private readonly shared: SharedAdmission;
  private readonly membership: Membership;
  private readonly used = new UsedSignatures();
  private readonly counts = new RequestCounts();
  /** Uses good until then, or less, may be known to the database and not to this process's memory. */
  private readonly askedUntil = { read: 0, write: 0 };
  private forgottenAt = 0;
  private aloneFrom: Micros | undefined;
  /** Writes whose uses are owed. */
  private undecided = 0;
  private timer: NodeJS.Timeout | undefined;
  private counting: Promise<void> = Promise.resolve();

  constructor({ database, clock, log, watch, rememberedMax = REMEMBERED_MAX }: AdmissionParts) {
    this.rememberedMax = rememberedMax;
    this.database = database;
    this.clock = clock;
    this.log = log;
    this.shared = new SharedAdmission(database, clock);
    this.membership = new Membership({
      database,
      watch,
      log,
      takeOver: (since) => this.takeOver(since),
      handOver: () => this.handOver(),
    });
  }

  /** Whether no other process takes requests. */
  get alone(): boolean {
    return this.membership.isAlone;
  }

  /** Since when whatever requests have an effect are this process's; undefined while others' may. */
  get aloneSince(): Micros | undefined {
    return this.alone ? this.aloneFrom : undefined;
  }

  /** How many used signatures only this process knows of. */
  get remembered(): number {
    return this.used.size;
  }

  /** Resolves when requests may be taken: whoever took them alone knows of this process. */
  async start(): Promise<void> {
    await this.membership.start();
    let writing = false;
    this.timer = setInterval(() => {
      if (writing) return; // while the database hangs one waits, and not one for each second
      writing = true;
      this.writeCounts()
        .catch((error: unknown) => this.log.debug({ err: error }, "counts of requests could not be written"))
        .finally(() => (writing = false));
    }, COUNTS_MS);
    this.timer.unref();
  }

  /** After the last request. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    try {
      await this.writeCounts();
    } finally {
      await this.membership.stop();
    }
  }

  /**
   * Burns the signature and counts the request; at once where this process need ask nobody. Rejects with SERVICE_UNAVAILABLE when it cannot be
   * written down.
   */
  admit(client: Client, use: Use, kind: "read" | "write"): Admitted | Promise<Admitted> {
    if (!this.membership.isMember) return this.admitLater(client, use, kind);
    const now = Math.floor(this.clock.now() / SECOND);
    const start = windowStart(now);
    if (!this.membership.isAlone || this.used.size >= this.rememberedMax) this.askFrom(now, "read", "write");
    if (this.forgottenAt !== now) this.used.forgetBefore((this.forgottenAt = now) - GRACE_SECONDS);
    if (use.validUntil <= this.askedUntil[kind]) return this.ask(client, use);
    const replayed = !this.used.add(use);
    const owed = kind === "write" && !replayed ? this.owe(use) : undefined;
    return { ...admitted(client, replayed, this.counts.count(client, start), start), ...(owed && { owed }) };
  }

  /** Others may have taken this process for gone, and use the same signature themselves. */
  private async admitLater(client: Client, use: Use, kind: "read" | "write"): Promise<Admitted> {
    if (await this.membership.ask()) return this.admit(client, use, kind);
    throw new Fault("SERVICE_UNAVAILABLE", {
      retryAfterSeconds: 1,
      internal: "not a member of the processes that take requests",
    });
  }

  /** Writes a use down by itself. Throws SIGNATURE_REPLAYED when another process was faster. */
  async writeDown(use: Use): Promise<void> {
    const { burnt } = await this.shared.write([use], [], 0);
    if (burnt.size > 0) throw new Fault("SIGNATURE_REPLAYED");
  }

  private async ask(client: Client, use: Use): Promise<Admitted> {
    if (this.used.has(use)) {
      // Not asked: it would be written down, and be there before the command that owes it.
      const start = windowStart(Math.floor(this.clock.now() / SECOND));
      return admitted(client, true, this.counts.count(client, start), start);
    }
    const { replayed, count, start } = await this.shared.admit(client, use);
    return admitted(client, replayed, this.counts.learn(client.clientId, start, count), start);
  }

  private owe(use: Use): Owed {
    this.undecided++;
    let settled = false;
    return {
      use,
      settle: () => {
        if (!settled) this.undecided--;
        settled = true;
      },
    };
  }

  /** What is used until now is asked of the database as long as it may come again. */
  private askFrom(now: number, ...kinds: ("read" | "write")[]): void {
    for (const kind of kinds) this.askedUntil[kind] = now + GOOD_AT_MOST_SECONDS;
  }

  /** What was used and counted before is in the database; but for reads of a process that is gone: they had no effect, and are forgotten with it. */
  private async takeOver(since: Since): Promise<void> {
    this.aloneFrom = this.clock.now() + LINGERING;
    const now = Math.floor(this.clock.now() / SECOND);
    if (since === "others left") this.askFrom(now, "read", "write");
    else if (await this.isAnyUsed(now)) this.askFrom(now, "write");
    const start = windowStart(now);
    const rows = await this.database.query<{ client_id: string; requests: bigint }>(countedIn(start));
    for (const row of rows) this.counts.learn(row.client_id, start, Number(row.requests));
  }

  private async isAnyUsed(now: number): Promise<boolean> {
    const [before] = await this.database.query<{ found: boolean }>(anyUsed(now - GRACE_SECONDS));
    return before?.found !== false;
  }

  /** Another process is about to take requests, and waits for this. */
  private async handOver(): Promise<void> {
    // What a command is about to write down must not be there before it.
    for (const end = stopwatchMs() + DECIDED_MS; this.undecided > 0;) {
      if (stopwatchMs() > end) throw new Error("commands that owe their signatures are not decided yet");
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await this.writeCounts();
    for (const validUntil of this.used.seconds()) {
      const uses = [...this.used.usesOf(validUntil)];
      while (uses.length > 0) await this.shared.write(uses.splice(0, STEP), [], 0);
      this.used.drop(validUntil); // what is written need not be written again when the next one fails
    }
  }

  /** One writing after the other: totals must not come back in another order than they were made. */
  private writeCounts(): Promise<void> {
    const write = async (): Promise<void> => {
      for (let owed = this.counts.take(STEP); owed.requests.length > 0; owed = this.counts.take(STEP)) {
        try {
          const { totals } = await this.shared.write([], owed.requests, owed.start);
          for (const [clientId, total] of totals) this.counts.learn(clientId, owed.start, total);
        } catch (error) {
          // When the connection was lost they may be there: too few are better than a client refused too early.
          if (!isConnectionLoss(error)) this.counts.giveBack(owed);
          throw error;
        }
      }
    };
    this.counting = this.counting.then(write, write);
    return this.counting;
  }
}

function admitted(client: Client, replayed: boolean, count: number, start: number): Admitted {
  const limit = client.merchant.rateLimitPerMinute;
  return {
    replayed,
    count,
    rate: { limit, remaining: Math.max(0, limit - count), reset: start + WINDOW_SECONDS },
  };
}
