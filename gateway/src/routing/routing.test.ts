// Goal: the right acquirer, for reasons that are kept. Method: examples of each verdict, then properties over random tables.
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Capability } from "../acquirers/acquirer.ts";
import { simulatedAcquirers } from "../acquirers/simulated.ts";
import { paymentMethods } from "../merchants/settings.ts";
import {
  type AcquirerState,
  type Health,
  type RoutingRequest,
  type RoutingTable,
  amountBounds,
  defaultRules,
  finestStep,
  isOffered,
  isSwitchedOff,
  judgementOf,
  route,
  routingRulesSchema,
} from "./routing.ts";

const table = (states: [string, AcquirerState][] = [], rules = defaultRules): RoutingTable => ({
  version: 1,
  rules,
  acquirers: simulatedAcquirers,
  states: new Map(states),
});
const request: RoutingRequest = {
  environment: "sandbox",
  method: "qris",
  currency: "IDR",
  amountMinor: 150_000n,
  draw: "pay_1",
};
const verdicts = (result: ReturnType<typeof route>): Record<string, string> =>
  Object.fromEntries(result.decision.candidates.map(({ gateway_code, verdict }) => [gateway_code, verdict]));

test("the specialist is chosen, and why the others were not is kept", () => {
  const result = route(table(), request);
  expect(result.chosen?.code).toBe("nusantara");
  expect(verdicts(result)).toEqual({
    nusantara: "chosen",
    samudra: "method_not_supported",
    merapi: "method_not_supported",
    cendana: "lower_priority",
  });
});

test("an acquirer that is off or down is passed over, and none left means none", () => {
  expect(route(table([["nusantara", { enabled: false, health: "healthy" }]]), request).chosen?.code).toBe("cendana");
  const down: AcquirerState = { enabled: true, health: "down" };
  const none = route(
    table([
      ["nusantara", down],
      ["cendana", down],
    ]),
    request,
  );
  expect(none.chosen).toBeUndefined();
  expect(verdicts(none)).toMatchObject({ nusantara: "down", cendana: "down" });
});

test("amount, currency and missing rules are told apart", () => {
  expect(verdicts(route(table(), { ...request, amountMinor: 10n ** 13n })).nusantara).toBe("amount_out_of_range");
  expect(verdicts(route(table(), { ...request, currency: "USD" })).nusantara).toBe("currency_not_supported");
  expect(verdicts(route(table([], [{ gateway_code: "cendana", priority: 1, weight: 1 }]), request)).nusantara).toBe(
    "no_rule",
  );
});

test("no simulator serves production", () => {
  expect(route(table(), { ...request, environment: "production" })).toEqual({
    chosen: undefined,
    decision: { rules_version: 1, candidates: [] },
  });
  expect(isOffered(table(), { environment: "production", method: "qris", currency: "IDR" })).toBe(false);
  expect(isOffered(table(), { environment: "sandbox", method: "qris", currency: "USD" })).toBe(false);
  expect(isOffered(table(), { environment: "sandbox", method: "card", currency: "USD" })).toBe(true);
});

test("equal priorities share by weight, and the same payment always draws the same", () => {
  const counts: Record<string, number> = {};
  for (let number = 0; number < 4000; number++) {
    const result = route(table(), { ...request, method: "va", draw: `pay_${number}` });
    expect(route(table(), { ...request, method: "va", draw: `pay_${number}` }).chosen).toBe(result.chosen);
    counts[result.chosen?.code ?? ""] = (counts[result.chosen?.code ?? ""] ?? 0) + 1;
  }
  expect((counts.nusantara ?? 0) / 4000).toBeCloseTo(0.6, 1);
  expect((counts.merapi ?? 0) / 4000).toBeCloseTo(0.4, 1);
});

/** A table of these acquirers, each of which takes QRIS as its capability says, by a rule that all share. */
function taking(capabilities: Readonly<Record<string, Partial<Capability>>>): RoutingTable {
  const like = simulatedAcquirers.find(({ code }) => code === "nusantara") ?? expect.unreachable();
  const [whole] = like.capabilities.filter(({ method }) => method === "qris");
  const acquirers = Object.entries(capabilities).map(([code, changes]) => ({
    ...like,
    code,
    capabilities: [{ ...(whole as Capability), ...changes }],
  }));
  return {
    ...table(
      [],
      Object.keys(capabilities).map((gateway_code) => ({ gateway_code, priority: 1 })),
    ),
    acquirers,
  };
}

test.each([
  [99n, "amount_out_of_range"],
  [100n, "chosen"],
  [105n, "amount_too_fine"],
  [200n, "chosen"],
  [201n, "amount_out_of_range"],
])("an acquirer from 100 to 200 in steps of 10 is asked for %i: %s", (amountMinor, verdict) => {
  const few = taking({ few: { minimumMinor: 100n, maximumMinor: 200n, stepMinor: 10n } });
  expect(verdicts(route(few, { ...request, amountMinor }))).toEqual({ few: verdict });
});

