// Goal: the rules of four eyes leave nothing open. Method: tables of who asks and who approves, and properties of the policy: what is not looser
// lets nothing through that needed somebody before.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Foreseen,
  type Hands,
  type PolicyRules,
  demands,
  isLooser,
  isOff,
  objectionTo,
  policyActions,
} from "./approval.ts";
import type { Identity } from "./known-tokens.ts";

const idr = (amountMinor: bigint): Foreseen => ({ summary: "x", amount: { amountMinor, currency: "IDR" } });

describe("the policy", () => {
  test.each<[string, PolicyRules, Foreseen, boolean]>([
    ["nothing is demanded", {}, idr(10n), false],
    ["it is demanded for another action", { resolve_dispute: {} }, idr(10n), false],
    ["it is demanded always", { refund_payment: {} }, idr(1n), true],
    ["the amount is the bound", { refund_payment: { aboveMinor: { IDR: 10n } } }, idr(10n), false],
    ["the amount is above the bound", { refund_payment: { aboveMinor: { IDR: 10n } } }, idr(11n), true],
    ["the currency has no bound", { refund_payment: { aboveMinor: { USD: 10n } } }, idr(1n), true],
    ["the bound is nothing", { refund_payment: { aboveMinor: { IDR: 0n } } }, idr(1n), true],
    ["no amount is known", { refund_payment: { aboveMinor: { IDR: 10n } } }, { summary: "x" }, true],
    [
      "more is judged than is moved",
      { refund_payment: { aboveMinor: { IDR: 10n } } },
      { ...idr(5n), judgedMinor: 11n },
      true,
    ],
  ])("when %s", (_what, rules, foreseen, expected) => {
    expect(demands(rules, "refund_payment", foreseen)).toBe(expected);
  });

  test("to loosen it needs somebody while anything does", () => {
    expect(demands({}, "loosen_policy", { summary: "x" })).toBe(false);
    expect(demands({ enable_acquirer: {} }, "loosen_policy", { summary: "x" })).toBe(true);
  });

  const bound = fc.bigInt({ min: 0n, max: 5n });
  const rules: fc.Arbitrary<PolicyRules> = fc.dictionary(
    fc.constantFrom(...policyActions),
    fc.record({ aboveMinor: fc.dictionary(fc.constantFrom("IDR", "USD"), bound) }, { requiredKeys: [] }),
  );

  test("what is not looser lets nothing through that needed somebody before, and what is looser lets something through", () => {
    const cases = policyActions.flatMap((action) =>
      ["IDR", "USD", "EUR", undefined].flatMap((currency) =>
        [0n, 1n, 2n, 3n, 4n, 5n, 6n].map((amountMinor) => ({
          action,
          foreseen: { summary: "x", amount: currency === undefined ? undefined : { amountMinor, currency } },
        })),
      ),
    );
    const seen = { looser: 0, not: 0 };
    fc.assert(
      fc.property(rules, rules, (before, after) => {
        const through = cases.some(
          ({ action, foreseen }) => demands(before, action, foreseen) && !demands(after, action, foreseen),
        );
        seen[through ? "looser" : "not"]++;
        expect(isLooser(before, after)).toBe(through);
      }),
      { numRuns: 500 },
    );
    expect(Math.min(seen.looser, seen.not)).toBeGreaterThan(20);
  });

  test("nothing is looser than itself, and everything is tighter than none", () => {
    fc.assert(
      fc.property(rules, (one) => {
        expect(isLooser(one, one)).toBe(false);
        expect(isLooser({}, one)).toBe(false);
        expect(isLooser(one, {})).toBe(!isOff(one));
      }),
    );
  });
});

