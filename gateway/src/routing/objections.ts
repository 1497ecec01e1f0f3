// What is wrong with routing rules before they are kept: whatever could never decide anything. Pure.
import type { Acquirer } from "../acquirers/acquirer.ts";
import { type RoutingRule, amountsOf } from "./routing.ts";

/** The rule that is wrong, by its place, and the field of it; without a field it is the rule as a whole. */
export interface Objection {
  at: number;
  field?: keyof RoutingRule;
  message: string;
}

/**
 * Rules of acquirers that do not exist, rules for what their acquirer does not take, and rules that another one always
 * precedes. A rule may name more than its acquirer takes: then it decides for the part that is taken.
 */
export function objectionsTo(rules: readonly RoutingRule[], acquirers: readonly Acquirer[]): Objection[] {
  const ranked = rules.map((rule, at) => ({ rule, at, ...amountsOf(rule) }));
  return ranked.flatMap((one) => {
    const untaken = untakenBy(
      acquirers.find(({ code }) => code === one.rule.gateway_code),
      one.rule,
    );
    if (untaken) return [{ at: one.at, ...untaken }];
    const first = ranked.find((other) => precedes(other, one) && covers(other, one));
    if (!first) return [];
    const message = `never decides anything: rules.${first.at} has its acquirer for all of its payments and comes first`;
    return [{ at: one.at, message }];
  });
}

function untakenBy(acquirer: Acquirer | undefined, rule: RoutingRule): Omit<Objection, "at"> | undefined {
  if (!acquirer) return { field: "gateway_code", message: "is not the code of an acquirer" };
  const { code, capabilities } = acquirer;
  const { from, to } = amountsOf(rule);
  if (from > to) return { field: "amount_to_minor", message: "is below amount_from_minor" };
  const byMethod = capabilities.filter(({ method }) => (rule.payment_method ?? method) === method);
  if (byMethod.length === 0) {
    return { field: "payment_method", message: `${code} takes ${listed(capabilities.map(({ method }) => method))}` };
  }
  const byCurrency = byMethod.filter(({ currencies }) => !rule.currency || currencies.includes(rule.currency));
  if (byCurrency.length === 0) {
    return { field: "currency", message: `${code} takes ${listed(byMethod.flatMap(({ currencies }) => currencies))}` };
  }
  if (byCurrency.some(({ minimumMinor, maximumMinor }) => minimumMinor <= to && maximumMinor >= from)) return undefined;
  const ranges = byCurrency.map(({ minimumMinor, maximumMinor }) => `${minimumMinor} to ${maximumMinor}`);
  const below = byCurrency.every(({ minimumMinor }) => minimumMinor > to);
  return { field: below ? "amount_to_minor" : "amount_from_minor", message: `${code} takes ${listed(ranges)}` };
}

function listed(words: readonly string[]): string {
  return words.length === 0 ? "nothing" : `only ${[...new Set(words)].join(", ")}`;
}

type Ranked = { rule: RoutingRule; at: number } & ReturnType<typeof amountsOf>;

/** Of an acquirer's rules for a payment the one of the lowest priority decides, and of equals the first. */
function precedes(a: Ranked, b: Ranked): boolean {
  return a.rule.priority < b.rule.priority || (a.rule.priority === b.rule.priority && a.at < b.at);
}

function covers({ rule: wide, from, to }: Ranked, { rule, ...amounts }: Ranked): boolean {
  return (
    wide.gateway_code === rule.gateway_code &&
    (wide.payment_method ?? rule.payment_method) === rule.payment_method &&
    (wide.currency ?? rule.currency) === rule.currency &&
    from <= amounts.from &&
    to >= amounts.to
  );
}
