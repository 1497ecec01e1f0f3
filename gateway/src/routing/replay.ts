// Routes past payments again: by other rules, with the acquirers as they were when each payment was routed. Pure.
import type { Acquirer } from "../acquirers/acquirer.ts";
import type { Minor } from "../ground/money.ts";
import type { Environment } from "../merchants/books.ts";
import type { PaymentMethod } from "../merchants/settings.ts";
import {
  type AcquirerState,
  type Judgement,
  type RoutingDecision,
  type RoutingRule,
  type RoutingTable,
  type Verdict,
  amountsOf,
  drawOf,
  judgementOf,
} from "./routing.ts";

/** How a payment stands, as far as its acquirer is to thank or to blame: what its merchant canceled says nothing. */
export type PastOutcome = "succeeded" | "failed" | "canceled" | "open";

export interface PastPayment {
  reference: string;
  amountMinor: Minor;
  /** On which it was made: YYYY-MM-DD. */
  day: string;
  /** The same object for many payments. */
  shape: PastShape;
}

/** What thousands of payments have in common. */
export interface PastShape {
  method: PaymentMethod;
  currency: string;
  outcome: PastOutcome;
  /** Their routing decision as it was written. */
  routing: string;
}

interface ReplaySettings {
  environment: Environment;
  rules: readonly RoutingRule[];
  acquirers: readonly Acquirer[];
  states: ReadonlyMap<string, AcquirerState>;
}

/** What a routing decision says of its moment. */
interface Moment {
  /** Who was asked first; undefined where nobody was. */
  from: string | undefined;
  table: RoutingTable;
  judgements: Map<string, Judgement>;
}

/** Few decisions differ in their words: those beyond so many are read again. */
const MOMENTS_MAX = 5_000;

/** The same choice as `route` makes, but that what is alike is judged once: only the draws are each payment's own. */
export class Replay {
  private readonly settings: ReplaySettings;
  /** Amounts at which the judgement may change, ascending. */
  private readonly borders: readonly number[];
  private readonly moments = new Map<string, Moment | null>();
  private readonly momentOfShape = new WeakMap<PastShape, Moment | null>();

  constructor(settings: ReplaySettings) {
    this.settings = settings;
    this.borders = bordersOf(settings);
  }

  /** Who was asked first, and who would have been. Undefined for a payment on which routing has not decided yet. */
  of(payment: PastPayment): { from: string | undefined; to: string | undefined } | undefined {
    const { reference, amountMinor, shape: past } = payment;
    const moment = this.momentOf(past);
    if (!moment) return undefined;
    const { method, currency } = past;
    const shape = `${currency}/${this.bandOf(Number(amountMinor))}`;
    let judgement = moment.judgements.get(shape);
    if (!judgement) {
      const { environment } = this.settings;
      judgement = judgementOf(moment.table, { environment, method, currency, amountMinor });
      moment.judgements.set(shape, judgement);
    }
    return { from: moment.from, to: drawOf(judgement, { draw: reference }).chosen?.acquirer.code };
  }

  private momentOf(shape: PastShape): Moment | null {
    let moment = this.momentOfShape.get(shape);
    if (moment === undefined) this.momentOfShape.set(shape, (moment = this.momentOfText(shape)));
    return moment;
  }

  private momentOfText({ method, routing }: PastShape): Moment | null {
    const key = `${method} ${routing}`;
    let moment = this.moments.get(key);
    if (moment === undefined) {
      if (this.moments.size >= MOMENTS_MAX) this.moments.clear();
      moment = this.read(method, JSON.parse(routing) as RoutingDecision);
      this.moments.set(key, moment);
    }
    return moment;
  }

  private read(method: string, decision: RoutingDecision): Moment | null {
    if (decision.candidates.length === 0) return null;
    const { rules, acquirers } = this.settings;
    const states = new Map(this.settings.states);
    const open = new Set<string>();
    for (const { gateway_code: code, verdict, degraded } of decision.candidates) {
      if (verdict === "circuit_open") open.add(`${code}/${method}`);
      const then = stateThen(verdict, degraded === true);
      if (then) states.set(code, then);
    }
    return { from: firstAsked(decision), table: { version: 0, rules, acquirers, states, open }, judgements: new Map() };
  }

  private bandOf(amount: number): number {
    let [low, high] = [0, this.borders.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.borders[middle] as number) <= amount) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** How an acquirer was, by its verdict; undefined where that does not say. Then it counts as it is now. */
function stateThen(verdict: Verdict, isDegraded: boolean): AcquirerState | undefined {
  if (saysNothing.has(verdict)) return undefined;
  if (verdict === "disabled") return { enabled: false, health: "healthy" };
  if (verdict === "down") return { enabled: true, health: "down" };
  return { enabled: true, health: isDegraded ? "degraded" : "healthy" };
}

const saysNothing: ReadonlySet<Verdict> = new Set([
  "no_rule",
  "method_not_supported",
  "currency_not_supported",
  "amount_out_of_range",
  "amount_too_fine",
]);

/** The arm of its split test; else whoever refused it, of the best priority; else whoever was chosen. */
export function firstAsked({ candidates, split }: RoutingDecision): string | undefined {
  if (split) return split[split.arm];
  const [refused] = candidates
    .filter(({ verdict }) => verdict === "refused")
    .toSorted((a, b) => (a.priority ?? Infinity) - (b.priority ?? Infinity));
  return (refused ?? candidates.find(({ verdict }) => verdict === "chosen"))?.gateway_code;
}

/** All amounts fit a number exactly: the wire and the database see to it. */
function bordersOf({ rules, acquirers }: ReplaySettings): number[] {
  const ranges = [
    ...rules.map(amountsOf),
    ...acquirers.flatMap(({ capabilities }) =>
      capabilities.map(({ minimumMinor, maximumMinor }) => ({ from: minimumMinor, to: maximumMinor })),
    ),
  ];
  return [...new Set(ranges.flatMap(({ from, to }) => [Number(from), Number(to + 1n)]))].toSorted((a, b) => a - b);
}
