// Routing: rules, which are data, decide which acquirer takes a payment. Pure; each decision keeps its reasons.
import { z } from "zod";
import type { Acquirer, Capability } from "../acquirers/acquirer.ts";
import { digestOf } from "../ground/crypto.ts";
import { assert } from "../ground/fault.ts";
import { MINOR_MAX, type Minor, isCurrency } from "../ground/money.ts";
import { wholeBetween } from "../ground/whole.ts";
import type { Environment } from "../merchants/books.ts";
import { type PaymentMethod, paymentMethodSchema } from "../merchants/settings.ts";

const minor = z.int().min(1).max(Number(MINOR_MAX));
const gatewayCode = z
  .string()
  .regex(/^[a-z_]{1,30}$/)
  .meta({ examples: ["nusantara"] });

/** A split test: gives `percent` of the payments for which a rule chooses its acquirer to another acquirer instead. */
export const splitTestSchema = z
  .strictObject({
    id: z
      .string()
      .regex(/^[a-z0-9_]{1,40}$/, "must be 1 to 40 small letters, digits or underscores")
      .meta({
        description: "Names the test. Its result is counted under it, over all versions.",
        examples: ["cendana_qris"],
      }),
    gateway_code: gatewayCode.meta({ description: "The other acquirer; it needs no rule.", examples: ["cendana"] }),
    percent: wholeBetween(1, 99).meta({ description: "Its share, in whole percents.", examples: [10] }),
  })
  .meta({
    id: "SplitTest",
    description: "Gives a share of the rule's payments to another acquirer, to compare the two.",
    examples: [{ id: "cendana_qris", gateway_code: "cendana", percent: 10 }],
  });
export type SplitTest = z.infer<typeof splitTestSchema>;

/** One rule: this acquirer may take payments of this shape. The lowest priority comes first; equal priorities share by weight. */
export const routingRuleSchema = z
  .strictObject({
    gateway_code: gatewayCode,
    payment_method: paymentMethodSchema.optional().meta({ description: "Any method when absent." }),
    currency: z
      .string()
      .refine(isCurrency, "is not a currency of ISO 4217")
      .optional()
      .meta({ description: "Any currency when absent.", pattern: "^[A-Z]{3}$", examples: ["IDR"] }),
    amount_from_minor: minor.optional().meta({ description: "From this amount on." }),
    amount_to_minor: minor.optional().meta({ description: "Up to this amount." }),
    priority: wholeBetween(1, 1000).meta({ description: "The lowest comes first.", examples: [10] }),
    weight: wholeBetween(1, 1000)
      .optional()
      .meta({
        description:
          "Share among equal priorities. When absent the acquirer's own, of its entry in acquirers.json: 100 unless that says otherwise.",
        examples: [100],
      }),
    split: splitTestSchema.optional(),
  })
  .meta({ id: "RoutingRule", description: "This acquirer may take payments of this shape." });
export const routingRulesSchema = z.array(routingRuleSchema).min(1).max(500);
export type RoutingRule = z.infer<typeof routingRuleSchema>;

/** The rules of a new installation: specialized acquirers first, the acquirer that takes everything (cendana) when they cannot. */
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
  /** Seed of the weighted draw: the payment's reference, so that the choice can be repeated. */
  draw: string;
  /** Acquirers that gave a definite no for this payment already. */
  refusedBy?: readonly string[];
  /** Id of the only split test that the payment may be in; null: in none. Absent at the first decision: the payment may be in any. */
  onlySplit?: string | null;
}

export type Verdict =
  | "chosen"
  | "split"
  | "not_drawn"
  | "lower_priority"
  | "degraded"
  | "no_rule"
  | "method_not_supported"
  | "currency_not_supported"
  | "amount_too_fine"
  | "amount_out_of_range"
  | "disabled"
  | "down"
  | "circuit_open"
  | "refused";

