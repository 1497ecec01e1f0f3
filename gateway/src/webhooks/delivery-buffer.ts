// The delivery buffer: claimed deliveries that wait for a slot. They keep their leases and are sent as soon as a slot of their
// host is free; those that would wait too long are given back. No I/O.
import type { Micros } from "../ground/clock.ts";
import type { HostHealth } from "./concurrency-limiter.ts";

/** A delivery that this process holds under a lease. */
export interface LeasedDelivery<Row> {
  host: string;
  merchantId: string;
  row: Row;
  token: string;
  claimedAt: Micros;
}

export interface BufferLimits {
  /** All that may wait at the same time. */
  all: number;
  /** Of them, for hosts that were not healthy when they were added: the rest is kept for bursts at healthy hosts. */
  unhealthy: number;
  /** For one host: about as many as are sent while a delivery may wait. */
  perHost: Record<HostHealth, number>;
}

const bufferLimits: BufferLimits = {
  all: 512,
  unhealthy: 192,
  perHost: { healthy: 128, slow: 16, unknown: 16, failing: 16 },
};
/** So many other hosts are tried when a slot becomes free. */
const OTHERS_MAX = 8;

const none = { all: 0, unhealthy: 0 };

type Entry<Row> = LeasedDelivery<Row> & { unhealthy: boolean };

export class DeliveryBuffer<Row> {
  /** Hosts in the order in which they are tried; each with its deliveries, the oldest first. */
  private readonly hosts = new Map<string, Entry<Row>[]>();
  private readonly merchants = new Map<string, { all: number; unhealthy: number }>();
  private readonly limits: BufferLimits;
  private count = 0;
  private unhealthy = 0;

  constructor(limits: BufferLimits = bufferLimits) {
    this.limits = limits;
  }

  /** How many wait for a host. */
  waitingFor(host: string): number {
    return this.hosts.get(host)?.length ?? 0;
  }

  get size(): number {
    return this.count;
  }

  /** Hosts with waiting deliveries, each with the merchants whose deliveries they are. */
  waitingByHost(): Map<string, Set<string>> {
    return new Map([...this.hosts].map(([host, queue]) => [host, new Set(queue.map(({ merchantId }) => merchantId))]));
  }

  /** How many more may wait for a host of this health: of a merchant, whose share counts too, or of any that has nothing waiting. */
  capacityFor(host: string, health: HostHealth, merchantId = ""): number {
    const waiting = this.waitingFor(host);
    const own = this.merchants.get(merchantId) ?? none;
    const capacities = [
      this.limits.perHost[health] - waiting,
      Math.ceil((this.limits.all - this.count - own.all) / 2),
      ...(health === "healthy"
        ? []
        : [Math.ceil((this.limits.unhealthy - this.unhealthy - own.unhealthy - waiting) / 3)]),
    ];
    return Math.max(0, Math.min(...capacities));
  }

  /** True while so few wait for a host that more should be on their way from the database. */
  isLow(host: string, health: HostHealth): boolean {
    return this.waitingFor(host) <= this.limits.perHost[health] / 4;
  }

  /** True while a delivery that is just being written may wait here for a host: a burst may, a backlog may not. */
  hasCapacityForNew(host: string, health: HostHealth): boolean {
    return this.waitingFor(host) <= (this.limits.perHost[health] * 3) / 4;
  }

  /**
   * Adds a delivery, or gives false when too many wait: for its host, in all, or of its merchant, which never has more
   * places than are left for others. Places for hosts that are not healthy are shared among hosts as slots are.
   */
  add(waiting: LeasedDelivery<Row>, health: HostHealth): boolean {
    const { host, merchantId } = waiting;
    const own = this.merchants.get(merchantId) ?? { ...none };
    const unhealthy = health !== "healthy";
    if (this.capacityFor(host, health, merchantId) === 0) return false;
    const queue = this.hosts.get(host) ?? [];
    queue.push({ ...waiting, unhealthy });
    this.hosts.set(host, queue);
    this.count++;
    own.all++;
    if (unhealthy) {
      this.unhealthy++;
      own.unhealthy++;
    }
    this.merchants.set(merchantId, own);
    return true;
  }

  /**
   * Sends what can be sent when a slot of a host is free: of some other hosts in turn (what held them back may have been another limit
   * than their host's, and a host that has waited longer comes first), then of this one. `send` takes a slot for the delivery and
   * gives whether there was one.
   */
  drain(host: string, send: (waiting: LeasedDelivery<Row>) => boolean): void {
    const others = [...this.hosts.keys().take(OTHERS_MAX)].filter((other) => other !== host);
    for (const next of [...others, host]) {
      const queue = this.hosts.get(next);
      if (!queue) continue;
      while (queue[0] && send(queue[0])) this.uncount(queue.shift());
      this.hosts.delete(next);
      if (queue.length > 0) this.hosts.set(next, queue); // behind the others
    }
  }

  /** Every delivery that waits. */
  all(): LeasedDelivery<Row>[] {
    return [...this.hosts.values()].flat();
  }

  /** Removes those that were claimed before a moment, or all without one. */
  remove(claimedBefore?: Micros): LeasedDelivery<Row>[] {
    const out: Entry<Row>[] = [];
    for (const [host, queue] of this.hosts) {
      const stay = claimedBefore === undefined ? [] : queue.filter(({ claimedAt }) => claimedAt >= claimedBefore);
      out.push(...queue.filter((waiting) => !stay.includes(waiting)));
      if (stay.length > 0) this.hosts.set(host, stay);
      else this.hosts.delete(host);
    }
    for (const waiting of out) this.uncount(waiting);
    return out;
  }

  private uncount(waiting: Entry<Row> | undefined): void {
    if (!waiting) return;
    const own = this.merchants.get(waiting.merchantId);
    this.count--;
    if (waiting.unhealthy) this.unhealthy--;
    if (!own) return;
    own.all--;
    if (waiting.unhealthy) own.unhealthy--;
    if (own.all === 0) this.merchants.delete(waiting.merchantId);
  }
}
