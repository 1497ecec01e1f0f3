// The concurrency limiter: which calls may be in flight at the same time. A host that does not answer, or answers slowly, holds few
// slots, however much is due to it. Later attempts never take the capacity of first ones, and no merchants, however many, take everything.
// No I/O.

import type { AttemptKind } from "../events/claim.sql.ts";

/**
 * How the last call to a host went: `healthy` ended soon, `slow` was answered late, `failing` was not answered in time,
 * `unknown` was never called.
 */
export type HostHealth = "healthy" | "slow" | "unknown" | "failing";
type Unhealthy = Exclude<HostHealth, "healthy">;

export interface SlotLimits {
  /** In flight at the same time, in all. */
  all: number;
  /** Of them, attempts that are not the first. */
  retry: number;
  /** At one host. */
  host: Record<HostHealth, number>;
  /** At all hosts of this health together. */
  shared: Record<Unhealthy, number>;
}

export const slotLimits: SlotLimits = {
  all: 512,
  retry: 256,
  host: { healthy: 32, slow: 16, unknown: 4, failing: 16 },
  shared: { slow: 128, unknown: 128, failing: 64 },
};

/** A call that ends sooner held no slot for long, whatever it ended with. */
export const QUICK_MS = 1_000;

export interface SlotRequest {
  host: string;
  merchantId: string;
  first: boolean;
}

/** A slot that is held, until `release`. */
export interface Slot extends SlotRequest {
  /** The host's health when the slot was taken: it counts there until it is released. */
  health: HostHealth;
  /** By the stopwatch. */
  takenAtMs: number;
}

interface Host {
  health: HostHealth;
  /** The oldest first. */
  slots: Set<Slot>;
}

/** Slots of one kind, counted by merchant. */
class SlotCount {
  taken = 0;
  private readonly merchants = new Map<string, number>();

  of(merchantId: string): number {
    return this.merchants.get(merchantId) ?? 0;
  }

  add(merchantId: string, slots: 1 | -1): void {
    this.taken += slots;
    const own = this.of(merchantId) + slots;
    if (own > 0) this.merchants.set(merchantId, own);
    else this.merchants.delete(merchantId);
  }
}

/** More hosts than this are not remembered while nothing is in flight to them. */
const HOSTS_MAX = 10_000;

export class ConcurrencyLimiter {
  private readonly limits: SlotLimits;
  private readonly hosts = new Map<string, Host>();
  private readonly all = new SlotCount();
  private readonly kinds: Record<Unhealthy, SlotCount> = {
    slow: new SlotCount(),
    unknown: new SlotCount(),
    failing: new SlotCount(),
  };
  private retries = 0;

  constructor(limits: SlotLimits = slotLimits) {
    this.limits = limits;
  }

  /** How many of the hosts that are remembered are of each health. */
  hostsByHealth(nowMs: number): Record<HostHealth, number> {
    const count = { healthy: 0, slow: 0, unknown: 0, failing: 0 };
    for (const host of this.hosts.values()) count[healthOf(host, nowMs)]++;
    return count;
  }

  get inFlight(): number {
    return this.all.taken;
  }

  /** How many more slots are free in all. */
  capacity(which: AttemptKind): number {
    const free = this.limits.all - this.all.taken;
    return which === "first" ? free : Math.min(free, this.limits.retry - this.retries);
  }

  /**
   * Takes a slot, or gives undefined when there is none for this request.
   *
   * A merchant never has more slots than are left for others: so one alone gets half of them, each of three a quarter, and
   * there are always some for the next one. The same holds among hosts that are not healthy, where what a host has already
   * counts once more: the first call of a host comes before the second of another, and a host may have several while nobody
   * else needs them.
   */
  acquire({ host, merchantId, first }: SlotRequest, nowMs: number): Slot | undefined {
    if (this.capacity(first ? "first" : "retry") <= 0 || this.capacityAt(host, nowMs, merchantId) === 0)
      return undefined;
    const state = this.hosts.get(host) ?? { health: "unknown", slots: new Set<Slot>() };
    const health = healthOf(state, nowMs);
    const slot = { host, merchantId, first, health, takenAtMs: nowMs };
    this.hosts.delete(host);
    this.hosts.set(host, state); // the newest last: what is forgotten first is what was longest unused
    state.slots.add(slot);
    this.count(slot, 1);
    this.forget();
    return slot;
  }

  /** Gives a slot back. `found` is the host's health from now on; undefined when it was not called. */
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

  /**
   * How many more slots there are at a host: for a merchant, whose share counts too, or for any that holds none.
   * In closed form what `acquire` gives one by one: each slot taken is one more of its own, and one less that is left.
   */
  capacityAt(host: string, nowMs: number, merchantId = ""): number {
    const health = this.healthOf(host, nowMs);
    const held = this.hosts.get(host)?.slots.size ?? 0;
    const rooms = [
      this.limits.host[health] - held,
      Math.ceil((this.capacity("first") - this.all.of(merchantId)) / 2),
      ...(health === "healthy" ? [] : [Math.ceil((this.left(health) - this.kinds[health].of(merchantId) - held) / 3)]),
    ];
    return Math.max(0, Math.min(...rooms));
  }

  /** Hosts with calls in flight, each with the merchants whose calls they are. */
  inFlightByHost(): Map<string, Set<string>> {
    const byHost = new Map<string, Set<string>>();
    for (const [host, { slots }] of this.hosts)
      if (slots.size > 0) byHost.set(host, new Set([...slots].map(({ merchantId }) => merchantId)));
    return byHost;
  }

  private left(health: Unhealthy): number {
    return this.limits.shared[health] - this.kinds[health].taken;
  }

  private count({ merchantId, first, health }: Slot, slots: 1 | -1): void {
    this.all.add(merchantId, slots);
    if (health !== "healthy") this.kinds[health].add(merchantId, slots);
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

/** A host whose oldest call has taken long by now is slow already, whatever its calls were like before. */
function healthOf({ health, slots }: Host, nowMs: number): HostHealth {
  const [oldest] = slots;
  return health === "healthy" && oldest && nowMs - oldest.takenAtMs > QUICK_MS ? "slow" : health;
}