test("what a method takes is what any of its acquirers takes: the widest amounts, and the finest step", () => {
  const asked = { environment: "sandbox", method: "qris", currency: "IDR" } as const;
  const both = taking({
    mid: { minimumMinor: 7n, maximumMinor: 70n, stepMinor: 7n },
    low: { minimumMinor: 5n, maximumMinor: 50n, stepMinor: 5n },
    high: { minimumMinor: 10n, maximumMinor: 100n, stepMinor: 2n },
  });
  expect(amountBounds(both, asked)).toEqual({ minimumMinor: 5n, maximumMinor: 100n });
  expect(finestStep(both, asked)).toBe(2n);
  expect(finestStep(taking({ any: {}, coarse: { stepMinor: 100n } }), asked)).toBe(1n);
  expect(amountBounds(both, { ...asked, currency: "USD" })).toBeUndefined();
  expect(finestStep(both, { ...asked, currency: "USD" })).toBe(1n);
});

test("a rule without amounts, method and currency takes the smallest payment and the largest", () => {
  const all = taking({ all: { minimumMinor: 1n, maximumMinor: 9_007_199_254_740_991n } });
  for (const amountMinor of [1n, 9_007_199_254_740_991n])
    expect(verdicts(route(all, { ...request, amountMinor }))).toEqual({ all: "chosen" });
});

test("three that share equally get a third each, and the shares of a payment add up to one", () => {
  const three = taking({ one: {}, two: {}, three: {} });
  for (const share of Object.values(sharesOf(three, "qris", 3_000))) expect(share).toBeCloseTo(1 / 3, 1);
  const ranked = { ...three, rules: three.rules.map((rule, at) => ({ ...rule, priority: at < 2 ? 1 : 2 })) };
  const { shares } = judgementOf(ranked, request);
  expect(shares.map(({ candidate, share }) => [candidate.acquirer.code, share])).toEqual([
    ["one", 0.5],
    ["two", 0.5],
  ]);
  const { decision } = route(ranked, request);
  expect(decision.candidates.map(({ verdict }) => verdict).toSorted()).toEqual([
    "chosen",
    "lower_priority",
    "not_drawn",
  ]);
});

test.each<[AcquirerState | undefined, boolean]>([
  [undefined, false],
  [{ enabled: true, health: "healthy" }, false],
  [{ enabled: true, health: "degraded" }, false],
  [{ enabled: true, health: "down" }, true],
  [{ enabled: false, health: "healthy" }, true],
])("an acquirer whose state is %o gets no payments: %s", (state, isOff) => {
  expect(isSwitchedOff(table(state ? [["cendana", state]] : []), "cendana")).toBe(isOff);
});

const degraded: AcquirerState = { enabled: true, health: "degraded" };

/** The share of payments that goes to each acquirer. */
function sharesOf(of: RoutingTable, method: RoutingRequest["method"], payments = 2000): Record<string, number> {
  const shares: Record<string, number> = {};
  for (let number = 0; number < payments; number++) {
    const code = route(of, { ...request, method, draw: `pay_${number}` }).chosen?.code ?? "nobody";
    shares[code] = (shares[code] ?? 0) + 1 / payments;
  }
  return shares;
}

test("where a rule names no weight, the acquirer's own counts, and a hundred where it has none", () => {
  const acquirers = simulatedAcquirers.map((one) => (one.code === "merapi" ? { ...one, weight: 300 } : one));
  const rules = ["nusantara", "merapi"].map((gateway_code) => ({ gateway_code, priority: 1 }));
  expect(sharesOf({ ...table([], rules), acquirers }, "va").merapi).toBeCloseTo(0.75, 1);
  const { decision } = route({ ...table([], rules), acquirers }, { ...request, method: "va" });
  const weights = decision.candidates.map(({ gateway_code, weight }) => [gateway_code, weight]);
  expect(weights).toEqual(
    expect.arrayContaining([
      ["nusantara", 100],
      ["merapi", 300],
    ]),
  );
});

test("under the first rules a degraded specialist hands most of its payments to the all-rounder, and keeps a tenth", () => {
  const shares = sharesOf(table([["nusantara", degraded]]), "qris");
  expect(Object.keys(shares).toSorted()).toEqual(["cendana", "nusantara"]);
  expect(shares.nusantara).toBeGreaterThan(0.07);
  expect(shares.nusantara).toBeLessThan(0.13);
});

