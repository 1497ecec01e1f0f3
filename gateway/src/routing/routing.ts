// Routing: which acquirer takes a payment, by rules that are data. Pure, and it keeps its reasons.
import { z } from "zod";
import type { Acquirer, Capability } from "../acquirers/acquirer.ts";
import { digestOf } from "../ground/crypto.ts";
import { MINOR_MAX, type Minor, isCurrency } from "../ground/money.ts";
import type { Environment } from "../merchants/books.ts";
import { type PaymentMethod, paymentMethods } from "../merchants/settings.ts";

const minor = z.int().min(1).max(Number(MINOR_MAX));

/** One rule: this acquirer may take payments of this shape. Lower priority comes first; equal priorities share by weight. */
export const routingRuleSchema = z.strictObject({
  gateway_code: z.string().regex(/^[a-z_]{1,30}$/),
  payment_method: z.enum(paymentMethods).optional(),
  currency: z.string().refine(isCurrency, "is not a currency of ISO 4217").optional(),
  amount_from_minor: minor.optional(),
  amount_to_minor: minor.optional(),
  priority: z.int().min(1).max(1000),
  weight: z.int().min(1).max(1000),
});
export const routingRulesSchema = z.array(routingRuleSchema).min(1).max(500);
export type RoutingRule = z.infer<typeof routingRuleSchema>;

/** The rules a new installation begins with: the specialist first, the all-rounder when it cannot. */
export const defaultRules: readonly RoutingRule[] = [
  { gateway_code: "nusantara", payment_method: "qris", priority: 10, weight: 100 },
  { gateway_code: "nusantara", payment_method: "va", priority: 10, weight: 60 },
  { gateway_code: "merapi", payment_method: "va", priority: 10, weight: 40 },
  { gateway_code: "samudra", priority: 10, weight: 100 },
  { gateway_code: "merapi", payment_method: "bank_transfer", priority: 10, weight: 100 },
  { gateway_code: "cendana", priority: 50, weight: 100 },
];

export type Health = "healthy" | "degraded" | "down";

export interface AcquirerState {
  enabled: boolean;
  health: Health;
}

/** Everything that routing knows besides the payment. */
export interface RoutingTable {
  version: number;
  rules: readonly RoutingRule[];
  acquirers: readonly Acquirer[];
  states: ReadonlyMap<string, AcquirerState>;
  /** Circuits that are open now, as `<gateway_code>/<method>`. */
  open?: ReadonlySet<string>;
}

export interface RoutingRequest {
  environment: Environment;
  method: PaymentMethod;
  currency: string;
  amountMinor: Minor;
  /** What the weighted draw follows: the payment's identity, so that the choice can be repeated. */
  draw: string;
  /** Acquirers that gave a definite no for this payment already. */
  refusedBy?: readonly string[];
}

export type Verdict =
  | "chosen"
  | "not_drawn"
  | "lower_priority"
  | "no_rule"
  | "method_not_supported"
  | "currency_not_supported"
  | "amount_out_of_range"
  | "disabled"
  | "down"
  | "circuit_open"
  | "refused";

/** Kept with the payment: each acquirer and why it was chosen or not. */
export interface RoutingDecision {
  rules_version: number;
  candidates: { gateway_code: string; verdict: Verdict; priority?: number; weight?: number }[];
}

/** True when some acquirer of the environment can take this method in this currency at all, whatever its health. */
export function isOffered(
  table: RoutingTable,
  environment: Environment,
  method: PaymentMethod,
  currency: string,
): boolean {
  return table.acquirers.some(
    (acquirer) => acquirer.environment === environment && capabilityOf(acquirer, method, currency) !== undefined,
  );
}

