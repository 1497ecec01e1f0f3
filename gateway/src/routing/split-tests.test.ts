// Goal: a split test gives its percent to the other acquirer, the same way for a payment each time, and only while both can take it. Method:
// examples of what ends it, tables of objections, and properties over ten thousand references.
import fc from "fast-check";
import { expect, test } from "vitest";
import { simulatedAcquirers } from "../acquirers/simulated.ts";
import { objectionsTo } from "./objections.ts";
import {
  type AcquirerState,
  type RoutingRequest,
  type RoutingRule,
  type RoutingTable,
  armOf,
  drawOf,
  judgementOf,
  route,
  routingRulesSchema,
} from "./routing.ts";

const split = { id: "cendana_qris", gateway_code: "cendana", percent: 10 };
const tested: RoutingRule = { gateway_code: "nusantara", payment_method: "qris", priority: 10, weight: 100, split };
const request: RoutingRequest = {
  environment: "sandbox",
  method: "qris",
  currency: "IDR",
  amountMinor: 150_000n,
  draw: "pay_1",
};
const table = (changes: Partial<RoutingTable> = {}): RoutingTable => ({
  version: 3,
  rules: [tested],
  acquirers: simulatedAcquirers,
  states: new Map(),
  ...changes,
});
const references = Array.from({ length: 10_000 }, (_, at) => `pay_${at}`);
const inTest = references.find((reference) => armOf(split, reference) === "test") as string;

test("both arms are on record, with the acquirer that was passed over", () => {
  const control = route(table(), { ...request, draw: references.find((one) => armOf(split, one) === "control") ?? "" });
  expect(control.chosen?.code).toBe("nusantara");
  const pair = { id: "cendana_qris", percent: 10, control: "nusantara", test: "cendana" };
  expect(control.decision.split).toEqual({ ...pair, arm: "control" });
  const given = route(table(), { ...request, draw: inTest });
  expect(given.chosen?.code).toBe("cendana");
  expect(given.decision.split).toEqual({ ...pair, arm: "test" });
  const verdicts = given.decision.candidates.map(({ gateway_code, verdict }) => [gateway_code, verdict]);
  expect(verdicts).toContainEqual(["nusantara", "split"]);
  expect(verdicts).toContainEqual(["cendana", "chosen"]);
});

const state = (changes: Partial<AcquirerState>): AcquirerState => ({ enabled: true, health: "healthy", ...changes });
test.each<[string, Partial<RoutingTable>, Partial<RoutingRequest>]>([
  ["the other acquirer is switched off", { states: new Map([["cendana", state({ enabled: false })]]) }, {}],
  ["the other acquirer is down", { states: new Map([["cendana", state({ health: "down" })]]) }, {}],
  ["the other acquirer is degraded", { states: new Map([["cendana", state({ health: "degraded" })]]) }, {}],
  ["its own acquirer is degraded", { states: new Map([["nusantara", state({ health: "degraded" })]]) }, {}],
  ["the other acquirer's circuit is open", { open: new Set(["cendana/qris"]) }, {}],
  ["the other acquirer refused the payment", {}, { refusedBy: ["cendana"] }],
  [
    "the other acquirer does not take such payments",
    { acquirers: simulatedAcquirers.map((one) => (one.code === "cendana" ? { ...one, capabilities: [] } : one)) },
    {},
  ],
  ["the payment may be in no test", {}, { onlySplit: null }],
  ["the payment is in another test", {}, { onlySplit: "another" }],
])("no payment is in a test while %s", (_, changes, asked) => {
  const { chosen, decision } = route(table(changes), { ...request, draw: inTest, ...asked });
  expect([chosen?.code, decision.split]).toEqual(["nusantara", undefined]);
});

test("a payment that is in the test stays in it, and another rule's payments never come in", () => {
  expect(route(table(), { ...request, draw: inTest, onlySplit: "cendana_qris" }).chosen?.code).toBe("cendana");
  const samudra = table({ rules: [tested, { gateway_code: "samudra", priority: 1, weight: 1 }] });
  expect(route(samudra, { ...request, method: "ewallet", draw: inTest }).decision.split).toBeUndefined();
});

