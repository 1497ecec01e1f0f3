// The delivery buffer holds claimed deliveries that wait for a slot. They keep their leases and are sent as soon as their host has
// a free slot; deliveries that wait too long are given back. No I/O.
import type { Micros } from "../ground/clock.ts";
import { KeyedCount } from "../ground/keyed-count.ts";
import { type HostHealth, capacityLeft, leftFor } from "./concurrency-limiter.ts";

/** A delivery that this process holds under a lease. */
export interface LeasedDelivery<Row> {
  host: string;
  merchantUuid: string;
  row: Row;
  token: string;
  claimedAt: Micros;
}

interface BufferLimits {
  /** Deliveries that may wait at the same time, in all. */
  all: number;
  /** Deliveries among them whose host was not healthy when they were added: the rest is reserved for bursts at healthy hosts. */
  unhealthy: number;
  /** Deliveries for one host: about as many as the host takes in the time that a delivery may wait. */
  perHost: Record<HostHealth, number>;
}

const bufferLimits: BufferLimits = {
  all: 512,
  unhealthy: 192,
  perHost: { healthy: 128, slow: 16, unknown: 16, failing: 16 },
};
/** Number of other hosts that are tried when a slot becomes free. */
const OTHERS_MAX = 8;

type Entry<Row> = LeasedDelivery<Row> & { unhealthy: boolean };

export class DeliveryBuffer<Row> {
  /** Hosts in the order in which they are tried; each with its deliveries, the oldest first. */
  private readonly hosts = new Map<string, Entry<Row>[]>();
  private readonly count = new KeyedCount();
  private readonly unhealthy = new KeyedCount();
  private readonly limits: BufferLimits;

  constructor(limits: BufferLimits = bufferLimits) {
    this.limits = limits;
  }

  waitingFor(host: string): number {
    return this.hosts.get(host)?.length ?? 0;
  }

  get size(): number {
    return this.count.inAll;
  }

  /** Hosts with waiting deliveries, each with the merchants of those deliveries. */
  waitingByHost(): Map<string, Set<string>> {
    return new Map(
      [...this.hosts].map(([host, queue]) => [host, new Set(queue.map(({ merchantUuid }) => merchantUuid))]),
    );
  }

  /** Number of free places for a host of this health, for a merchant or, without one, for a merchant with no waiting delivery. */
  capacityFor(host: string, health: HostHealth, merchantUuid = ""): number {
    const waiting = this.waitingFor(host);
    const { all, unhealthy, perHost } = this.limits;
    const ofShared = health === "healthy" ? Infinity : leftFor(merchantUuid, this.unhealthy, unhealthy) - waiting;
    return capacityLeft(perHost[health] - waiting, leftFor(merchantUuid, this.count, all), ofShared);
  }

  /** True while so few deliveries wait for a host that more should be claimed. */
  isLow(host: string, health: HostHealth): boolean {
    return this.waitingFor(host) <= this.limits.perHost[health] / 4;
  }

  /** True while direct dispatch may add deliveries for a host: up to three quarters of its places, enough for a burst. */
  hasCapacityForNew(host: string, health: HostHealth): boolean {
    return this.waitingFor(host) <= (this.limits.perHost[health] * 3) / 4;
  }

  /**
   * Adds a delivery, or gives false when its host, the buffer or its merchant has no place left. A merchant never has more places than
   * stay free. Hosts that are not healthy share their places as they share slots: see `ConcurrencyLimiter.acquire`.
   */
  add(waiting: LeasedDelivery<Row>, health: HostHealth): boolean {
    const { host, merchantUuid } = waiting;
    if (this.capacityFor(host, health, merchantUuid) === 0) return false;
    const entry = { ...waiting, unhealthy: health !== "healthy" };
    this.hosts.getOrInsert(host, []).push(entry);
    this.recount(entry, 1);
    return true;
  }

  /**
   * Sends waiting deliveries after a slot of a host became free: first those of up to `OTHERS_MAX` other hosts, the longest waiting first,
   * because a shared limit may have held them back, then those of this host. `send` takes a slot for the delivery, or gives false.
   */
  drain(host: string, send: (waiting: LeasedDelivery<Row>) => boolean): void {
    const others = [...this.hosts.keys().take(OTHERS_MAX)].filter((other) => other !== host);
    for (const next of [...others, host]) {
      const queue = this.hosts.get(next);
      if (!queue) continue;
      while (queue[0] && send(queue[0])) this.recount(queue.shift() as Entry<Row>, -1);
      this.hosts.delete(next);
      if (queue.length > 0) this.hosts.set(next, queue); // at the end of the order
    }
  }

  all(): LeasedDelivery<Row>[] {
    return [...this.hosts.values()].flat();
  }

  /** Removes and gives the deliveries that were claimed before a moment; without one, all deliveries. */
  remove(claimedBefore?: Micros): LeasedDelivery<Row>[] {
    const out: Entry<Row>[] = [];
    for (const [host, queue] of this.hosts) {
      const stay = claimedBefore === undefined ? [] : queue.filter(({ claimedAt }) => claimedAt >= claimedBefore);
      out.push(...queue.filter((waiting) => !stay.includes(waiting)));
      if (stay.length > 0) this.hosts.set(host, stay);
      else this.hosts.delete(host);
    }
    for (const waiting of out) this.recount(waiting, -1);
    return out;
  }

  private recount({ merchantUuid, unhealthy }: Entry<Row>, change: 1 | -1): void {
    this.count.add(merchantUuid, change);
    if (unhealthy) this.unhealthy.add(merchantUuid, change);
  }
}
