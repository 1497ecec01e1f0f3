// Goal: a payment that nobody takes says whether its amount is to blame. Method: creations on small tables of acquirers.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { creating } from "../../test/creations.ts";
import { book, given, merchantWith, ownerWith, row } from "../../test/given.ts";
import { aPayment } from "../../test/payments.ts";
import { PAY_URL, aRouter, anAcquirer, takes } from "../../test/routing.ts";
import type { Capability } from "../acquirers/acquirer.ts";
import { bookClocks } from "../merchants/books.ts";
import type { Health, RoutingRule, RoutingTable, Verdict } from "../routing/routing.ts";
import { splitAssignments } from "../routing/split-assignments.sql.ts";
import type { Payment } from "./payment.ts";
import { payments } from "./payments.sql.ts";
import { approvePayment } from "./review.ts";
import { selectRoute } from "./route-selection.ts";

const AMOUNT = 1_000_000;
const all: RoutingRule[] = ["a", "b"].map((gateway_code) => ({ gateway_code, priority: 1, weight: 1 }));
const tooLow = takes({ maximumMinor: 999_999n });
const tooHigh = takes({ minimumMinor: 1_000_001n, maximumMinor: 10n ** 12n });
const other = takes({ method: "va" });
const dollars = takes({ currencies: ["USD"] });

/** A table of acquirers `a`, `b`, … that take these. */
const table = (taken: readonly Capability[], changes: Partial<RoutingTable> = {}): Partial<RoutingTable> => ({
  acquirers: taken.map((capability, index) => anAcquirer("ab"[index] ?? "", { capabilities: [capability] })),
  rules: all,
  ...changes,
});
const state = (enabled: boolean, health: Health): ReadonlyMap<string, { enabled: boolean; health: Health }> =>
  new Map([["a", { enabled, health }]]);

test.each<[string, Partial<RoutingTable>, string]>([
  ["one that takes it", table([takes()]), "a"],
  ["its largest amount", table([takes({ maximumMinor: 1_000_000n })]), "a"],
  ["its smallest amount", table([takes({ minimumMinor: 1_000_000n })]), "a"],
  ["one above its range", table([tooLow]), "INVALID_AMOUNT"],
  ["one below its range", table([tooHigh]), "INVALID_AMOUNT"],
  ["between two ranges", table([tooLow, tooHigh]), "INVALID_AMOUNT"],
  ["another one takes it", table([tooLow, takes()]), "b"],
  ["out of range, and others do not know the method or currency", table([tooLow, other]), "INVALID_AMOUNT"],
  ["out of range, and others take another currency", table([tooLow, dollars]), "INVALID_AMOUNT"],
  ["finer than its step", table([takes({ stepMinor: 300n })]), "INVALID_AMOUNT"],
  ["a multiple of its step", table([takes({ stepMinor: 100n })]), "a"],
  ["finer than its step, and another takes any", table([takes({ stepMinor: 300n }), takes()]), "b"],
  ["too fine for one and out of range for the other", table([takes({ stepMinor: 300n }), tooLow]), "INVALID_AMOUNT"],
  ["nobody at all", table([]), "NO_ROUTE_AVAILABLE"],
  ["another method", table([other]), "NO_ROUTE_AVAILABLE"],
  ["another currency", table([dollars]), "NO_ROUTE_AVAILABLE"],
  ["no rule", table([takes()], { rules: all.slice(1) }), "NO_ROUTE_AVAILABLE"],
  ["no rule, and out of range too", table([tooLow], { rules: all.slice(1) }), "NO_ROUTE_AVAILABLE"],
  [
    "out of range, and who would take it has no rule",
    table([tooLow, takes()], { rules: all.slice(0, 1) }),
    "INVALID_AMOUNT",
  ],
  ["switched off", table([takes()], { states: state(false, "healthy") }), "NO_ROUTE_AVAILABLE"],
  ["down", table([takes()], { states: state(true, "down") }), "NO_ROUTE_AVAILABLE"],
  ["degraded, and nobody else", table([takes()], { states: state(true, "degraded") }), "a"],
  ["its circuit is open", table([takes()], { open: new Set(["a/qris"]) }), "NO_ROUTE_AVAILABLE"],
  ["the circuit of another method is open", table([takes()], { open: new Set(["a/va"]) }), "a"],
  [
    "one is down, the other out of range",
    table([takes(), tooLow], { states: state(true, "down") }),
    "NO_ROUTE_AVAILABLE",
  ],
  ["down and out of range", table([tooLow], { states: state(true, "down") }), "INVALID_AMOUNT"],
])("%s", (_name, routing, expected) => {
  const created = given().when(creating({ amount_minor: AMOUNT }, { router: aRouter(routing) }));
  if (expected === "INVALID_AMOUNT" || expected === "NO_ROUTE_AVAILABLE") created.refuses(expected);
  else expect(created.answer.payment.gatewayCode).toBe(expected);
});

