// What is wrong with routing rules before they are kept: whatever could never decide anything. Pure.
import type { z } from "zod";
import type { Acquirer } from "../acquirers/acquirer.ts";
import { type RoutingRule, type SplitTest, amountsOf, routingRulesSchema } from "./routing.ts";

/** The rule that is wrong, by its place, and the field of it; without a field it is the rule as a whole. */
export interface Objection {
  at: number;
  field?: keyof RoutingRule | `split.${keyof SplitTest}`;
  message: string;
}

/**
 * Rules of acquirers that do not exist, rules for what their acquirer does not take, and rules that another one always
 * precedes. A rule may name more than its acquirer takes: then it decides for the part that is taken. The same of split tests. A rule that
 * is undefined is one that something else is wrong with; it keeps its place.
 */
export function objectionsTo(rules: readonly (RoutingRule | undefined)[], acquirers: readonly Acquirer[]): Objection[] {
  const ranked = rules.flatMap((rule, at) => (rule ? [{ rule, at, ...amountsOf(rule) }] : []));
  return ranked.flatMap((one) => {
    const { at, rule } = one;
    const untaken = untakenBy(acquirerOf(acquirers, rule.gateway_code), rule);
    if (untaken) return [{ at, ...untaken }];
    const first = ranked.find((other) => precedes(other, one) && covers(other, one));
    if (first) {
      const message = `never decides anything: rules.${first.at} has its acquirer for all of its payments and comes first`;
      return [{ at, message }];
    }
    const ofSplit = rule.split && objectionToSplit(rule, rule.split, acquirers);
    if (ofSplit) return [{ at, ...ofSplit }];
    const namesake = ranked.find(
      (other) => other.at < at && other.rule.split && other.rule.split.id === rule.split?.id,
    );
    return namesake ? [{ at, field: "split.id", message: `is the test of rules.${namesake.at} already` }] : [];
  });
}

/** What is wrong with rules as somebody sent them: a rule by its place and the field of it, where it is one rule or one field. */
export interface RoutingFault {
  at?: number | undefined;
  field?: string | undefined;
  message: string;
}

/** All that is wrong with rules in whatever shape: broken shapes first, then the objections to those rules that have one. */
export function faultsOfRules(rules: readonly unknown[], acquirers: readonly Acquirer[]): RoutingFault[] {
  const shape = routingRulesSchema.safeParse(rules);
  const misshapen = shape.success ? [] : shape.error.issues.flatMap(faultsOfIssue);
  const broken = new Set(misshapen.map(({ at }) => at));
  const readable = rules.map((rule, at) => (broken.has(at) ? undefined : (rule as RoutingRule)));
  return [...misshapen, ...objectionsTo(readable, acquirers)].toSorted((a, b) => (a.at ?? -1) - (b.at ?? -1));
}

function faultsOfIssue(issue: z.core.$ZodIssue): RoutingFault[] {
  const [at, ...path] = issue.path;
  if (typeof at !== "number") return [{ message: issue.message }];
  const field = path.length === 0 ? undefined : path.map(String).join(".");
  if (issue.code !== "unrecognized_keys") return [{ at, field, message: issue.message }];
  return issue.keys.map((key) => ({
    at,
    field: [...path, key].map(String).join("."),
    message: "is no field of a rule",
  }));
}

function acquirerOf(acquirers: readonly Acquirer[], code: string): Acquirer | undefined {
  return acquirers.find((acquirer) => acquirer.code === code);
}

function objectionToSplit(
  rule: RoutingRule,
  split: SplitTest,
  acquirers: readonly Acquirer[],
): Omit<Objection, "at"> | undefined {
  if (split.gateway_code === rule.gateway_code)
    return { field: "split.gateway_code", message: "is the rule's own acquirer" };
  const own = acquirerOf(acquirers, rule.gateway_code);
  const other = acquirerOf(acquirers, split.gateway_code);
  if (other && other.environment !== own?.environment)
    return { field: "split.gateway_code", message: `is an acquirer of ${other.environment}` };
  const untaken = untakenBy(other, { ...rule, gateway_code: split.gateway_code });
  if (untaken) return { field: "split.gateway_code", message: untaken.message };
  // What the rule leaves open its own acquirer decides.
  const shares = own?.capabilities
    .filter(({ method }) => (rule.payment_method ?? method) === method)
    .flatMap(({ method, currencies }) => currencies.map((currency) => ({ payment_method: method, currency })))
    .some((one) => untakenBy(other, { ...rule, ...one, currency: rule.currency ?? one.currency }) === undefined);
  if (shares) return undefined;
  return { field: "split.gateway_code", message: `takes nothing of what ${rule.gateway_code} takes by this rule` };
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
