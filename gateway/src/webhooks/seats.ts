// Seats: who may be on the way at the same time. A host that does not answer holds few seats, whatever it is owed; later
// attempts never take the room of first ones; no merchant takes everything. Pure but for what it remembers.

export interface SeatLimits {
  /** On the way at the same time, in all. */
  all: number;
  /** Of them, attempts that are not the first. */
  again: number;
  merchant: number;
  /** Of a merchant's, at hosts that have not answered. */
  merchantDoubtful: number;
  /** At a host that answers; at one that never has yet; at one whose last call got no answer. */
  proven: number;
  unproven: number;
  suspect: number;
  /** At all hosts of a kind together. */
  unprovenTotal: number;
  suspectTotal: number;
}

export const seatLimits: SeatLimits = {
  all: 512,
  again: 256,
  merchant: 256,
  merchantDoubtful: 64,
  proven: 32,
  unproven: 4,
  suspect: 1,
  unprovenTotal: 192,
  suspectTotal: 64,
};

export interface Passenger {
  host: string;
  merchantId: string;
  first: boolean;
}

/** A seat that was taken; it is given back with this. */
export interface Seat extends Passenger {
  /** Taken at a host that had not answered by then. */
  doubtful: boolean;
}

export type Standing = "proven" | "unproven" | "suspect";

interface Host {
  standing: Standing;
  taken: number;
}

/** More hosts than this are not remembered while nothing is on the way to them. */
const HOSTS_MAX = 10_000;

export class Seats {
  private readonly limits: SeatLimits;
  private readonly hosts = new Map<string, Host>();
  private readonly merchants = new Map<string, { taken: number; doubtful: number }>();
  private readonly totals: Record<Standing, number> = { proven: 0, unproven: 0, suspect: 0 };
  private taken = 0;
  private again = 0;

  constructor(limits: SeatLimits = seatLimits) {
    this.limits = limits;
  }

  get onTheWay(): number {
    return this.taken;
  }

  /** How many more may be asked for. */
  room(which: "first" | "again"): number {
    const free = this.limits.all - this.taken;
    return which === "first" ? free : Math.min(free, this.limits.again - this.again);
  }

  /** Takes a seat, or gives undefined when there is none for this one. */
  take({ host, merchantId, first }: Passenger): Seat | undefined {
    if (this.room(first ? "first" : "again") <= 0) return undefined;
    const state = this.hosts.get(host) ?? { standing: "unproven", taken: 0 };
    const merchant = this.merchants.get(merchantId) ?? { taken: 0, doubtful: 0 };
    const doubtful = state.standing !== "proven";
    if (merchant.taken >= this.limits.merchant) return undefined;
    if (doubtful && merchant.doubtful >= this.limits.merchantDoubtful) return undefined;
    if (this.isFull(state)) return undefined;
    this.hosts.delete(host);
    this.hosts.set(host, state); // the newest last: what is forgotten first is what was longest unused
    state.taken++;
    this.totals[state.standing]++;
    this.taken++;
    if (!first) this.again++;
    merchant.taken++;
    if (doubtful) merchant.doubtful++;
    this.merchants.set(merchantId, merchant);
    this.forget();
    return { host, merchantId, first, doubtful };
  }

  /** Gives a seat back; `answered` tells whether the host answered, or failed at once; undefined when it was not called. */
  leave({ host, merchantId, first, doubtful }: Seat, answered: boolean | undefined): void {
    const state = this.hosts.get(host);
    const merchant = this.merchants.get(merchantId);
    if (!state || !merchant) return;
    state.taken--;
    this.totals[state.standing]--;
    this.taken--;
    if (!first) this.again--;
    merchant.taken--;
    if (doubtful) merchant.doubtful--;
    if (merchant.taken === 0) this.merchants.delete(merchantId);
    if (answered !== undefined) this.judge(state, answered ? "proven" : "suspect");
  }

  /** How many seats there are at a host, as it stands now. */
  limitOf(host: string): number {
    return this.limits[this.hosts.get(host)?.standing ?? "unproven"];
  }

  /** Hosts that take no more at this moment, so that nothing of theirs is asked for. */
  full(): string[] {
    return [...this.hosts].filter(([, state]) => this.isFull(state)).map(([host]) => host);
  }

  private isFull({ standing, taken }: Host): boolean {
    if (taken >= this.limits[standing]) return true;
    if (standing === "proven") return false;
    return this.totals[standing] >= (standing === "suspect" ? this.limits.suspectTotal : this.limits.unprovenTotal);
  }

  /** Whoever is still on the way to the host is counted where the host is now. */
  private judge(state: Host, standing: Standing): void {
    this.totals[state.standing] -= state.taken;
    state.standing = standing;
    this.totals[standing] += state.taken;
  }

  private forget(): void {
    if (this.hosts.size <= HOSTS_MAX) return;
    for (const [host, { taken }] of this.hosts) {
      if (taken > 0) continue;
      this.hosts.delete(host);
      return;
    }
  }
}
