// The concurrency limiter decides which calls may be in flight at the same time. A host that answers slowly or not at all holds few slots, however
// many deliveries are due to it. Retries leave capacity for first attempts, and no number of merchants takes all slots. No I/O.

import type { AttemptKind } from "../events/claim.sql.ts";
import { KeyedCount } from "../ground/keyed-count.ts";

/** The health of a host by its last call: `healthy` if it ended soon, `slow` if late, `failing` if no answer came in time, `unknown` before any. */
export type HostHealth = "healthy" | "slow" | "unknown" | "failing";
type Unhealthy = Exclude<HostHealth, "healthy">;

interface SlotLimits {
  /** Calls in flight at the same time, in all. */
  all: number;
  /** Retries among these calls. */
  retry: number;
  /** Calls to one host of this health. */
  host: Record<HostHealth, number>;
  /** Calls to all hosts of this health together. */
  shared: Record<Unhealthy, number>;
}

export const slotLimits: SlotLimits = {
  all: 512,
  retry: 256,
  host: { healthy: 32, slow: 16, unknown: 4, failing: 16 },
  shared: { slow: 128, unknown: 128, failing: 64 },
};

/** A call that ends within this time leaves its host healthy whatever the result, because it held no slot for long. */
export const QUICK_MS = 1_000;

export interface SlotRequest {
  host: string;
  merchantUuid: string;
  first: boolean;
}

/** A slot that is held until `release`. */
export interface Slot extends SlotRequest {
  /** The host's health when the slot was taken. The slot counts against the limit of this health until its release. */
  health: HostHealth;
  /** Stopwatch time. */
  takenAtMs: number;
}

interface Host {
  health: HostHealth;
  /** The oldest first. */
  slots: Set<Slot>;
}

/** What a merchant may still take of a limit on slots or places: it may not have more than stays free. */
export function leftFor(merchantUuid: string, count: KeyedCount, limit: number): number {
  return limit - count.inAll - count.of(merchantUuid);
}

/**
 * How many slots or places a merchant can still take one after another: at most what is left for the host. Each one taken adds one to the merchant's
 * own and takes one from the free ones, so it takes two from what `leftFor` gives; and three where what the host holds is taken off as well, as
 * with hosts that are not healthy.
 */
export function capacityLeft(ofHost: number, ofAll: number, ofShared: number): number {
  return Math.max(0, Math.min(ofHost, Math.ceil(ofAll / 2), Math.ceil(ofShared / 3)));
}

/** Beyond this number of hosts, the limiter forgets those with no call in flight. */
const HOSTS_MAX = 10_000;

export class ConcurrencyLimiter {
  private readonly limits: SlotLimits;
  private readonly hosts = new Map<string, Host>();
  private readonly all = new KeyedCount();
  /** Slots that count against `shared`, by the health for which they were taken. */
  private readonly unhealthy: Record<Unhealthy, KeyedCount> = {
    slow: new KeyedCount(),
    unknown: new KeyedCount(),
    failing: new KeyedCount(),
  };
  private retries = 0;

  constructor(limits: SlotLimits = slotLimits) {
    this.limits = limits;
  }

  hostsByHealth(nowMs: number): Record<HostHealth, number> {
    const count = { healthy: 0, slow: 0, unknown: 0, failing: 0 };
    for (const host of this.hosts.values()) count[healthOf(host, nowMs)]++;
    return count;
  }

  get inFlight(): number {
    return this.all.inAll;
  }

  /** Number of free slots for a kind of attempt, all hosts together. */
  capacity(which: AttemptKind): number {
    const free = this.limits.all - this.all.inAll;
    return which === "first" ? free : Math.min(free, this.limits.retry - this.retries);
  }

  /**
   * Takes a slot, or gives undefined when there is none for this request.
   *
   * A merchant never holds more slots than stay free: a single merchant gets half of them, each of three a quarter, and some are always free for
   * the next. The same holds within the shared limit of hosts that are not healthy, where the host's own slots count too: the first call to one
   * host comes before the second call to another, and a host may have several while no other needs them.
   */
  acquire({ host, merchantUuid, first }: SlotRequest, nowMs: number): Slot | undefined {
    if (this.capacity(first ? "first" : "retry") <= 0 || this.capacityAt(host, nowMs, merchantUuid) === 0)
      return undefined;
    const state = this.hosts.get(host) ?? { health: "unknown", slots: new Set<Slot>() };
    const health = healthOf(state, nowMs);
    const slot = { host, merchantUuid, first, health, takenAtMs: nowMs };
    this.hosts.delete(host);
    this.hosts.set(host, state); // moves the host to the end: `forget` drops the least recently used host first
    state.slots.add(slot);
    this.count(slot, 1);
    this.forget();
    return slot;
  }

  /** Releases a slot. `found` is the host's health from now on; undefined when the host was not called. */
  release(slot: Slot, found: HostHealth | undefined): void {
    const state = this.hosts.get(slot.host);
    if (!state?.slots.delete(slot)) return;
    this.count(slot, -1);
    if (found !== undefined) state.health = found;
  }

  healthOf(host: string, nowMs: number): HostHealth {
    const state = this.hosts.get(host);
    return state ? healthOf(state, nowMs) : "unknown";
  }

  /** Number of slots that a merchant, or one that holds none, can still acquire at a host. */
  capacityAt(host: string, nowMs: number, merchantUuid = ""): number {
    const health = this.healthOf(host, nowMs);
    const held = this.hosts.get(host)?.slots.size ?? 0;
    const { all, shared, host: perHost } = this.limits;
    const ofShared =
      health === "healthy" ? Infinity : leftFor(merchantUuid, this.unhealthy[health], shared[health]) - held;
    return capacityLeft(perHost[health] - held, leftFor(merchantUuid, this.all, all), ofShared);
  }

  /** Hosts with calls in flight, each with the merchants of those calls. */
  inFlightByHost(): Map<string, Set<string>> {
    const byHost = new Map<string, Set<string>>();
    for (const [host, { slots }] of this.hosts)
      if (slots.size > 0) byHost.set(host, new Set([...slots].map(({ merchantUuid }) => merchantUuid)));
    return byHost;
  }

  private count({ merchantUuid, first, health }: Slot, slots: 1 | -1): void {
    this.all.add(merchantUuid, slots);
    if (health !== "healthy") this.unhealthy[health].add(merchantUuid, slots);
    if (!first) this.retries += slots;
  }

  private forget(): void {
    if (this.hosts.size <= HOSTS_MAX) return;
    for (const [host, { slots }] of this.hosts) {
      if (slots.size > 0) continue;
      this.hosts.delete(host);
      return;
    }
  }
}

/** Current health: a healthy host is already slow when its oldest call in flight has taken longer than QUICK_MS. */
function healthOf({ health, slots }: Host, nowMs: number): HostHealth {
  const [oldest] = slots;
  return health === "healthy" && oldest && nowMs - oldest.takenAtMs > QUICK_MS ? "slow" : health;
}