test("the log is told why each acquirer was passed over", () => {
  const router = aRouter(table([takes(), dollars], { states: state(true, "down") }));
  const { outcome } = given().when(creating({ amount_minor: AMOUNT }, { router }));
  expect("fault" in outcome && outcome.fault.extras.internal).toBe(
    "no acquirer takes it: a down, b currency_not_supported",
  );
});

test("an amount that is too fine is never rounded: the answer names the step that is taken", () => {
  const router = aRouter(table([takes({ stepMinor: 100n })]));
  const { outcome } = given().when(creating({ amount_minor: 150_050 }, { router }));
  expect("fault" in outcome && outcome.fault).toMatchObject({
    code: "INVALID_AMOUNT",
    message: "Nobody takes so fine an amount of IDR by qris: amount_minor must be a multiple of 100.",
  });
  given()
    .when(creating({ amount_minor: 150_000 }, { router }))
    .then((_changes, { payment }) => expect(payment.amountMinor).toBe(150_000n));
});

test("an acquirer is told what the merchant asked for, and where the payer pays and goes back to", () => {
  const payment = aPayment({ returnUrl: "https://shop.example/back", metadata: { table: "4" } });
  const { reference, amountMinor, currency, method, expiresAt, returnUrl, metadata } = payment;
  const { request } = selectRoute(aRouter(), merchantWith(), payment);
  const told = { reference, amountMinor, currency, method, expiresAt, returnUrl, metadata, merchantName: "Test Shop" };
  expect({ ...request }).toEqual({ ...told, payUrl: PAY_URL + reference });
});

describe("a split test", () => {
  const split = { id: "half", gateway_code: "b", percent: 50 };
  const routing = table([takes(), takes()], {
    rules: [
      { gateway_code: "a", payment_method: "qris", priority: 1, weight: 1, split },
      { gateway_code: "b", priority: 2, weight: 1 },
    ],
  });
  const router = aRouter(routing);
  const asked = aPayment({ method: "qris", gatewayCode: undefined });
  const selected = (changes: Partial<Payment> = {}, refusedBy: string[] = []) =>
    selectRoute(router, merchantWith(), { ...asked, ...changes }, refusedBy);

  test("has each payment that it was given, once", () => {
    const { changes, answer } = given().when(creating({ amount_minor: AMOUNT }, { router }));
    const { reference, routing: decided } = answer.payment;
    expect(decided.split).toMatchObject({ id: "half", percent: 50, control: "a", test: "b" });
    expect(changes.inserted(splitAssignments)).toEqual([{ book, reference, split: decided.split }]);
    const plain = given().when(creating({ amount_minor: AMOUNT }, { router: aRouter(table([takes()])) }));
    expect(plain.changes.inserted(splitAssignments)).toEqual([]);
  });

  test("has a payment whose acquirer must be asked, and one that is approved", () => {
    const asking = [takes(), takes()].map((capability, index) =>
      anAcquirer("ab"[index] ?? "", { capabilities: [capability], remote: true, issue: () => undefined }),
    );
    const remote = aRouter({ ...routing, acquirers: asking });
    const waiting = given().when(creating({ amount_minor: AMOUNT }, { router: remote }));
    expect(waiting.answer.payment.instructions).toBeUndefined();
    expect(waiting.changes.inserted(splitAssignments)).toHaveLength(1);
    const reviewed = aPayment({
      risk: { decision: "review", score: 70, reasons: [] },
      gatewayCode: undefined,
      instructions: undefined,
    });
    const approved = given({ rows: [row(payments, reviewed)] }).when(
      approvePayment(router, ownerWith(), reviewed.reference),
    );
    expect(approved.changes.inserted(splitAssignments)).toMatchObject([{ reference: reviewed.reference }]);
  });

  test("keeps a payment that it has, and takes none that was decided without it", () => {
    const { decision } = selected();
    expect(decision.split?.id).toBe("half");
    const [chosen, passed] = decision.split?.arm === "test" ? ["b", "a"] : ["a", "b"];
    const again = selected({ routing: decision });
    expect([again.chosen.code, again.decision.split]).toEqual([chosen, decision.split]);
    const refused = selected({ routing: decision }, [chosen]);
    expect([refused.chosen.code, refused.decision.split]).toEqual([passed, decision.split]);
    const { split: _, ...before } = decision;
    expect(selected({ routing: before }).decision.split).toBeUndefined();
  });
});

