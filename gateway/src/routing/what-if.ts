// What other rules would have made of past payments: which acquirers they would have gone to, how many would have succeeded, at what cost. Pure.
import { type Interval, type Proportion, wilson } from "../ground/proportions.ts";
import type { Minor } from "../ground/money.ts";
import type { PaymentMethod } from "../merchants/settings.ts";
import type { CostOf } from "./costs.ts";
import { type PastPayment, Replay, type ReplaySettings } from "./replay.ts";

/** With fewer observations of an acquirer its success rate is not estimated. */
export const OBSERVATIONS_MIN = 30;

interface Cost {
  currency: string;
  /** Of payments that were paid, or are expected to be: the sum of their amounts, and what acquirers charge for it. */
  paidMinor: Minor;
  costMinor: Minor;
  /** Number of paid payments whose cost is unknown; their amounts are not in the sums. */
  unknown: number;
}

/** The outcome of payments, real or estimated. */
export interface Outcome {
  payments: number;
  /** Payments that are neither paid nor ended yet, or that their merchant canceled: not among the attempts. */
  open: number;
  attempts: number;
  /** Attempts whose outcome cannot be estimated. */
  unknown: number;
  /** Attempts that succeeded, or are expected to; a sum of estimates, so not a whole number. */
  succeeded: number;
  costs: Cost[];
}

interface Cell {
  method: PaymentMethod;
  /** Code of the acquirer; undefined when no acquirer would have been called. */
  code: string | undefined;
  before: Outcome;
  after: Outcome;
}

interface Move {
  method: PaymentMethod;
  from: string | undefined;
  to: string | undefined;
  before: Outcome;
  after: Outcome;
}

interface Day {
  day: string;
  moved: number;
  before: Outcome;
  after: Outcome;
}

/** The observations by which the outcome of moved payments is estimated. */
export interface Estimate extends Proportion {
  code: string;
  method: PaymentMethod;
  currency: string;
  /** The band of amounts in minor units, both ends included; undefined for all amounts. */
  band: { fromMinor: Minor; toMinor: Minor } | undefined;
  interval: Interval | undefined;
  /** Attempts that would move to this acquirer. When the observations are too few, their outcome is unknown. */
  attempts: number;
  isKnown: boolean;
}

interface Settings extends ReplaySettings {
  costOf: CostOf;
}

/** Moved payments that share an estimate. It is made at the end, when all observations are in. */
interface Group {
  attempts: number;
  amountMinor: Minor;
  costMinor: Minor;
  costUnknown: number;
  observed: { band: Observed; all: Observed };
}

interface Observed extends Proportion {
  code: string;
  method: PaymentMethod;
  currency: string;
  digits: number | undefined;
}

/** Known outcomes, and groups of moved payments that wait for their estimate. */
class Side {
  payments = 0;
  open = 0;
  attempts = 0;
  succeeded = 0;
  readonly costs = new Map<string, Cost>();
  readonly groups = new Map<Observed, Group>();
}

interface Pair {
  before: Side;
  after: Side;
}

/** Adds up payments one by one; the getters give the result. */
export class WhatIf {
  payments = 0;
  moved = 0;
  private readonly settings: Settings;
  private readonly replay: Replay;
  private readonly observed = new Map<string, Observed>();
  private readonly cellOf = new Map<string, Pair & { method: PaymentMethod; code: string | undefined }>();
  private readonly moveOf = new Map<string, Pair & Pick<Move, "method" | "from" | "to">>();
  private readonly dayOf = new Map<string, Pair & { day: string; moved: number }>();

  constructor(settings: Settings) {
    this.settings = settings;
    this.replay = new Replay(settings);
  }

