// Compares two routing tables over past payments. Pure: it routes the payments again and changes nothing.
import type { Minor } from "../ground/money.ts";
import type { CostOf } from "./costs.ts";
import { type RoutingRequest, type RoutingTable, route } from "./routing.ts";

/** How many payments go to an acquirer under each table; `code` is undefined for payments that no acquirer would take. */
export interface Share {
  code: string | undefined;
  before: number;
  after: number;
}

/** What the acquirers charge for all payments of a currency under each table; an unknown cost adds nothing. */
export interface Cost {
  currency: string;
  beforeMinor: Minor;
  afterMinor: Minor;
}

export interface Change {
  request: RoutingRequest;
  before: string | undefined;
  after: string | undefined;
}

const EXAMPLES_MAX = 20;

/** Compares two tables, payment by payment, in their choices and in what the acquirers charge. */
export class Preview {
  payments = 0;
  changed = 0;
  /** The first changes, at most EXAMPLES_MAX. */
  readonly examples: Change[] = [];
  private readonly before: RoutingTable;
  private readonly after: RoutingTable;
  private readonly costOf: CostOf;
  private readonly shareOf = new Map<string | undefined, Share>();
  private readonly costIn = new Map<string, Cost>();

  constructor(before: RoutingTable, after: RoutingTable, costOf: CostOf) {
    this.before = before;
    this.after = after;
    this.costOf = costOf;
  }

  /** Sorted by code; payments that no acquirer would take come last. */
  get shares(): Share[] {
    return [...this.shareOf.values()].toSorted((a, b) => ((a.code ?? "~") < (b.code ?? "~") ? -1 : 1));
  }

  get costs(): Cost[] {
    return [...this.costIn.values()].toSorted((a, b) => (a.currency < b.currency ? -1 : 1));
  }

  add(request: RoutingRequest): void {
    const before = route(this.before, request).chosen;
    const after = route(this.after, request).chosen;
    this.payments++;
    this.share(before?.code).before++;
    this.share(after?.code).after++;
    const { currency } = request;
    const cost = this.costIn.getOrInsertComputed(currency, () => ({ currency, beforeMinor: 0n, afterMinor: 0n }));
    cost.beforeMinor += (before && this.costOf(before.code, request)) ?? 0n;
    cost.afterMinor += (after && this.costOf(after.code, request)) ?? 0n;
    if (before?.code === after?.code) return;
    this.changed++;
    if (this.examples.length < EXAMPLES_MAX) this.examples.push({ request, before: before?.code, after: after?.code });
  }

  private share(code: string | undefined): Share {
    return this.shareOf.getOrInsertComputed(code, () => ({ code, before: 0, after: 0 }));
  }
}