test("an acquirer of the other environment takes nothing", () => {
  const sandbox = ownerWith();
  const production = { ...sandbox, book: { ...sandbox.book, environment: "production" as const } };
  const live = anAcquirer("live", { environment: "production" });
  const router = aRouter({
    acquirers: [anAcquirer("test"), live],
    rules: ["test", "live"].map((gateway_code) => ({ gateway_code, priority: 1, weight: 1 })),
  });
  for (const [owner, code] of [
    [sandbox, "test"],
    [production, "live"],
  ] as const) {
    const rows = [row(bookClocks, { book: owner.book, offsetSeconds: 0 })];
    const { payment } = given({ rows }).when(creating({}, { owner, router })).answer;
    expect([payment.gatewayCode, payment.book.environment]).toEqual([code, owner.book.environment]);
    expect(payment.routing.candidates.map(({ gateway_code }) => gateway_code)).toEqual([code]);
  }
});

test("a payment keeps the version of the rules, and every acquirer with why it was chosen or not", () => {
  const { payment } = given().when(creating()).answer;
  expect(payment.routing.rules_version).toBe(7);
  const verdicts = Object.fromEntries(payment.routing.candidates.map((one) => [one.gateway_code, one.verdict]));
  expect(verdicts).toEqual({
    nusantara: "chosen",
    samudra: "method_not_supported",
    merapi: "method_not_supported",
    cendana: "lower_priority",
  } satisfies Record<string, Verdict>);
});

test("whatever the acquirers take, the amount is blamed only if another amount would have found somebody", () => {
  const capability = fc.record({
    method: fc.constantFrom("qris", "va"),
    currencies: fc.constantFrom(["IDR"], ["USD"], ["IDR", "USD"]),
    minimumMinor: fc.constantFrom(1n, 1_000n, 1_000_001n),
    maximumMinor: fc.constantFrom(1_000_001n, 2_000_000n, 999_999n),
  });
  const ranges = capability.filter(({ minimumMinor, maximumMinor }) => minimumMinor <= maximumMinor);
  fc.assert(
    fc.property(
      fc.array(ranges, { maxLength: 2 }),
      fc.constantFrom(1, 999_999, 1_000_000, 5_000_000),
      (taken, amount) => {
        const router = aRouter(table(taken.map((one) => takes(one as Partial<Capability>))));
        const outcomeAt = (amount_minor: number): string => {
          const { outcome } = given().when(creating({ amount_minor }, { router }));
          return "fault" in outcome ? outcome.fault.code : "taken";
        };
        const elsewhere = [1, 1_000, 999_999, 1_000_001, 2_000_000].map(outcomeAt);
        const here = outcomeAt(amount);
        if (here === "INVALID_AMOUNT") expect(elsewhere).toContain("taken");
        if (here === "NO_ROUTE_AVAILABLE") expect(elsewhere).not.toContain("taken");
      },
    ),
  );
});