/** Kept with the payment: each acquirer, and why it was chosen or not. */
export interface RoutingDecision {
  rules_version: number;
  candidates: {
    gateway_code: string;
    verdict: Verdict;
    priority?: number;
    weight?: number;
    /** Set, also on the chosen acquirer, when it was degraded and so kept only a part of its payments. */
    degraded?: true;
  }[];
  /** The payment's split test, as the first decision drew it. */
  split?: SplitDecision;
}

export type SplitArm = "control" | "test";

/** `control` is the acquirer of the rule and `test` the other; `arm` says which of them is called first. */
export interface SplitDecision {
  id: string;
  arm: SplitArm;
  percent: number;
  control: string;
  test: string;
}

/** True when some acquirer of the environment can take this method in this currency at all, whatever its health. */
export function isOffered(table: RoutingTable, asked: Asked): boolean {
  return capabilitiesFor(table, asked).length > 0;
}

/** The smallest and the largest amount that an acquirer of the environment takes by this method and currency; undefined when none does. */
export function amountBounds(
  table: RoutingTable,
  asked: Asked,
): { minimumMinor: Minor; maximumMinor: Minor } | undefined {
  const able = capabilitiesFor(table, asked);
  const [minimumMinor] = able.map((capability) => capability.minimumMinor).toSorted(byAmount);
  const [maximumMinor] = able.map((capability) => capability.maximumMinor).toSorted((a, b) => byAmount(b, a));
  return minimumMinor === undefined || maximumMinor === undefined ? undefined : { minimumMinor, maximumMinor };
}

/** The smallest step of amounts that an acquirer of the environment takes by this method and currency; 1 when none does. */
export function finestStep(table: RoutingTable, asked: Asked): Minor {
  const [finest = 1n] = capabilitiesFor(table, asked)
    .map(({ stepMinor = 1n }) => stepMinor)
    .toSorted(byAmount);
  return finest;
}

type Asked = Pick<RoutingRequest, "environment" | "method" | "currency">;

function capabilitiesFor({ acquirers }: RoutingTable, { environment, method, currency }: Asked): Capability[] {
  return acquirers
    .filter((acquirer) => acquirer.environment === environment)
    .flatMap((acquirer) => capabilityOf(acquirer, method, currency) ?? []);
}

const byAmount = (a: Minor, b: Minor): number => (a < b ? -1 : a > b ? 1 : 0);

/** The part of its payments that a degraded acquirer keeps: enough to show whether it has recovered. */
const DEGRADED_KEEPS = 0.1;

/**
 * Chooses an acquirer, or none, and gives the reasons. A degraded acquirer keeps a tenth of its share. The rest goes to the healthy acquirers of
 * the same priority, else to the next priority. When all candidates are degraded, all share as if they were healthy. At the end the chosen
 * rule's split test may give the payment to another acquirer.
 */
export function route(
  table: RoutingTable,
  request: RoutingRequest,
): { chosen: Acquirer | undefined; decision: RoutingDecision } {
  const judgement = judgementOf(table, request);
  const drawn = drawOf(judgement, request);
  const candidates = judgement.candidates.map((candidate) => {
    const { acquirer, priority, weight, degraded } = candidate;
    const ranked = priority === Infinity ? {} : { priority, weight, ...(degraded ? { degraded } : {}) };
    return { gateway_code: acquirer.code, verdict: verdictOf(candidate, drawn), ...ranked };
  });
  const split = drawn.split ? { split: drawn.split } : {};
  return { chosen: drawn.chosen?.acquirer, decision: { rules_version: table.version, candidates, ...split } };
}

/** A table's result for all payments of one shape, before the draw. */
export interface Judgement {
  candidates: readonly Candidate[];
  shares: readonly Share[];
}

type Undrawn = Omit<RoutingRequest, "draw">;

