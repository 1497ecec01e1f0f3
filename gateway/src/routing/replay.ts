// Routes past payments again: by other rules, with the acquirers in the state in which they were when each payment was routed. Pure.
import type { Minor } from "../ground/money.ts";
import { remembered } from "../ground/remembered.ts";
import type { Environment } from "../merchants/books.ts";
import type { PaymentMethod } from "../merchants/settings.ts";
import {
  type AcquirerState,
  type Judgement,
  type RoutingDecision,
  type RoutingTable,
  type Verdict,
  amountsOf,
  drawOf,
  judgementOf,
} from "./routing.ts";

/** The outcome of a payment as far as its acquirer caused it: a cancellation by the merchant tells nothing about the acquirer. */
export type PastOutcome = "succeeded" | "failed" | "canceled" | "open";

export interface PastPayment {
  reference: string;
  amountMinor: Minor;
  /** Day of creation, YYYY-MM-DD. */
  day: string;
  /** One object shared by many payments. */
  shape: PastShape;
}

/** The values that thousands of payments share. */
export interface PastShape {
  method: PaymentMethod;
  currency: string;
  outcome: PastOutcome;
  /** Their routing decision, as stored: JSON. */
  routing: string;
}

/** `states`: the present ones, used where a payment's decision does not tell the state at that time. */
export interface ReplaySettings extends Pick<RoutingTable, "rules" | "acquirers" | "states"> {
  environment: Environment;
}

/** The state of routing when a decision was made. */
interface Moment {
  /** Code of the acquirer that was called first; undefined when none was. */
  from: string | undefined;
  table: RoutingTable;
  judgements: Map<string, Judgement>;
}

/** Parsed decisions that are cached. Few decisions differ in their text; beyond this number the cache begins anew. */
const MOMENTS_MAX = 5_000;

/** Chooses as `route` does, but judges equal payments only once: only the draw is made for each payment. */
export class Replay {
  private readonly settings: ReplaySettings;
  private readonly borders: readonly number[];
  private readonly moments = new Map<string, Moment | null>();
  private readonly momentOfShape = new WeakMap<PastShape, Moment | null>();

  constructor(settings: ReplaySettings) {
    this.settings = settings;
    this.borders = bordersOf(settings);
  }

  /** The acquirers that were called first and would be by the new rules. Undefined for a payment on which routing has not decided yet. */
  of(payment: PastPayment): { from: string | undefined; to: string | undefined } | undefined {
    const { reference, amountMinor, shape: past } = payment;
    const moment = this.momentOfShape.getOrInsertComputed(past, () => this.momentOf(past));
    if (!moment) return undefined;
    const { method, currency } = past;
    const shape = `${currency}/${this.bandOf(Number(amountMinor))}`;
    const judgement = moment.judgements.getOrInsertComputed(shape, () =>
      judgementOf(moment.table, { environment: this.settings.environment, method, currency, amountMinor }),
    );
    return { from: moment.from, to: drawOf(judgement, { draw: reference }).chosen?.acquirer.code };
  }

  private momentOf({ method, routing }: PastShape): Moment | null {
    const key = `${method} ${routing}`;
    return remembered(this.moments, MOMENTS_MAX, key, () => this.read(method, JSON.parse(routing) as RoutingDecision));
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

/** The acquirer's state as its verdict tells it; undefined when the verdict tells nothing, and the present state counts. */
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

/** Code of the acquirer that was called first: of the split test's arm, else the refused acquirer of best priority, else the chosen one. */
export function firstAsked({ candidates, split }: RoutingDecision): string | undefined {
  if (split) return split[split.arm];
  const [refused] = candidates
    .filter(({ verdict }) => verdict === "refused")
    .toSorted((a, b) => (a.priority ?? Infinity) - (b.priority ?? Infinity));
  return (refused ?? candidates.find(({ verdict }) => verdict === "chosen"))?.gateway_code;
}

/** Amounts at which the judgement may change, ascending. Every amount fits a number exactly: the API and the database limit it. */
function bordersOf({ rules, acquirers }: ReplaySettings): number[] {
  const ranges = [
    ...rules.map(amountsOf),
    ...acquirers.flatMap(({ capabilities }) =>
      capabilities.map(({ minimumMinor, maximumMinor }) => ({ from: minimumMinor, to: maximumMinor })),
    ),
  ];
  return [...new Set(ranges.flatMap(({ from, to }) => [Number(from), Number(to + 1n)]))].toSorted((a, b) => a - b);
}
