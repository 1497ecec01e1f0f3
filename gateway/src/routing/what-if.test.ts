// Goal: a what-if says what happened, and of what would have moved no more than the observations bear. Method: small worlds whose sums are
// known by hand; by property, that the replay chooses as routing itself does, and that the parts add up to the whole.
import fc from "fast-check";
import { expect, test } from "vitest";
import { simulatedAcquirers } from "../acquirers/simulated.ts";
import { paymentMethods } from "../merchants/settings.ts";
import type { AcquirerCost } from "./costs.sql.ts";
import { costsOf } from "./costs.ts";
import { type PastOutcome, type PastPayment, Replay, firstAsked } from "./replay.ts";
import {
  type AcquirerState,
  type RoutingDecision,
  type RoutingRule,
  type Verdict,
  defaultRules,
  route,
} from "./routing.ts";
import { OBSERVATIONS_MIN, WhatIf, sumOf } from "./what-if.ts";

const decision = (chosen: string, verdicts: Record<string, Verdict> = {}): string =>
  JSON.stringify({
    rules_version: 1,
    candidates: ["nusantara", "samudra", "merapi", "cendana"].map((gateway_code) => ({
      gateway_code,
      verdict: gateway_code === chosen ? "chosen" : (verdicts[gateway_code] ?? "no_rule"),
      priority: 10,
      weight: 1,
    })),
  });

let made = 0;
const past = (
  count: number,
  outcome: PastOutcome,
  routing: string,
  others: Partial<Omit<PastPayment, "shape"> & PastPayment["shape"]> = {},
): PastPayment[] => {
  const { method = "qris", currency = "IDR", amountMinor = 100_000n, day = "2026-11-20" } = others;
  const shape = { method, currency, outcome, routing };
  return Array.from({ length: count }, () => ({ reference: `pay_${made++}`, amountMinor, day, shape }));
};

const only = (code: string): RoutingRule[] => [{ gateway_code: code, priority: 1, weight: 1 }];
const whatIf = (
  rules: readonly RoutingRule[],
  payments: readonly PastPayment[],
  settings: { states?: ReadonlyMap<string, AcquirerState>; stated?: AcquirerCost[] } = {},
): WhatIf => {
  const { states = new Map<string, AcquirerState>(), stated = [] } = settings;
  const costOf = costsOf(stated, simulatedAcquirers);
  const result = new WhatIf({ environment: "sandbox", rules, acquirers: simulatedAcquirers, states, costOf });
  for (const payment of payments) result.add(payment);
  return result;
};
const total = (result: WhatIf, side: "before" | "after") => sumOf(result.cells.map((cell) => cell[side]));

const failing = [...past(100, "succeeded", decision("nusantara")), ...past(100, "failed", decision("nusantara"))];
const good = [...past(90, "succeeded", decision("cendana")), ...past(10, "failed", decision("cendana"))];

test("payments that would move are judged by what their new acquirer did with others like them", () => {
  const result = whatIf(only("cendana"), [...failing, ...good]);
  expect([result.payments, result.moved]).toEqual([300, 200]);
  // 40 then 60 basis points of 1,000.00: 100 and 90 that were paid; then 90 and nine tenths of 200.
  expect(total(result, "before")).toMatchObject({
    attempts: 300,
    succeeded: 190,
    unknown: 0,
    costs: [{ currency: "IDR", paidMinor: 19_000_000n, costMinor: 100n * 400n + 90n * 600n, unknown: 0 }],
  });
  expect(total(result, "after")).toMatchObject({
    attempts: 300,
    succeeded: 270,
    unknown: 0,
    costs: [{ paidMinor: 27_000_000n, costMinor: 270n * 600n, unknown: 0 }],
  });
  expect(result.moves).toMatchObject([
    { from: "nusantara", to: "cendana", method: "qris", before: { succeeded: 100 }, after: { succeeded: 180 } },
  ]);
  expect(result.estimates).toMatchObject([{ code: "cendana", succeeded: 90, of: 100, attempts: 200, isKnown: true }]);
  expect(result.days).toMatchObject([{ day: "2026-11-20", moved: 200, after: { succeeded: 270 } }]);
});

