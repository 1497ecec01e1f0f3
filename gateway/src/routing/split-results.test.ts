// Goal: a split test's result says no more than its numbers do. Method: arms by hand, each verdict in turn.
import { expect, test } from "vitest";
import { simulatedAcquirers } from "../acquirers/simulated.ts";
import { costsOf } from "./costs.ts";
import type { PastOutcome } from "./replay.ts";
import type { ArmRow } from "./split-results.sql.ts";
import { meanCost, splitResult } from "./split-results.ts";

const asked = { control: "nusantara", test: "cendana", percent: 10 };
const costOf = costsOf([], simulatedAcquirers);
const row = (
  arm: "control" | "test",
  outcome: PastOutcome,
  payments: number,
  others: Partial<ArmRow> = {},
): ArmRow => ({
  arm,
  gateway_code: asked[arm],
  payment_method: "qris",
  currency: "IDR",
  outcome,
  payments,
  amounts_minor: outcome === "succeeded" ? Array.from({ length: payments }, () => "100000").join(",") : null,
  since: 1_000,
  ...others,
});
const result = (control: [good: number, bad: number], arm: [good: number, bad: number]) =>
  splitResult(
    asked,
    [
      row("control", "succeeded", control[0]),
      row("control", "failed", control[1]),
      row("test", "succeeded", arm[0]),
      row("test", "failed", arm[1]),
    ].filter(({ payments }) => payments > 0),
    costOf,
  );

test("before both arms have ended payments it is too early", () => {
  expect(splitResult(asked, [], costOf)).toMatchObject({ verdict: "no_data", difference: undefined, since: undefined });
  expect(result([900, 100], [0, 0])).toMatchObject({ verdict: "no_data", words: expect.stringMatching(/^Too early/) });
});

test("what cannot be told apart says how many more it takes, or that there is no difference", () => {
  const close = result([900, 100], [92, 8]);
  expect(close).toMatchObject({
    verdict: "undecided",
    words: `Not yet distinguishable: about ${close.more} more payments, should the difference stay as it is.`,
  });
  expect(close.more).toBeGreaterThan(1_000);
  expect(result([900, 100], [90, 10])).toMatchObject({
    verdict: "undecided",
    more: undefined,
    words: /no difference so far/,
  });
});

test("what can be told apart names the better one and by how much at least and at most", () => {
  const better = result([9_000, 1_000], [980, 20]);
  expect(better.verdict).toBe("test_better");
  expect(better.words).toMatch(/^cendana succeeds more often, by \d\.\d to \d\.\d percentage points\.$/);
  const worse = result([9_000, 1_000], [800, 200]);
  expect(worse.verdict).toBe("control_better");
  expect(worse.words).toMatch(/^nusantara succeeds more often, by 7\.\d to 12\.\d percentage points\.$/);
});

test("an arm keeps what another acquirer took after a refusal, at that one's cost", () => {
  const { test: arm } = splitResult(
    asked,
    [
      row("test", "succeeded", 3),
      row("test", "succeeded", 1, { gateway_code: "nusantara" }),
      row("test", "open", 2),
      row("test", "canceled", 1),
    ],
    costOf,
  );
  // 60 basis points three times, 40 once.
  expect(arm).toMatchObject({
    payments: 7,
    open: 3,
    attempts: 4,
    succeeded: 4,
    costs: [{ payments: 4, costMinor: 2_200n }],
  });
  expect(arm.costs.map(meanCost)).toEqual([550n]);
});

test("payments of unknown cost are counted as such, and the mean is of the others", () => {
  const { control } = splitResult(asked, [row("control", "succeeded", 2, { gateway_code: "nobody" })], costOf);
  expect(control.costs).toEqual([{ currency: "IDR", payments: 0, costMinor: 0n, unknown: 2 }]);
  expect(control.costs.map(meanCost)).toEqual([undefined]);
});