test("property: the share is the percent within bounds, the arms add up, and the draw among weights is another one", () => {
  const shared = (percent: number, weight: number): RoutingTable =>
    table({
      rules: [
        { ...tested, weight, split: { ...split, gateway_code: "cendana", percent } },
        { gateway_code: "cendana", payment_method: "qris", priority: 10, weight: 100 - weight },
      ],
    });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 99 }), fc.constantFrom(30, 50, 80), (percent, weight) => {
      let [control, given] = [0, 0];
      const judgement = judgementOf(shared(percent, weight), request);
      for (const reference of references) {
        const arm = drawOf(judgement, { draw: reference }).split?.arm;
        if (arm === "control") control++;
        if (arm === "test") given++;
        if (arm) expect(arm).toBe(armOf({ id: split.id, percent }, reference));
      }
      // Five deviations of a fair draw.
      const fallen = references.length * (weight / 100);
      expect(Math.abs(control + given - fallen)).toBeLessThan(5 * Math.sqrt(fallen * (1 - weight / 100)));
      const expected = (control + given) * (percent / 100);
      expect(Math.abs(given - expected)).toBeLessThan(5 * Math.sqrt(expected * (1 - percent / 100)) + 1);
    }),
    { numRuns: 8 },
  );
});

test("property: what a payment draws does not depend on the percent but for its border, nor on other tests", () => {
  fc.assert(
    fc.property(fc.string(), fc.integer({ min: 1, max: 98 }), (reference, percent) => {
      const [less, more] = [percent, percent + 1].map((one) => armOf({ id: "a", percent: one }, reference));
      expect(less === "test" && more === "control").toBe(false);
    }),
  );
  const same = references.filter(
    (one) => armOf({ id: "a", percent: 50 }, one) === armOf({ id: "b", percent: 50 }, one),
  );
  expect(Math.abs(same.length - 5_000)).toBeLessThan(250);
});

const rule = (changes: Partial<RoutingRule["split"]>, others: Partial<RoutingRule> = {}): RoutingRule => ({
  ...tested,
  ...others,
  split: { ...split, ...changes },
});
test.each<[string, RoutingRule[]]>([
  ["0.split.gateway_code: is the rule's own acquirer", [rule({ gateway_code: "nusantara" })]],
  ["0.split.gateway_code: is not the code of an acquirer", [rule({ gateway_code: "nobody" })]],
  ["0.split.gateway_code: merapi takes only bank_transfer, va", [rule({ gateway_code: "merapi" })]],
  [
    "0.split.gateway_code: takes nothing of what nusantara takes by this rule",
    [{ gateway_code: "nusantara", priority: 1, weight: 1, split: { ...split, gateway_code: "samudra" } }],
  ],
  ["1.split.id: is the test of rules.0 already", [rule({}), rule({}, { payment_method: "va" })]],
])("a test that cannot be is refused: %s", (words, rules) => {
  const [first] = objectionsTo(rules, simulatedAcquirers);
  expect(first && `${first.at}.${first.field}: ${first.message}`).toBe(words);
});

test("a test with an acquirer of the other environment is refused", () => {
  const live = simulatedAcquirers.map((one) =>
    one.code === "cendana" ? { ...one, environment: "production" as const } : one,
  );
  expect(objectionsTo([rule({})], live)).toMatchObject([{ field: "split.gateway_code", message: /production/ }]);
});

test.each([0, 100, 1.5, -1])("a share of %d percent is none", (percent) => {
  expect(routingRulesSchema.safeParse([rule({ percent })]).success).toBe(false);
});

test("a rule that something else is wrong with keeps its place among the others", () => {
  expect(objectionsTo([undefined, rule({ gateway_code: "nobody" })], simulatedAcquirers)).toMatchObject([{ at: 1 }]);
});