test("with too few observations the outcome is unknown, and neither success nor failure", () => {
  const few = past(OBSERVATIONS_MIN - 1, "succeeded", decision("cendana"));
  const after = total(whatIf(only("cendana"), [...failing, ...few]), "after");
  expect(after).toMatchObject({ attempts: 229, unknown: 200, succeeded: 29 });
  const enough = [...few, ...past(1, "failed", decision("cendana"))];
  expect(total(whatIf(only("cendana"), [...failing, ...enough]), "after").unknown).toBe(0);
});

test("a band of amounts with enough observations judges its own, and the others are judged by all", () => {
  const large = { amountMinor: 20_000_000n };
  const world = [
    ...past(40, "failed", decision("cendana"), large),
    ...past(40, "succeeded", decision("cendana")),
    ...past(10, "failed", decision("nusantara"), large),
    ...past(10, "failed", decision("nusantara"), { amountMinor: 7n }),
  ];
  const [move] = whatIf(only("cendana"), world).moves;
  expect(move?.after).toMatchObject({ attempts: 20, succeeded: 10 * 0 + 10 * 0.5, unknown: 0 });
});

test("what is open or was canceled says nothing of an acquirer, and still moves", () => {
  const idle = [...past(5, "open", decision("nusantara")), ...past(3, "canceled", decision("nusantara"))];
  const result = whatIf(only("cendana"), [...idle, ...good]);
  expect(result.moved).toBe(8);
  expect(total(result, "after")).toMatchObject({ payments: 108, open: 8, attempts: 100, succeeded: 90 });
});

test("whom nobody would take would not have paid", () => {
  const result = whatIf(only("merapi"), failing);
  expect(result.cells.at(-1)).toMatchObject({
    code: undefined,
    after: { attempts: 200, succeeded: 0, unknown: 0, costs: [] },
  });
});

test("a payment counts for the acquirer that was asked first, whoever took it in the end", () => {
  const refused = decision("cendana", { nusantara: "refused" });
  expect(firstAsked(JSON.parse(refused) as RoutingDecision)).toBe("nusantara");
  const split = { id: "a", arm: "test" as const, percent: 10, control: "cendana", test: "merapi" };
  expect(firstAsked({ ...(JSON.parse(refused) as RoutingDecision), split })).toBe("merapi");
  expect(whatIf(only("nusantara"), past(3, "succeeded", refused)).moved).toBe(0);
});

test("acquirers are as they were when a payment was routed, and where nothing says how, as they are now", () => {
  const off = past(4, "failed", decision("nusantara", { cendana: "circuit_open" }));
  const both: RoutingRule[] = [
    { gateway_code: "cendana", priority: 1, weight: 1 },
    { gateway_code: "nusantara", priority: 2, weight: 1 },
  ];
  expect(whatIf(both, off).moved).toBe(0);
  expect(whatIf(both, past(4, "failed", decision("nusantara", { cendana: "disabled" }))).moved).toBe(0);
  expect(whatIf(both, past(4, "failed", decision("nusantara", { cendana: "down" }))).moved).toBe(0);
  const unknown = past(4, "failed", decision("nusantara"));
  expect(whatIf(both, unknown).moved).toBe(4);
  const states = new Map([["cendana", { enabled: false, health: "healthy" as const }]]);
  expect(whatIf(both, unknown, { states }).moved).toBe(0);
  // On record as one that was well: the switch of today does not matter.
  expect(whatIf(both, past(4, "failed", decision("nusantara", { cendana: "lower_priority" })), { states }).moved).toBe(
    4,
  );
});

test("a stated cost counts before the profile's, and what nobody stated is unknown, not nothing", () => {
  const rule = { basisPoints: 0, flatMinor: 25n };
  const stated = { gatewayCode: "cendana", method: "qris" as const, currency: "IDR", rule, setAt: 0, setBy: "sari" };
  expect(total(whatIf(only("cendana"), good, { stated: [stated] }), "before").costs).toMatchObject([
    { costMinor: 90n * 25n },
  ]);
  const free = simulatedAcquirers.map((one) => ({
    ...one,
    capabilities: one.capabilities.map((can) => ({ ...can, cost: { basisPoints: 0, flatMinor: 0n } })),
  }));
  const payment = { method: "qris" as const, currency: "IDR", amountMinor: 100_000n };
  expect(costsOf([], free)("cendana", payment)).toBeUndefined();
  expect(costsOf([{ ...stated, rule: { ...rule, flatMinor: 0n } }], free)("cendana", payment)).toBe(0n);
  expect(costsOf([], simulatedAcquirers)("nobody", payment)).toBeUndefined();
});