test("a degraded acquirer hands its payments to its equals first; the next priority gets none of them", () => {
  const shares = sharesOf(table([["nusantara", degraded]]), "va");
  expect(Object.keys(shares).toSorted()).toEqual(["merapi", "nusantara"]);
  expect(shares.nusantara).toBeGreaterThan(0.03);
  expect(shares.nusantara).toBeLessThan(0.09);
});

test("a tenth of a degraded acquirer's share stays with it, and its healthy equals share the rest by their weights", () => {
  const weights = { nusantara: 100, merapi: 100, cendana: 200 };
  const rules = Object.entries(weights).map(([gateway_code, weight]) => ({ gateway_code, priority: 1, weight }));
  const { shares } = judgementOf(table([["nusantara", degraded]], rules), { ...request, method: "va" });
  const shareOf = Object.fromEntries(shares.map(({ candidate, share }) => [candidate.acquirer.code, share]));
  expect(shareOf).toEqual({
    nusantara: expect.closeTo(0.025, 9),
    merapi: expect.closeTo(0.325, 9),
    cendana: expect.closeTo(0.65, 9),
  });
});

test("where every acquirer is degraded nobody is better, and all share as if they were healthy", () => {
  const all = simulatedAcquirers.map(({ code }): [string, AcquirerState] => [code, degraded]);
  expect(sharesOf(table(all), "va")).toEqual(sharesOf(table(), "va"));
  expect(sharesOf(table(all), "qris")).toEqual({ nusantara: expect.closeTo(1, 6) });
});

test("a payment keeps that an acquirer was passed over for its health, or chosen in spite of it", () => {
  const kept = new Set<string>();
  for (let number = 0; number < 200; number++) {
    const { decision } = route(table([["nusantara", degraded]]), { ...request, draw: `pay_${number}` });
    const [nusantara, , , cendana] = decision.candidates;
    expect(nusantara).toMatchObject({ gateway_code: "nusantara", priority: 10, weight: 100, degraded: true });
    expect(cendana).not.toHaveProperty("degraded");
    kept.add(`${nusantara?.verdict}, ${cendana?.verdict}`);
  }
  expect([...kept].toSorted()).toEqual(["chosen, lower_priority", "degraded, chosen"]);
});

test("whatever the rules, degrading an acquirer leaves it a tenth of its payments while somebody healthy can take them", () => {
  const weights = fc.tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 1000 }));
  fc.assert(
    fc.property(weights, weights, weights, fc.constantFrom("nusantara", "merapi", "cendana"), (a, b, c, ill) => {
      const codes = ["nusantara", "merapi", "cendana"];
      const rules = [a, b, c].map(([priority, weight], index) => ({
        gateway_code: codes[index] ?? "",
        priority,
        weight,
      }));
      const [before, after] = [table([], rules), table([[ill, degraded]], rules)].map((of) => sharesOf(of, "va", 1000));
      expect(after?.[ill] ?? 0).toBeGreaterThanOrEqual(0.1 * (before?.[ill] ?? 0) - 0.04);
      expect(after?.[ill] ?? 0).toBeLessThanOrEqual(0.1 * (before?.[ill] ?? 0) + 0.04);
      for (const code of codes.filter((other) => other !== ill)) {
        expect(after?.[code] ?? 0).toBeGreaterThanOrEqual((before?.[code] ?? 0) - 0.05);
      }
    }),
    { numRuns: 40 },
  );
});

test("whatever the rules and states, the choice is one that nothing speaks against, and no healthy one is better", () => {
  const code = fc.constantFrom("nusantara", "samudra", "merapi", "cendana");
  const rule = fc.record(
    {
      gateway_code: code,
      payment_method: fc.constantFrom(...paymentMethods),
      priority: fc.integer({ min: 1, max: 5 }),
      weight: fc.integer({ min: 1, max: 100 }),
    },
    { requiredKeys: ["gateway_code", "priority", "weight"] },
  );
  const state = fc.record({ enabled: fc.boolean(), health: fc.constantFrom<Health>("healthy", "degraded", "down") });
  fc.assert(
    fc.property(
      fc.array(rule, { maxLength: 12 }),
      fc.array(fc.tuple(code, state)),
      fc.constantFrom(...paymentMethods),
      fc.string(),
      (rules, states, method, draw) => {
        const { chosen, decision } = route(table(states, rules), {
          ...request,
          method,
          draw,
        });
        expect(decision.candidates.map((candidate) => candidate.gateway_code)).toEqual(
          simulatedAcquirers.map((acquirer) => acquirer.code),
        );
        const open = decision.candidates.filter((candidate) =>
          ["chosen", "not_drawn", "lower_priority", "degraded"].includes(candidate.verdict),
        );
        expect(
          decision.candidates
            .filter((candidate) => candidate.verdict === "chosen")
            .map((candidate) => candidate.gateway_code),
        ).toEqual(chosen ? [chosen.code] : []);
        expect(chosen === undefined).toBe(open.length === 0);
        if (!chosen) return;
        const ranks = (healthyOnly: boolean): number[] =>
          open.flatMap(({ priority = Infinity, degraded }) => (healthyOnly && degraded ? [] : [priority]));
        const taken = open.find((candidate) => candidate.gateway_code === chosen.code)?.priority;
        const well = ranks(true);
        if (well.length === 0) expect(taken).toBe(Math.min(...ranks(false)));
        else expect(taken).toBeLessThanOrEqual(Math.min(...well));
      },
    ),
  );
});

