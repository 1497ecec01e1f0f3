// Compares two routing tables over past payments. Pure: it routes the payments again and changes nothing.
import type { Acquirer } from "../acquirers/acquirer.ts";
import { type Minor, feeOf } from "../ground/money.ts";
import { type RoutingRequest, type RoutingTable, capabilityOf, route } from "./routing.ts";

/** How many payments go to an acquirer under each table; `code` is undefined for payments that no acquirer would take. */
export interface Share {
  code: string | undefined;
  before: number;
  after: number;
}

/** What the acquirers charge for all payments of a currency under each table. */
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
  private readonly shareOf = new Map<string | undefined, Share>();
  private readonly costOf = new Map<string, Cost>();

  constructor(before: RoutingTable, after: RoutingTable) {
    this.before = before;
    this.after = after;
  }

  /** Sorted by code; payments that no acquirer would take come last. */
  get shares(): Share[] {
    return [...this.shareOf.values()].toSorted((a, b) => ((a.code ?? "~") < (b.code ?? "~") ? -1 : 1));
  }

  get costs(): Cost[] {
    return [...this.costOf.values()].toSorted((a, b) => (a.currency < b.currency ? -1 : 1));
  }

  add(request: RoutingRequest): void {
    const before = route(this.before, request).chosen;
    const after = route(this.after, request).chosen;
    this.payments++;
    this.share(before?.code).before++;
    this.share(after?.code).after++;
    const { currency } = request;
    const cost = this.costOf.getOrInsertComputed(currency, () => ({ currency, beforeMinor: 0n, afterMinor: 0n }));
    cost.beforeMinor += costOf(before, request);
    cost.afterMinor += costOf(after, request);
    if (before?.code === after?.code) return;
    this.changed++;
    if (this.examples.length < EXAMPLES_MAX) this.examples.push({ request, before: before?.code, after: after?.code });
  }

  private share(code: string | undefined): Share {
    return this.shareOf.getOrInsertComputed(code, () => ({ code, before: 0, after: 0 }));
  }
}

/** What the acquirer charges the platform for a payment; 0 without an acquirer. */
function costOf(acquirer: Acquirer | undefined, request: RoutingRequest): Minor {
  const capability = acquirer && capabilityOf(acquirer, request.method, request.currency);
  return capability ? feeOf(request.amountMinor, capability.cost) : 0n;
}