describe("an approver", () => {
  const token = (name: string, role: Identity["role"] = "admin"): Identity => ({
    kind: "token",
    id: `otk_${name}`,
    name,
    role,
  });
  const person = (name: string): Identity => ({ kind: "person", id: `prs_${name}`, name, role: "admin" });
  const made = (...names: string[]): Hands => ({ names: new Set(names), madeAt: 10 });
  const ask = (askedBy: Identity, leastRole: Identity["role"] = "admin") => ({ askedBy, askedAt: 20, leastRole });

  test.each<[string, ReturnType<typeof ask>, Hands, Identity, Hands, RegExp | undefined]>([
    ["is another one", ask(token("sari")), made("sari"), token("budi"), made("budi"), undefined],
    ["is a person beside a token", ask(token("sari")), made("sari"), person("b@x.example"), made(), undefined],
    ["asked", ask(token("sari")), made("sari"), token("sari"), made("sari"), /yourself/],
    [
      "has another token of the same name",
      ask(token("sari")),
      made("sari"),
      { ...token("sari"), id: "otk_2" },
      made("sari"),
      /yourself/,
    ],
    [
      "is who asked, under another name",
      ask(token("sari")),
      made("sari"),
      { ...token("sari"), name: "budi" },
      made("budi"),
      /yourself/,
    ],
    [
      "is a person whose identity reads like the asker's token",
      ask(token("sari")),
      made("sari"),
      { ...token("sari"), kind: "person", name: "b@x.example" },
      made(),
      undefined,
    ],
    ["has the same name in capitals", ask(person("A@x.example")), made(), person("a@x.example"), made(), /yourself/],
    [
      "has a token that the asker made",
      ask(token("sari")),
      made("sari"),
      token("two"),
      made("two", "sari"),
      /sari has held/,
    ],
    [
      "has a token that the asker made through another one",
      ask(token("sari")),
      made("sari"),
      token("three"),
      made("three", "two", "sari"),
      /sari has held/,
    ],
    ["made the asker's token", ask(token("two")), made("two", "sari"), token("sari"), made("sari"), /sari has held/],
    ["has a token of the same maker", ask(token("a")), made("a", "sari"), token("b"), made("b", "sari"), /sari has/],
    [
      "has a token that the person made who asked",
      ask(person("s@x.example")),
      made(),
      token("b"),
      made("b", "s@x.example"),
      /s@x.example has held/,
    ],
    [
      "is a person whom the asker invited",
      ask(token("sari")),
      made("sari"),
      person("b@x.example"),
      made("b@x.example", "sari"),
      /sari has held a token or an invitation of both.*whom neither of you let in/,
    ],
    [
      "is a person whom somebody invited that the asker made an operator",
      ask(person("s@x.example")),
      made("s@x.example"),
      person("b@x.example"),
      made("b@x.example", "token-of-s", "s@x.example"),
      /s@x.example has held/,
    ],
    [
      "comes from the machine as the asker does",
      ask(token("a")),
      made("a", "environment", "command-line"),
      token("b"),
      made("b", "environment", "command-line"),
      undefined,
    ],
    [
      "was made by the environment's token, which asked",
      ask({ kind: "environment", id: "environment", name: "environment", role: "admin" }),
      made(),
      token("b"),
      made("b", "environment"),
      /environment has held/,
    ],
    [
      "is the environment's token",
      ask(token("a")),
      made("a"),
      { kind: "environment", id: "environment", name: "environment", role: "admin" },
      { names: new Set(), madeAt: undefined },
      /nobody's own/,
    ],
    ["has too low a role", ask(token("a")), made("a"), token("b", "support"), made("b"), /takes the role admin/],
    ["has the role of the action", ask(token("a"), "support"), made("a"), token("b", "support"), made("b"), undefined],
    [
      "came after the question",
      ask(token("a")),
      made("a"),
      token("b"),
      { names: new Set(["b"]), madeAt: 21 },
      /after it was asked/,
    ],
    [
      "came with the question",
      ask(token("a")),
      made("a"),
      token("b"),
      { names: new Set(["b"]), madeAt: 20 },
      /after it was asked/,
    ],
    [
      "came nobody knows when",
      ask(token("a")),
      made("a"),
      token("b"),
      { names: new Set(["b"]), madeAt: undefined },
      /after it was asked/,
    ],
  ])("who %s", (_what, question, asker, approver, hands, expected) => {
    const objection = objectionTo(question, asker, approver, hands);
    if (expected === undefined) expect(objection).toBeUndefined();
    else expect(objection).toMatch(expected);
  });
});
