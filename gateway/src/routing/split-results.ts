// The result of a split test so far: each arm's success rate with its interval, and whether the arms can be told apart. Pure.
import { type Interval, difference, moreToDistinguish, wilson } from "../ground/proportions.ts";
import type { Micros } from "../ground/clock.ts";
import type { Minor } from "../ground/money.ts";
import type { CostOf } from "./costs.ts";
import type { SplitArm, SplitTest } from "./routing.ts";
import type { ArmRow } from "./split-results.sql.ts";

/** The cost of an arm's paid payments in one currency. `unknown`: number of paid payments without a known cost. */
interface ArmCost {
  currency: string;
  payments: number;
  costMinor: Minor;
  unknown: number;
}

export interface ArmResult {
  gatewayCode: string;
  payments: number;
  /** Payments that are neither paid nor ended yet, or that their merchant canceled. */
  open: number;
  attempts: number;
  succeeded: number;
  interval: Interval | undefined;
  costs: ArmCost[];
}

type SplitVerdict = "no_data" | "undecided" | "test_better" | "control_better";

export interface SplitResult {
  control: ArmResult;
  test: ArmResult;
  /** Creation time of the oldest payment that is counted. */
  since: Micros | undefined;
  /** The success rate of `test` minus that of `control`. */
  difference: (Interval & { estimate: number }) | undefined;
  verdict: SplitVerdict;
  /** About how many more payments would tell the arms apart, if the difference stays as it is. */
  more: number | undefined;
  words: string;
}

/** The result of a test. An arm counts the payments for which its acquirer was called first, whichever acquirer took them in the end. */
export function splitResult(
  { test: testCode, control: controlCode, percent }: { control: string; test: string } & Pick<SplitTest, "percent">,
  rows: readonly ArmRow[],
  costOf: CostOf,
): SplitResult {
  const control = armResult("control", controlCode, rows, costOf);
  const test = armResult("test", testCode, rows, costOf);
  const a = { succeeded: test.succeeded, of: test.attempts };
  const b = { succeeded: control.succeeded, of: control.attempts };
  const apart = difference(a, b);
  const verdict = verdictOf(apart);
  const more = verdict === "undecided" ? moreToDistinguish(a, b, percent / 100) : undefined;
  const since = rows.map((row) => row.since).toSorted((one, other) => one - other)[0];
  return {
    control,
    test,
    since,
    difference: apart,
    verdict,
    more,
    words: wordsOf(verdict, { control, test, apart, more }),
  };
}

function armResult(arm: SplitArm, gatewayCode: string, rows: readonly ArmRow[], costOf: CostOf): ArmResult {
  const result: ArmResult = {
    gatewayCode,
    payments: 0,
    open: 0,
    attempts: 0,
    succeeded: 0,
    interval: undefined,
    costs: [],
  };
  const costs = new Map<string, ArmCost>();
  for (const row of rows.filter((one) => one.arm === arm)) {
    result.payments += row.payments;
    if (row.outcome === "open" || row.outcome === "canceled") {
      result.open += row.payments;
      continue;
    }
    result.attempts += row.payments;
    if (row.outcome !== "succeeded") continue;
    result.succeeded += row.payments;
    const { currency, payment_method: method, gateway_code: taker } = row;
    const cost = costs.getOrInsertComputed(currency, () => ({ currency, payments: 0, costMinor: 0n, unknown: 0 }));
    for (const amount of row.amounts_minor?.split(",") ?? []) {
      const one = taker === null ? undefined : costOf(taker, { method, currency, amountMinor: BigInt(amount) });
      if (one === undefined) cost.unknown++;
      else {
        cost.payments++;
        cost.costMinor += one;
      }
    }
  }
  result.interval = wilson({ succeeded: result.succeeded, of: result.attempts });
  result.costs = [...costs.values()].toSorted((a, b) => (a.currency < b.currency ? -1 : 1));
  return result;
}

function verdictOf(apart: Interval | undefined): SplitVerdict {
  if (!apart) return "no_data";
  if (apart.low > 0) return "test_better";
  return apart.high < 0 ? "control_better" : "undecided";
}

const points = (share: number): string => (Math.abs(share) * 100).toFixed(1);

function wordsOf(
  verdict: SplitVerdict,
  { control, test, apart, more }: Pick<SplitResult, "control" | "test" | "more"> & { apart: Interval | undefined },
): string {
  if (!apart || verdict === "no_data") return "Too early: not both arms have payments that ended.";
  if (verdict === "undecided") {
    return more === undefined
      ? "Not yet distinguishable: no difference so far."
      : `Not yet distinguishable: about ${more} more payments, should the difference stay as it is.`;
  }
  const better = verdict === "test_better" ? test : control;
  const [least, most] = [points(apart.low), points(apart.high)].toSorted((a, b) => Number(a) - Number(b));
  return `${better.gatewayCode} succeeds more often, by ${least} to ${most} percentage points.`;
}

/** The mean cost of a payment in minor units, rounded half up; undefined when no cost is known. */
export function meanCost({ payments, costMinor }: ArmCost): Minor | undefined {
  return payments === 0 ? undefined : (costMinor * 2n + BigInt(payments)) / (BigInt(payments) * 2n);
}