/** The judgement of a request: the same for all requests between two amounts of the rules and acquirers, whatever their draws. */
export function judgementOf(table: RoutingTable, request: Undrawn): Judgement {
  const candidates = table.acquirers
    .filter((acquirer) => acquirer.environment === request.environment)
    .map((acquirer) => judge(table, request, acquirer));
  return { candidates, shares: sharesOf(candidates.filter(({ verdict }) => verdict === undefined)) };
}

/** The draws of one payment: first among the shares, then in the split test of the chosen rule. */
interface Drawn {
  chosen: Candidate | undefined;
  /** The candidate that the shares chose, when the split test gave the payment to another acquirer. */
  passedOver: Candidate | undefined;
  split: SplitDecision | undefined;
}

export function drawOf(
  { candidates, shares }: Judgement,
  { draw: seed, onlySplit }: Pick<RoutingRequest, "draw" | "onlySplit">,
): Drawn {
  const control = draw(shares, seed);
  const test = control?.rule?.split;
  const none = { chosen: control, passedOver: undefined, split: undefined };
  if (!control || !test || (onlySplit !== undefined && onlySplit !== test.id)) return none;
  const other = candidates.find(({ acquirer }) => acquirer.code === test.gateway_code);
  // A payment is in the test only while both acquirers can take it: else the arms would differ in more than their acquirer.
  if (!other?.isAble || other.degraded || control.degraded) return none;
  const arm = armOf(test, seed);
  const split = { id: test.id, arm, percent: test.percent, control: control.acquirer.code, test: other.acquirer.code };
  return arm === "test" ? { chosen: other, passedOver: control, split } : { ...none, split };
}

/** The arm of a payment: the same in every process and at every try, and independent of the draw among the shares. */
export function armOf({ id, percent }: Pick<SplitTest, "id" | "percent">, reference: string): SplitArm {
  return ticketOf("split test", id, reference) * 100 < percent ? "test" : "control";
}

function verdictOf(candidate: Candidate, { chosen: taken, passedOver }: Drawn): Verdict {
  if (candidate === taken) return "chosen";
  if (candidate.verdict !== undefined) return candidate.verdict;
  if (candidate === passedOver) return "split";
  const chosen = passedOver ?? taken;
  assert(chosen, "an acquirer that can take the payment was neither drawn nor passed over");
  if (candidate.priority > chosen.priority) return "lower_priority";
  // A healthy acquirer leaves nothing to lower priorities, so an acquirer of a better priority that was passed over is degraded.
  return candidate.degraded && (!chosen.degraded || candidate.priority < chosen.priority) ? "degraded" : "not_drawn";
}

interface Candidate {
  acquirer: Acquirer;
  /** The rule that applies to this acquirer and payment; undefined when there is none. */
  rule: RoutingRule | undefined;
  /** Why the acquirer cannot take the payment; undefined while it can. */
  verdict: Verdict | undefined;
  /** The acquirer could take the payment if a rule gave it. */
  isAble: boolean;
  priority: number;
  weight: number;
  degraded: boolean;
}

/** Weight of an acquirer when neither the rule nor the acquirer names one. */
const WEIGHT = 100;

function judge(table: RoutingTable, request: Undrawn, acquirer: Acquirer): Candidate {
  const state = table.states.get(acquirer.code) ?? { enabled: true, health: "healthy" };
  const rule = bestRule(table.rules, request, acquirer.code);
  const inability = inabilityOf(acquirer, request);
  const obstacle = obstacleOf(state, table, request, acquirer.code);
  return {
    acquirer,
    rule,
    verdict: inability ?? (rule ? obstacle : "no_rule"),
    isAble: inability === undefined && obstacle === undefined,
    priority: rule?.priority ?? Infinity,
    weight: rule ? (rule.weight ?? acquirer.weight ?? WEIGHT) : 0,
    degraded: state.health === "degraded",
  };
}

/** True while the operator gives an acquirer no payments. */
export function isSwitchedOff({ states }: Pick<RoutingTable, "states">, code: string): boolean {
  const state = states.get(code);
  return state?.enabled === false || state?.health === "down";
}

