// Seats: who may be on the way at the same time. A host that does not answer, or answers slowly, holds few seats, whatever it
// is owed; later attempts never take the room of first ones; no merchants, however many, take everything. Pure but for what
// it remembers.

/**
 * What a host was like the last time: `proven` ended its call soon, `slow` answered and took its time, `suspect` left us
 * waiting, `unproven` was never called.
 */
export type Standing = "proven" | "slow" | "unproven" | "suspect";
type Doubtful = Exclude<Standing, "proven">;

export interface SeatLimits {
  /** On the way at the same time, in all. */
  all: number;
  /** Of them, attempts that are not the first. */
  again: number;
  /** At one host. */
  host: Record<Standing, number>;
  /** At all hosts that stand so, together. */
  together: Record<Doubtful, number>;
}

export const seatLimits: SeatLimits = {
  all: 512,
  again: 256,
  host: { proven: 32, slow: 16, unproven: 4, suspect: 16 },
  together: { slow: 128, unproven: 128, suspect: 64 },
};

/** A call that ends sooner held no seat for long, whatever it ended with. */
export const QUICK_MS = 1_000;

export interface Passenger {
  host: string;
  merchantId: string;
  first: boolean;
}

/** A seat that was taken; it is given back with this. */
export interface Seat extends Passenger {
  /** How its host stood when it was taken: it counts there until it is given back. */
  standing: Standing;
  /** By the stopwatch. */
  takenAtMs: number;
}

interface Host {
  standing: Standing;
  /** The oldest first. */
  seats: Set<Seat>;
}

/** Seats of one kind, and of whom they are. */
class Bench {
  taken = 0;
  private readonly merchants = new Map<string, number>();

  of(merchantId: string): number {
    return this.merchants.get(merchantId) ?? 0;
  }

  add(merchantId: string, seats: 1 | -1): void {
    this.taken += seats;
    const own = this.of(merchantId) + seats;
    if (own > 0) this.merchants.set(merchantId, own);
    else this.merchants.delete(merchantId);
  }
}

/** More hosts than this are not remembered while nothing is on the way to them. */
const HOSTS_MAX = 10_000;

export class Seats {
  private readonly limits: SeatLimits;
  private readonly hosts = new Map<string, Host>();
  private readonly all = new Bench();
  private readonly kinds: Record<Doubtful, Bench> = { slow: new Bench(), unproven: new Bench(), suspect: new Bench() };
  private again = 0;

  constructor(limits: SeatLimits = seatLimits) {
    this.limits = limits;
  }

  get onTheWay(): number {
    return this.all.taken;
  }

  /** How many more may be asked for. */
  room(which: "first" | "again"): number {
    const free = this.limits.all - this.all.taken;
    return which === "first" ? free : Math.min(free, this.limits.again - this.again);
  }

  /**
   * Takes a seat, or gives undefined when there is none for this one.
   *
   * A merchant never has more seats than are left for others: so one alone gets half of them, each of three a quarter, and
   * there are always some for who comes next. The same holds among hosts that are in doubt, where what a host has already
   * counts once more: the first call of a host comes before the second of another, and a host may have several while nobody
   * else needs them.
   */
  take({ host, merchantId, first }: Passenger, nowMs: number): Seat | undefined {
    if (this.room(first ? "first" : "again") <= 0 || this.roomAt(host, nowMs, merchantId) === 0) return undefined;
    const state = this.hosts.get(host) ?? { standing: "unproven", seats: new Set<Seat>() };
    const standing = standingOf(state, nowMs);
    const seat = { host, merchantId, first, standing, takenAtMs: nowMs };
    this.hosts.delete(host);
    this.hosts.set(host, state); // the newest last: what is forgotten first is what was longest unused
    state.seats.add(seat);
    this.count(seat, 1);
    this.forget();
    return seat;
  }

  /** Gives a seat back; `found` tells how the host stands from now on; undefined when it was not called. */
  leave(seat: Seat, found: Standing | undefined): void {
    const state = this.hosts.get(seat.host);
    if (!state?.seats.delete(seat)) return;
    this.count(seat, -1);
    if (found !== undefined) state.standing = found;
  }

  /** How a host stands. */
  standingOf(host: string, nowMs: number): Standing {
    const state = this.hosts.get(host);
    return state ? standingOf(state, nowMs) : "unproven";
  }

  /**
   * How many more seats there are at a host: for one of its merchants, whose share counts too, or for any that holds none.
   * In closed form what `take` gives one by one: each seat taken is one more of its own, and one less that is left.
   */
  roomAt(host: string, nowMs: number, merchantId = ""): number {
    const standing = this.standingOf(host, nowMs);
    const held = this.hosts.get(host)?.seats.size ?? 0;
    const rooms = [
      this.limits.host[standing] - held,
      Math.ceil((this.room("first") - this.all.of(merchantId)) / 2),
      ...(standing === "proven"
        ? []
        : [Math.ceil((this.left(standing) - this.kinds[standing].of(merchantId) - held) / 3)]),
    ];
    return Math.max(0, Math.min(...rooms));
  }

  /** Hosts that something is on the way to, each with the merchants whose it is. */
  busy(): Map<string, Set<string>> {
    const busy = new Map<string, Set<string>>();
    for (const [host, { seats }] of this.hosts)
      if (seats.size > 0) busy.set(host, new Set([...seats].map(({ merchantId }) => merchantId)));
    return busy;
  }

  private left(standing: Doubtful): number {
    return this.limits.together[standing] - this.kinds[standing].taken;
  }

  private count({ merchantId, first, standing }: Seat, seats: 1 | -1): void {
    this.all.add(merchantId, seats);
    if (standing !== "proven") this.kinds[standing].add(merchantId, seats);
    if (!first) this.again += seats;
  }

  private forget(): void {
    if (this.hosts.size <= HOSTS_MAX) return;
    for (const [host, { seats }] of this.hosts) {
      if (seats.size > 0) continue;
      this.hosts.delete(host);
      return;
    }
  }
}

/** A host whose oldest call has taken long by now is slow already, whatever its calls were like before. */
function standingOf({ standing, seats }: Host, nowMs: number): Standing {
  const [oldest] = seats;
  return standing === "proven" && oldest && nowMs - oldest.takenAtMs > QUICK_MS ? "slow" : standing;
}