test("a payment that waits for review was not routed, and is not counted", () => {
  const unrouted = past(2, "open", JSON.stringify({ rules_version: 1, candidates: [] }));
  expect(whatIf(only("cendana"), unrouted).payments).toBe(0);
});

const code = fc.constantFrom("nusantara", "samudra", "merapi", "cendana");
const someRules = fc.array(
  fc.record(
    {
      gateway_code: code,
      payment_method: fc.constantFrom(...paymentMethods),
      amount_from_minor: fc.constantFrom(1, 5_000, 1_000_000),
      amount_to_minor: fc.constantFrom(5_000, 999_999, 10_000_000_000),
      priority: fc.integer({ min: 1, max: 2 }),
      weight: fc.integer({ min: 1, max: 9 }),
      split: fc.record({ id: fc.constantFrom("a", "b"), gateway_code: code, percent: fc.integer({ min: 1, max: 99 }) }),
    },
    { requiredKeys: ["gateway_code", "priority", "weight"] },
  ),
  { minLength: 1, maxLength: 6 },
) as fc.Arbitrary<RoutingRule[]>;
const somePayments = fc.array(
  fc.record({
    reference: fc.string(),
    amountMinor: fc.constantFrom(1n, 4_999n, 5_000n, 5_001n, 999_999n, 1_000_000n, 10n ** 10n, 10n ** 13n),
    day: fc.constantFrom("2026-11-19", "2026-11-20"),
    shape: fc.record({
      method: fc.constantFrom(...paymentMethods),
      currency: fc.constantFrom("IDR", "USD"),
      outcome: fc.constantFrom<PastOutcome>("succeeded", "failed", "open", "canceled"),
      routing: code.map((one) => decision(one)),
    }),
  }),
  { maxLength: 60 },
) as fc.Arbitrary<PastPayment[]>;

test("property: the replay chooses as routing does, shared judgements or not", () => {
  fc.assert(
    fc.property(someRules, somePayments, (rules, payments) => {
      const states = new Map<string, AcquirerState>();
      const replay = new Replay({ environment: "sandbox", rules, acquirers: simulatedAcquirers, states });
      for (const payment of payments) {
        const { method, currency } = payment.shape;
        const request = { environment: "sandbox" as const, method, currency, amountMinor: payment.amountMinor };
        const table = { version: 1, rules, acquirers: simulatedAcquirers, states };
        const { chosen } = route(table, { ...request, draw: payment.reference });
        expect(replay.of(payment)?.to).toBe(chosen?.code);
      }
    }),
    { numRuns: 100 },
  );
});

test("property: days and cells add up to the same whole, and nobody is lost", () => {
  fc.assert(
    fc.property(someRules, somePayments, (rules, payments) => {
      const result = whatIf(rules, payments);
      for (const side of ["before", "after"] as const) {
        const cells = total(result, side);
        const days = sumOf(result.days.map((day) => day[side]));
        expect(days).toMatchObject({ payments: cells.payments, attempts: cells.attempts, unknown: cells.unknown });
        expect(days.succeeded).toBeCloseTo(cells.succeeded, 6);
        expect(cells.payments).toBe(payments.length);
        expect(cells.open + cells.attempts).toBe(payments.length);
        expect(cells.succeeded + cells.unknown).toBeLessThanOrEqual(cells.attempts + 1e-6);
      }
      expect(result.moves.reduce((sum, { after }) => sum + after.payments, 0)).toBe(result.moved);
      expect(total(result, "before").unknown).toBe(0);
    }),
    { numRuns: 100 },
  );
});

test("the rules that decided move nothing that they decided", () => {
  const routed = past(50, "succeeded", "").map((payment) => {
    const { method, currency } = payment.shape;
    const table = { version: 1, rules: defaultRules, acquirers: simulatedAcquirers, states: new Map() };
    const request = { environment: "sandbox" as const, method, currency, amountMinor: payment.amountMinor };
    const { decision: kept } = route(table, { ...request, draw: payment.reference });
    return { ...payment, shape: { ...payment.shape, routing: JSON.stringify(kept) } };
  });
  expect(whatIf(defaultRules, routed)).toMatchObject({ payments: 50, moved: 0 });
});
