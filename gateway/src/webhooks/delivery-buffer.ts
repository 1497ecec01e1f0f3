// The anteroom: deliveries that were claimed and found no seat yet. They keep their leases and go in as soon as a seat of their
// host is free; those that would wait too long are given back. Pure but for what it remembers.
import type { Micros } from "../ground/clock.ts";
import type { Standing } from "./concurrency-limiter.ts";

export interface Waiting<Row> {
  host: string;
  merchantId: string;
  row: Row;
  token: string;
  claimedAt: Micros;
}

export interface AnteroomLimits {
  /** All that may wait at the same time. */
  all: number;
  /** Of them, for hosts that were not proven when they came: the rest is kept for bursts at hosts that answer. */
  doubtful: number;
  /** For one host: about as many as leave within a lease. */
  line: Record<Standing, number>;
}

const anteroomLimits: AnteroomLimits = {
  all: 512,
  doubtful: 192,
  line: { proven: 128, slow: 16, unproven: 16, suspect: 16 },
};
/** Of so many other hosts those that wait are looked at when a seat becomes free. */
const TURNS = 8;

const nobody = { all: 0, doubtful: 0 };

type Entry<Row> = Waiting<Row> & { doubtful: boolean };

export class Anteroom<Row> {
  /** Hosts in the order in which they are looked at; each with its deliveries, the oldest first. */
  private readonly hosts = new Map<string, Entry<Row>[]>();
  private readonly merchants = new Map<string, { all: number; doubtful: number }>();
  private readonly limits: AnteroomLimits;
  private count = 0;
  private doubtful = 0;

  constructor(limits: AnteroomLimits = anteroomLimits) {
    this.limits = limits;
  }

  /** How many wait for a host. */
  waitingFor(host: string): number {
    return this.hosts.get(host)?.length ?? 0;
  }

  get size(): number {
    return this.count;
  }

  /** Hosts that something waits for, each with the merchants whose it is. */
  awaited(): Map<string, Set<string>> {
    return new Map([...this.hosts].map(([host, line]) => [host, new Set(line.map(({ merchantId }) => merchantId))]));
  }

  /** How many more may wait for a host that stands so: of one merchant, whose share counts too, or of any that waits nowhere. */
  roomFor(host: string, standing: Standing, merchantId = ""): number {
    const waiting = this.waitingFor(host);
    const own = this.merchants.get(merchantId) ?? nobody;
    const rooms = [
      this.limits.line[standing] - waiting,
      Math.ceil((this.limits.all - this.count - own.all) / 2),
      ...(standing === "proven"
        ? []
        : [Math.ceil((this.limits.doubtful - this.doubtful - own.doubtful - waiting) / 3)]),
    ];
    return Math.max(0, Math.min(...rooms));
  }

  /** True while so few wait for a host that more should be on their way from the database. */
  isShort(host: string, standing: Standing): boolean {
    return this.waitingFor(host) <= this.limits.line[standing] / 4;
  }

  /** True while what was just made for a host may wait here: a burst may, a backlog may not. */
  isOpen(host: string, standing: Standing): boolean {
    return this.waitingFor(host) <= (this.limits.line[standing] * 3) / 4;
  }

  /**
   * Lets a delivery wait, or gives false when too many do: for its host, in all, or of its merchant, which never has more
   * places than are left for others. Places for hosts in doubt are shared among hosts as seats are.
   */
  add(waiting: Waiting<Row>, standing: Standing): boolean {
    const { host, merchantId } = waiting;
    const own = this.merchants.get(merchantId) ?? { ...nobody };
    const doubtful = standing !== "proven";
    if (this.roomFor(host, standing, merchantId) === 0) return false;
    const line = this.hosts.get(host) ?? [];
    line.push({ ...waiting, doubtful });
    this.hosts.set(host, line);
    this.count++;
    own.all++;
    if (doubtful) {
      this.doubtful++;
      own.doubtful++;
    }
    this.merchants.set(merchantId, own);
    return true;
  }

  /**
   * Lets in who may when a seat of a host is free: of some others in turn (what held them back may have been something else
   * than their host, and a host that has waited longer comes first), then of this one. `enter` takes a seat for the delivery
   * and gives whether there was one.
   */
  admit(host: string, enter: (waiting: Waiting<Row>) => boolean): void {
    const others = [...this.hosts.keys().take(TURNS)].filter((other) => other !== host);
    for (const next of [...others, host]) {
      const line = this.hosts.get(next);
      if (!line) continue;
      while (line[0] && enter(line[0])) this.left(line.shift());
      this.hosts.delete(next);
      if (line.length > 0) this.hosts.set(next, line); // behind the others
    }
  }

  /** Those that were claimed before a moment, and all of them without one. They wait no longer. */
  takeOut(claimedBefore?: Micros): Waiting<Row>[] {
    const out: Entry<Row>[] = [];
    for (const [host, line] of this.hosts) {
      const stay = claimedBefore === undefined ? [] : line.filter(({ claimedAt }) => claimedAt >= claimedBefore);
      out.push(...line.filter((waiting) => !stay.includes(waiting)));
      if (stay.length > 0) this.hosts.set(host, stay);
      else this.hosts.delete(host);
    }
    for (const waiting of out) this.left(waiting);
    return out;
  }

  private left(waiting: Entry<Row> | undefined): void {
    if (!waiting) return;
    const own = this.merchants.get(waiting.merchantId);
    this.count--;
    if (waiting.doubtful) this.doubtful--;
    if (!own) return;
    own.all--;
    if (waiting.doubtful) own.doubtful--;
    if (own.all === 0) this.merchants.delete(waiting.merchantId);
  }
}
