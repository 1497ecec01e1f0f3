// Goal: the right acquirer, for reasons that are kept. Method: examples of each verdict, then properties over random tables.
import fc from "fast-check";
import { expect, test } from "vitest";
import { simulatedAcquirers } from "../acquirers/simulated.ts";
import { paymentMethods } from "../merchants/settings.ts";
import {
  type AcquirerState,
  type Health,
  type RoutingRequest,
  type RoutingTable,
  defaultRules,
  isOffered,
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
  expect(isOffered(table(), "production", "qris", "IDR")).toBe(false);
  expect(isOffered(table(), "sandbox", "qris", "USD")).toBe(false);
  expect(isOffered(table(), "sandbox", "card", "USD")).toBe(true);
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

test("whatever the rules and states, the choice is one that nothing speaks against, of the best priority", () => {
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
          ["chosen", "not_drawn", "lower_priority"].includes(candidate.verdict),
        );
        expect(
          decision.candidates
            .filter((candidate) => candidate.verdict === "chosen")
            .map((candidate) => candidate.gateway_code),
        ).toEqual(chosen ? [chosen.code] : []);
        expect(chosen === undefined).toBe(open.length === 0);
        if (!chosen) return;
        const best = Math.min(...open.map((candidate) => candidate.priority ?? Infinity));
        expect(decision.candidates.find((candidate) => candidate.gateway_code === chosen.code)?.priority).toBe(best);
      },
    ),
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