test.each<[string, number, string | undefined]>([
  ["below a rule's amounts", 999, undefined],
  ["at their beginning", 1_000, "cendana"],
  ["at their end", 2_000, "cendana"],
  ["above them", 2_001, undefined],
])("a rule decides within its amounts, both ends included: %s", (_where, amount, code) => {
  const rules = [{ gateway_code: "cendana", amount_from_minor: 1_000, amount_to_minor: 2_000, priority: 1, weight: 1 }];
  const result = route(table([], rules), { ...request, amountMinor: BigInt(amount) });
  expect(result.chosen?.code).toBe(code);
  expect(verdicts(result).cendana).toBe(code ? "chosen" : "no_rule");
});

test.each([
  ["another method", { payment_method: "va" as const }],
  ["another currency", { currency: "USD" }],
])("a rule for %s does not decide", (_what, limits) => {
  const rules = [{ gateway_code: "cendana", priority: 1, weight: 1, ...limits }];
  expect(verdicts(route(table([], rules), request)).cendana).toBe("no_rule");
});

test("a rule for the payment's own method and currency decides", () => {
  const rules = [{ gateway_code: "cendana", priority: 1, payment_method: "qris" as const, currency: "IDR" }];
  expect(verdicts(route(table([], rules), request)).cendana).toBe("chosen");
});

test("of an acquirer's rules for a payment the one of the lowest priority decides, and of equals the first", () => {
  const rules = [
    { gateway_code: "cendana", priority: 5, weight: 9 },
    { gateway_code: "cendana", priority: 2, weight: 7 },
    { gateway_code: "cendana", priority: 2, weight: 8 },
  ];
  const { decision } = route(table([], rules), request);
  expect(decision.candidates.at(-1)).toEqual({
    gateway_code: "cendana",
    verdict: "chosen",
    priority: 2,
    weight: 7,
  });
});

test("an open circuit is that of one method, and an acquirer that refused is asked no more", () => {
  const open = { ...table(), open: new Set(["nusantara/qris"]) };
  const around = route(open, request);
  expect([around.chosen?.code, verdicts(around).nusantara]).toEqual(["cendana", "circuit_open"]);
  const of = (draw: string): string | undefined => route(open, { ...request, method: "va", draw }).chosen?.code;
  expect(Array.from({ length: 50 }, (_, index) => of(`pay_${index}`))).toContain("nusantara");
  const refused = route(table(), { ...request, refusedBy: ["nusantara"] });
  expect([refused.chosen?.code, verdicts(refused).nusantara]).toEqual(["cendana", "refused"]);
});

test("whoever refuses, every acquirer that may take a payment is asked once, better priorities first, and then nobody", () => {
  const rule = fc.record({
    gateway_code: fc.constantFrom("nusantara", "merapi", "cendana"),
    priority: fc.integer({ min: 1, max: 4 }),
    weight: fc.integer({ min: 1, max: 100 }),
  });
  fc.assert(
    fc.property(fc.array(rule, { maxLength: 8 }), fc.string(), (rules, draw) => {
      const refusedBy: string[] = [];
      const priorities: number[] = [];
      for (;;) {
        const { chosen, decision } = route(table([], rules), { ...request, method: "va", draw, refusedBy });
        if (!chosen) break;
        expect(refusedBy).not.toContain(chosen.code);
        refusedBy.push(chosen.code);
        priorities.push(decision.candidates.find((one) => one.gateway_code === chosen.code)?.priority ?? Infinity);
      }
      expect(refusedBy.toSorted()).toEqual([...new Set(rules.map((one) => one.gateway_code))].toSorted());
      expect(priorities).toEqual(priorities.toSorted((a, b) => a - b));
    }),
  );
});

test("rules that make no sense are refused", () => {
  expect(routingRulesSchema.safeParse(defaultRules).success).toBe(true);
  for (const rules of [
    [],
    [{}],
    [{ gateway_code: "X", priority: 1, weight: 1 }],
    [{ gateway_code: "cendana", priority: 0, weight: 1 }],
    [{ gateway_code: "cendana", priority: 1, weight: 1, currency: "XXX" }],
  ]) {
    expect(routingRulesSchema.safeParse(rules).success, JSON.stringify(rules)).toBe(false);
  }
});