/** The verdict on a payment that the acquirer never takes, whatever its state. */
function inabilityOf(acquirer: Acquirer, request: Undrawn): Verdict | undefined {
  if (!acquirer.capabilities.some((capability) => capability.method === request.method)) return "method_not_supported";
  const capability = capabilityOf(acquirer, request.method, request.currency);
  if (!capability) return "currency_not_supported";
  const { minimumMinor, maximumMinor, stepMinor = 1n } = capability;
  if (request.amountMinor < minimumMinor || request.amountMinor > maximumMinor) return "amount_out_of_range";
  return request.amountMinor % stepMinor === 0n ? undefined : "amount_too_fine";
}

/** An obstacle that may pass: the operator's switch, a refusal of this payment by the acquirer, or failures of its latest calls. */
function obstacleOf(
  { enabled, health }: AcquirerState,
  { open }: RoutingTable,
  { method, refusedBy }: Undrawn,
  code: string,
): Verdict | undefined {
  if (!enabled) return "disabled";
  if (health === "down") return "down";
  if (refusedBy?.includes(code)) return "refused";
  return open?.has(`${code}/${method}`) ? "circuit_open" : undefined;
}

/** What an acquirer takes by this method and currency, whatever its state; undefined when nothing. */
export function capabilityOf(acquirer: Acquirer, method: PaymentMethod, currency: string): Capability | undefined {
  return acquirer.capabilities.find(
    (capability) => capability.method === method && capability.currencies.includes(currency),
  );
}

/** The amounts that a rule applies to, both ends included. */
export function amountsOf(rule: RoutingRule): { from: Minor; to: Minor } {
  return { from: BigInt(rule.amount_from_minor ?? 1), to: BigInt(rule.amount_to_minor ?? MINOR_MAX) };
}

function bestRule(rules: readonly RoutingRule[], request: Undrawn, code: string): RoutingRule | undefined {
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

interface Share {
  candidate: Candidate;
  /** The part of all payments of this shape; the shares add up to one. */
  share: number;
}

/** The share of each candidate, from the best priority down to the first that has a healthy acquirer. */
function sharesOf(able: readonly Candidate[]): Share[] {
  const allDegraded = able.every(({ degraded }) => degraded);
  const isWell = (candidate: Candidate): boolean => allDegraded || !candidate.degraded;
  const priorities = [...new Set(able.map(({ priority }) => priority))].toSorted((a, b) => a - b);
  const shares: Share[] = [];
  let rest = 1;
  for (const priority of priorities) {
    const level = able.filter((candidate) => candidate.priority === priority);
    const well = level.filter(isWell);
    const [total, totalWell] = [weightOf(level), weightOf(well)];
    const kept = level
      .filter((candidate) => !isWell(candidate))
      .map((candidate) => ({ candidate, share: (rest * DEGRADED_KEEPS * candidate.weight) / total }));
    for (const { share } of kept) rest -= share;
    shares.push(...kept, ...well.map((candidate) => ({ candidate, share: (rest * candidate.weight) / totalWell })));
    if (well.length > 0) break;
  }
  return shares;
}

function weightOf(candidates: readonly Candidate[]): number {
  return candidates.reduce((sum, { weight }) => sum + weight, 0);
}

/** Draws a candidate: the same seed always draws the same from the same shares. */
function draw(shares: readonly Share[], seed: string): Candidate | undefined {
  let ticket = ticketOf("routing", seed);
  for (const { candidate, share } of shares) {
    if (ticket < share) return candidate;
    ticket -= share;
  }
  return shares.at(-1)?.candidate; // rounding may leave a rest: the last candidate gets it
}

/** A number from 0 to less than 1, evenly spread, and always the same for the same words. */
function ticketOf(...words: string[]): number {
  return digestOf(...words).readUInt32BE(0) / 2 ** 32;
}