  /** Counts a payment. Gives false, and counts nothing, for a payment on which routing has not decided yet. */
  add(payment: PastPayment): boolean {
    const replayed = this.replay.of(payment);
    if (!replayed) return false;
    const { from, to } = replayed;
    const { method } = payment.shape;
    this.payments++;
    if (isAttempt(payment)) this.observe(payment, from);
    const day = this.dayOf.getOrInsertComputed(payment.day, () => ({ ...pair(), day: payment.day, moved: 0 }));
    const befores = [this.cell(method, from).before, day.before];
    const afters = [this.cell(method, to).after, day.after];
    if (from !== to) {
      this.moved++;
      day.moved++;
      const move = this.moveOf.getOrInsertComputed(`${from}/${to}/${method}`, () => ({ ...pair(), method, from, to }));
      befores.push(move.before);
      afters.push(move.after);
    }
    const cost = this.costOf(payment, from);
    for (const side of befores) count(side, payment, cost);
    const costAfter = from === to ? cost : this.costOf(payment, to);
    for (const side of afters) {
      if (from === to) count(side, payment, costAfter);
      else this.countMoved(side, payment, to, costAfter);
    }
    return true;
  }

  /** By method and acquirer; payments that no acquirer would take come last. */
  get cells(): Cell[] {
    return [...this.cellOf.values()]
      .map(resolved)
      .toSorted((a, b) => order(a.method, b.method) || order(a.code ?? "~", b.code ?? "~"));
  }

  /** Moves with most payments first. */
  get moves(): Move[] {
    return [...this.moveOf.values()].map(resolved).toSorted((a, b) => b.before.payments - a.before.payments);
  }

  /** Days in order, the oldest first. */
  get days(): Day[] {
    return [...this.dayOf.values()].map(resolved).toSorted((a, b) => order(a.day, b.day));
  }

  get estimates(): Estimate[] {
    const attempts = new Map<Observed, number>();
    for (const { after } of this.moveOf.values()) {
      for (const group of after.groups.values()) {
        const by = observedOf(group) ?? group.observed.all;
        attempts.set(by, (attempts.get(by) ?? 0) + group.attempts);
      }
    }
    return [...attempts]
      .map(([{ code, method, currency, digits, succeeded, of }, moved]) => ({
        code,
        method,
        currency,
        band: digits === undefined ? undefined : bandOf(digits),
        succeeded,
        of,
        interval: wilson({ succeeded, of }),
        attempts: moved,
        isKnown: of >= OBSERVATIONS_MIN,
      }))
      .toSorted((a, b) => b.attempts - a.attempts);
  }

  private costOf(payment: PastPayment, code: string | undefined): Minor | undefined {
    if (code === undefined || !isAttempt(payment)) return undefined;
    const { shape, amountMinor } = payment;
    return this.settings.costOf(code, { method: shape.method, currency: shape.currency, amountMinor });
  }

  private cell(method: PaymentMethod, code: string | undefined): Pair {
    return this.cellOf.getOrInsertComputed(`${method}/${code}`, () => ({ ...pair(), method, code }));
  }

  private observations(payment: PastPayment, code: string, digits: number | undefined): Observed {
    const { method, currency } = payment.shape;
    return this.observed.getOrInsertComputed(`${code}/${method}/${currency}/${digits}`, () => ({
      code,
      method,
      currency,
      digits,
      succeeded: 0,
      of: 0,
    }));
  }

  private observe(payment: PastPayment, code: string | undefined): void {
    if (code === undefined) return;
    for (const digits of [undefined, digitsOf(payment.amountMinor)]) {
      const observed = this.observations(payment, code, digits);
      observed.of++;
      if (payment.shape.outcome === "succeeded") observed.succeeded++;
    }
  }

  /** Counts a moved payment, whose outcome has to be estimated. A payment that no acquirer would take counts as not paid. */
  private countMoved(side: Side, payment: PastPayment, to: string | undefined, cost: Minor | undefined): void {
    side.payments++;
    if (!isAttempt(payment)) return void side.open++;
    side.attempts++;
    if (to === undefined) return;
    const band = this.observations(payment, to, digitsOf(payment.amountMinor));
    const all = this.observations(payment, to, undefined);
    const group = side.groups.getOrInsertComputed(band, () => ({
      attempts: 0,
      amountMinor: 0n,
      costMinor: 0n,
      costUnknown: 0,
      observed: { band, all },
    }));
    group.attempts++;
    if (cost === undefined) return void group.costUnknown++;
    group.amountMinor += payment.amountMinor;
    group.costMinor += cost;
  }
}

