// Goal: rules that could never decide anything are refused, and no others. Method: each kind of nonsense by example; by
// property, against routing itself, that payments go where they went without the refused rules.
import fc from "fast-check";
import { expect, test } from "vitest";
import { simulatedAcquirers } from "../acquirers/simulated.ts";
import { MINOR_MAX, type Minor } from "../ground/money.ts";
import { paymentMethods } from "../merchants/settings.ts";
import { objectionsTo } from "./objections.ts";
import { type RoutingRequest, type RoutingRule, type RoutingTable, amountsOf, defaultRules, route } from "./routing.ts";

const rule = (gateway_code: string, changes: Partial<RoutingRule> = {}): RoutingRule => ({
  gateway_code,
  priority: 10,
  weight: 1,
  ...changes,
});

/** The first objection, as an operator reads it. */
function objection(...rules: RoutingRule[]): string | undefined {
  const [first] = objectionsTo(rules, simulatedAcquirers);
  return first && `${[first.at, ...(first.field ? [first.field] : [])].join(".")}: ${first.message}`;
}

test("the rules of a new installation make sense, and so do rules that name more than their acquirer takes", () => {
  expect(objectionsTo(defaultRules, simulatedAcquirers)).toEqual([]);
  expect(objection(rule("samudra", { currency: "USD" }))).toBeUndefined();
  expect(objection(rule("merapi", { amount_from_minor: 4_000_000_000 }))).toBeUndefined();
});

test("what the acquirer does not take is refused at the field that says so", () => {
  expect(objection(rule("nobody"))).toBe("0.gateway_code: is not the code of an acquirer");
  expect(objection(rule("merapi", { payment_method: "card" }))).toBe(
    "0.payment_method: merapi takes only bank_transfer, va",
  );
  expect(objection(rule("samudra", { payment_method: "ewallet", currency: "USD" }))).toBe(
    "0.currency: samudra takes only IDR",
  );
  expect(objection(rule("merapi", { payment_method: "va", amount_from_minor: 5_000_000_001 }))).toBe(
    "0.amount_from_minor: merapi takes only 1 to 5000000000",
  );
  const costly = simulatedAcquirers.map((acquirer) => ({
    ...acquirer,
    capabilities: acquirer.capabilities.map((capability) => ({ ...capability, minimumMinor: 1_000n })),
  }));
  expect(objectionsTo([rule("nusantara", { amount_to_minor: 999 })], costly)).toMatchObject([
    { at: 0, field: "amount_to_minor" },
  ]);
});

test("a rule that another one always precedes is refused, whichever of the two comes first in the list", () => {
  const qris = { payment_method: "qris" } as const;
  expect(objection(rule("cendana", qris), rule("cendana", { ...qris, weight: 5 }))).toBe(
    "1: never decides anything: rules.0 has its acquirer for all of its payments and comes first",
  );
  expect(objection(rule("cendana", qris), rule("cendana", { ...qris, priority: 1 }))).toMatch(/^0: .*rules\.1/);
  // The whole range, named and not named, is one range.
  expect(
    objection(rule("cendana"), rule("cendana", { amount_from_minor: 1, amount_to_minor: Number(MINOR_MAX) })),
  ).toMatch(/^1: /);
  expect(objection(rule("cendana"), rule("cendana", qris))).toMatch(/^1: /);
  // A narrower rule that comes first leaves the wider one the rest.
  expect(objection(rule("cendana", qris), rule("cendana"))).toBeUndefined();
  expect(
    objection(rule("cendana", { amount_to_minor: 9 }), rule("cendana", { amount_from_minor: 10 })),
  ).toBeUndefined();
  expect(objection(rule("cendana", qris), rule("nusantara", qris))).toBeUndefined();
});

const amount = fc.integer({ min: 1, max: 6 }).map((step) => 10 ** (2 * step));
const someRules = fc.array(
  fc.record(
    {
      gateway_code: fc.constantFrom("nusantara", "samudra", "merapi", "cendana"),
      payment_method: fc.constantFrom(...paymentMethods),
      currency: fc.constantFrom("IDR", "USD"),
      amount_from_minor: amount,
      amount_to_minor: amount,
      priority: fc.integer({ min: 1, max: 3 }),
      weight: fc.integer({ min: 1, max: 9 }),
    },
    { requiredKeys: ["gateway_code", "priority", "weight"] },
  ),
  { minLength: 1, maxLength: 8 },
) as fc.Arbitrary<RoutingRule[]>;

const tableOf = (rules: readonly RoutingRule[]): RoutingTable => ({
  version: 1,
  rules,
  acquirers: simulatedAcquirers,
  states: new Map(),
});

/** Payments on both sides of every border of the rules, in every method and currency they name. */
function borders(rules: readonly RoutingRule[]): RoutingRequest[] {
  const amounts = new Set<Minor>(rules.map(amountsOf).flatMap(({ from, to }) => [from - 1n, from, to, to + 1n]));
  return [...amounts]
    .filter((amountMinor) => amountMinor >= 1n && amountMinor <= MINOR_MAX)
    .flatMap((amountMinor) =>
      paymentMethods.flatMap((method) =>
        ["IDR", "USD"].map((currency) => ({
          environment: "sandbox" as const,
          method,
          currency,
          amountMinor,
          draw: "pay_1",
        })),
      ),
    );
}

test("property: without the refused rules every payment goes where it went", () => {
  fc.assert(
    fc.property(someRules, (rules) => {
      const refused = new Set(objectionsTo(rules, simulatedAcquirers).map(({ at }) => at));
      const rest = rules.filter((_, at) => !refused.has(at));
      const decide = (kept: readonly RoutingRule[], request: RoutingRequest): unknown => {
        const { chosen, decision } = route(tableOf(kept), request);
        // What an acquirer does not take has no verdict on the rules worth comparing.
        const open = decision.candidates.filter(({ verdict }) => ["chosen", "not_drawn"].includes(verdict));
        return [chosen?.code, open];
      };
      for (const request of borders(rules)) expect(decide(rest, request)).toEqual(decide(rules, request));
    }),
    { numRuns: 200 },
  );
});
