// Checks routing rules before they are stored: objects to every rule that could never decide anything. Pure.
import type { z } from "zod";
import type { Acquirer } from "../acquirers/acquirer.ts";
import { inPlainWords } from "../ground/plain-words.ts";
import { type RoutingRule, type SplitTest, amountsOf, routingRulesSchema } from "./routing.ts";

/** `at`: index of the rule. `field`: its field that is wrong; absent when the whole rule is. */
export interface Objection {
  at: number;
  field?: keyof RoutingRule | `split.${keyof SplitTest}`;
  message: string;
}

/**
 * Objections to rules of unknown acquirers, to rules for payments that their acquirer does not take, and to rules that another rule always
 * precedes; the same for split tests. A rule may cover more than its acquirer takes: then it decides for the part that is taken. `undefined`
 * stands for a rule with another fault, and keeps its index.
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

/** A fault in submitted rules. `at`: index of the rule, `field`: its field; each absent when the fault is not of one rule or one field. */
export interface RoutingFault {
  at?: number | undefined;
  field?: string | undefined;
  message: string;
}

/** All faults of submitted rules: violations of the schema, and objections to the rules that meet it. */
export function faultsOfRules(rules: readonly unknown[], acquirers: readonly Acquirer[]): RoutingFault[] {
  const shape = routingRulesSchema.safeParse(rules, inPlainWords);
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
  // Where the rule leaves method or currency open, the capabilities of its own acquirer decide.
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

/** Whether `a` decides before `b` among the rules of an acquirer: by the lower priority, then by position. */
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