function pair(): Pair {
  return { before: new Side(), after: new Side() };
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function isAttempt({ shape: { outcome } }: PastPayment): boolean {
  return outcome === "succeeded" || outcome === "failed";
}

/** Counts a payment with its real outcome. */
function count(side: Side, payment: PastPayment, cost: Minor | undefined): void {
  side.payments++;
  if (!isAttempt(payment)) return void side.open++;
  side.attempts++;
  if (payment.shape.outcome !== "succeeded") return;
  side.succeeded++;
  addCost(
    side.costs,
    payment.shape.currency,
    cost === undefined ? { unknown: 1 } : { paidMinor: payment.amountMinor, costMinor: cost },
  );
}

function addCost(costs: Map<string, Cost>, currency: string, change: Partial<Omit<Cost, "currency">>): void {
  const cost = costs.getOrInsertComputed(currency, () => ({ currency, paidMinor: 0n, costMinor: 0n, unknown: 0 }));
  cost.paidMinor += change.paidMinor ?? 0n;
  cost.costMinor += change.costMinor ?? 0n;
  cost.unknown += change.unknown ?? 0;
}

/** The observations of the group's band of amounts if they are enough, else of all amounts; undefined when those are too few. */
function observedOf({ observed: { band, all } }: Group): Observed | undefined {
  return [band, all].find(({ of }) => of >= OBSERVATIONS_MIN);
}

function resolved<Entry extends Pair>({ before, after, ...entry }: Entry) {
  return { ...entry, before: resolve(before), after: resolve(after) };
}

function resolve(side: Side): Outcome {
  const { payments, open, attempts } = side;
  const outcome = { payments, open, attempts, unknown: 0, succeeded: side.succeeded };
  const costs = new Map([...side.costs].map(([currency, cost]) => [currency, { ...cost }]));
  for (const group of side.groups.values()) {
    const by = observedOf(group);
    if (!by) {
      outcome.unknown += group.attempts;
      continue;
    }
    const share = by.succeeded / by.of;
    outcome.succeeded += group.attempts * share;
    addCost(costs, group.observed.all.currency, {
      paidMinor: shareOf(group.amountMinor, by),
      costMinor: shareOf(group.costMinor, by),
      unknown: group.costUnknown * share,
    });
  }
  return { ...outcome, costs: [...costs.values()].toSorted((a, b) => order(a.currency, b.currency)) };
}

/** The part of a sum that is expected to succeed, rounded half up. */
function shareOf(sum: Minor, { succeeded, of }: Proportion): Minor {
  return (sum * BigInt(succeeded) * 2n + BigInt(of)) / (BigInt(of) * 2n);
}

/** The band of an amount is its number of digits: ten times as much is the next band. */
function digitsOf(amount: Minor): number {
  return String(amount).length;
}

function bandOf(digits: number): { fromMinor: Minor; toMinor: Minor } {
  return { fromMinor: 10n ** BigInt(digits - 1), toMinor: 10n ** BigInt(digits) - 1n };
}

export function sumOf(outcomes: readonly Outcome[]): Outcome {
  const sum = { payments: 0, open: 0, attempts: 0, unknown: 0, succeeded: 0 };
  const costs = new Map<string, Cost>();
  for (const outcome of outcomes) {
    for (const name of ["payments", "open", "attempts", "unknown", "succeeded"] as const) sum[name] += outcome[name];
    for (const { currency, ...cost } of outcome.costs) addCost(costs, currency, cost);
  }
  return { ...sum, costs: [...costs.values()].toSorted((a, b) => order(a.currency, b.currency)) };
}