/** Chooses, or gives no acquirer and the reasons. A degraded acquirer keeps a tenth of its weight. */
export function route(
  table: RoutingTable,
  request: RoutingRequest,
): { chosen: Acquirer | undefined; decision: RoutingDecision } {
  const judged = table.acquirers
    .filter((acquirer) => acquirer.environment === request.environment)
    .map((acquirer) => judge(table, request, acquirer));
  const open = judged.filter((candidate) => candidate.verdict === undefined);
  const best = Math.min(...open.map((candidate) => candidate.priority));
  const drawn = open.filter((candidate) => candidate.priority === best);
  const chosen = draw(drawn, request.draw);
  const candidates = judged.map(({ acquirer, verdict, priority, weight }) => {
    const ranked = priority === Infinity ? {} : { priority, weight };
    const own: Verdict =
      verdict ?? (acquirer === chosen ? "chosen" : priority === best ? "not_drawn" : "lower_priority");
    return { gateway_code: acquirer.code, verdict: own, ...ranked };
  });
  return { chosen, decision: { rules_version: table.version, candidates } };
}

interface Candidate {
  acquirer: Acquirer;
  /** Why it cannot take the payment; undefined while it can. */
  verdict: Verdict | undefined;
  priority: number;
  weight: number;
}

function judge(table: RoutingTable, request: RoutingRequest, acquirer: Acquirer): Candidate {
  const state = table.states.get(acquirer.code) ?? { enabled: true, health: "healthy" };
  const rule = bestRule(table.rules, request, acquirer.code);
  const candidate = {
    acquirer,
    priority: rule?.priority ?? Infinity,
    weight: rule ? (state.health === "degraded" ? Math.ceil(rule.weight / 10) : rule.weight) : 0,
  };
  return { ...candidate, verdict: obstacle(acquirer, request, state, rule) ?? setback(table, request, acquirer.code) };
}

function obstacle(
  acquirer: Acquirer,
  request: RoutingRequest,
  state: AcquirerState,
  rule: RoutingRule | undefined,
): Verdict | undefined {
  if (!acquirer.capabilities.some((capability) => capability.method === request.method)) return "method_not_supported";
  const capability = capabilityOf(acquirer, request.method, request.currency);
  if (!capability) return "currency_not_supported";
  if (request.amountMinor < capability.minimumMinor || request.amountMinor > capability.maximumMinor) {
    return "amount_out_of_range";
  }
  if (!rule) return "no_rule";
  if (!state.enabled) return "disabled";
  if (state.health === "down") return "down";
  return undefined;
}

/** What stands in the way of this moment alone: its latest calls failed, or it refused this very payment. */
function setback(table: RoutingTable, request: RoutingRequest, code: string): Verdict | undefined {
  if (request.refusedBy?.includes(code)) return "refused";
  return table.open?.has(`${code}/${request.method}`) ? "circuit_open" : undefined;
}

function capabilityOf(acquirer: Acquirer, method: PaymentMethod, currency: string): Capability | undefined {
  return acquirer.capabilities.find(
    (capability) => capability.method === method && capability.currencies.includes(currency),
  );
}

/** The amounts that a rule names, both ends included. */
export function amountsOf(rule: RoutingRule): { from: Minor; to: Minor } {
  return { from: BigInt(rule.amount_from_minor ?? 1), to: BigInt(rule.amount_to_minor ?? MINOR_MAX) };
}

function bestRule(rules: readonly RoutingRule[], request: RoutingRequest, code: string): RoutingRule | undefined {
  return rules
    .filter((rule) => {
      const { from, to } = amountsOf(rule);
      return (
        rule.gateway_code === code &&
        (rule.payment_method === undefined || rule.payment_method === request.method) &&
        (rule.currency === undefined || rule.currency === request.currency) &&
        from <= request.amountMinor &&
        to >= request.amountMinor
      );
    })
    .toSorted((a, b) => a.priority - b.priority)[0];
}

function draw(candidates: readonly Candidate[], seed: string): Acquirer | undefined {
  const total = candidates.reduce((sum, candidate) => sum + candidate.weight, 0);
  if (candidates.length < 2) return candidates[0]?.acquirer;
  let ticket = digestOf("routing", seed).readUInt32BE(0) % total;
  for (const { acquirer, weight } of candidates) {
    if (ticket < weight) return acquirer;
    ticket -= weight;
  }
  return undefined;
}
