// The rules of approval by a second operator ("four eyes"): which changes need one, when a policy becomes looser, and who may approve. Pure.
import type { Micros } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import type { Minor } from "../ground/money.ts";
import type { Posting } from "../ledger/journal.ts";
import type { Book } from "../merchants/books.ts";
import { type OperatorRole, mayAct } from "../people/operator-roles.ts";
import type { Identity } from "./known-tokens.ts";
import { RESERVED_NAMES } from "./tokens.ts";

/** Actions for which a policy can require a second operator. */
export const policyActions = [
  "refund_payment",
  "approve_review",
  "resolve_dispute",
  "decide_receipt",
  "record_outcome",
  "record_payout",
  "activate_routing",
  "enable_acquirer",
] as const;
export type PolicyAction = (typeof policyActions)[number];

/** No policy lists `loosen_policy`: it needs a second operator as long as any action does. */
export const approvalActions = [...policyActions, "loosen_policy"] as const;
export type ApprovalAction = (typeof approvalActions)[number];

/** The rule for one action. It needs a second operator only above `aboveMinor` of a currency, and always for a currency that is not named there. */
interface PolicyRule {
  aboveMinor?: Readonly<Record<string, Minor>> | undefined;
}

/** An action that is absent needs no second operator. */
export type PolicyRules = Readonly<Partial<Record<PolicyAction, PolicyRule>>>;

export const approvalStatuses = [
  "waiting",
  "executing",
  "executed",
  "failed",
  "unknown",
  "refused",
  "withdrawn",
  "expired",
] as const;
export type ApprovalStatus = (typeof approvalStatuses)[number];

/** An approval expires after this time, measured by the database's clock. */
export const APPROVAL_HOURS = 72;

/** What a change would do if it ran now. */
export interface Foreseen {
  /** For people to read; cut after 1,000 characters. */
  summary: string;
  book?: Book | undefined;
  paymentReference?: string | undefined;
  /** The amount that the change moves, or lets others move. */
  amount?: { amountMinor: Minor; currency: string } | undefined;
  /** The amount to compare with the policy's bound, when it is more than `amount`. */
  judgedMinor?: Minor | undefined;
  /** The postings of the journal that the change would make. */
  postings?: readonly Posting[] | undefined;
  /** Throws the fault with which these balances, by account and currency, would let it fail. */
  refuseUnfunded?: (balances: ReadonlyMap<string, Minor>) => void;
}

/** Throws APPROVAL_CLOSED when a change would now do something else than what was asked for, which is what a second operator reads. */
export function refuseChanged(asked: string, foreseen: Foreseen | undefined): void {
  if (foreseen === undefined || keptSummary(foreseen) === asked) return;
  const message = `What it would do has changed since it was asked for. Now it is: ${foreseen.summary}. Ask for it again.`;
  throw new Fault("APPROVAL_CLOSED", { message });
}

export const keptSummary = ({ summary }: Foreseen): string => summary.slice(0, 1_000);

/** The amount up to which an action needs no second operator: undefined when it always needs one, null when the policy does not list it. */
export function boundOf(
  rules: PolicyRules,
  action: ApprovalAction,
  currency: string | undefined,
): Minor | undefined | null {
  if (action === "loosen_policy") return isOff(rules) ? null : undefined;
  const rule = rules[action];
  if (!rule) return null;
  return currency === undefined ? undefined : rule.aboveMinor?.[currency];
}

/** True when a policy requires a second operator for a change. */
export function demands(rules: PolicyRules, action: ApprovalAction, { amount, judgedMinor }: Foreseen): boolean {
  const bound = boundOf(rules, action, amount?.currency);
  if (bound === null) return false;
  return amount === undefined || bound === undefined || (judgedMinor ?? amount.amountMinor) > bound;
}

export function isOff(rules: PolicyRules): boolean {
  return policyActions.every((action) => rules[action] === undefined);
}

/** True when some change needs a second operator under `before` and none under `after`. */
export function isLooser(before: PolicyRules, after: PolicyRules): boolean {
  return policyActions.some((action) => {
    const [was, is] = [before[action], after[action]];
    if (!was) return false;
    if (!is) return true;
    return Object.entries(is.aboveMinor ?? {}).some(([currency, bound]) => {
      const former = was.aboveMinor?.[currency];
      return former === undefined || bound > former;
    });
  });
}

/** Names that may have held what an identity signs in with: its own, who made its token or invited the person, who made or invited those, and so on. */
export interface Hands {
  names: ReadonlySet<string>;
  /** When the identity was created; undefined for identities of the environment and for identities that no longer exist. */
  madeAt: Micros | undefined;
}

interface Question {
  askedBy: Identity;
  askedAt: Micros;
  leastRole: OperatorRole;
}

export const isSame = (one: Identity, other: Identity): boolean => one.kind === other.kind && one.id === other.id;

/**
 * The reason why `approver` may not approve a change; undefined when they may. The two operators must share no hands: the maker of a token has seen
 * its secret, and whoever invited a person had the link, which proves nobody. The approver's access must be older than the request, and their role
 * must allow the change itself.
 */
export function objectionTo(question: Question, asker: Hands, approver: Identity, hands: Hands): string | undefined {
  const { askedBy, askedAt, leastRole } = question;
  const same = (name: string): string => name.toLowerCase();
  if (approver.kind === "environment")
    return "A token of the environment is nobody's own. Approve with a token that has your name.";
  if (isSame(approver, askedBy) || same(approver.name) === same(askedBy.name))
    return "You asked for this yourself. Somebody else has to approve it.";
  if (!mayAct(approver.role, leastRole)) return `This takes the role ${leastRole}; yours is ${approver.role}.`;
  const askers = new Set([...asker.names, askedBy.name].map(same));
  // Chains of makers begin with the reserved names: two identities that share only such a name still count as two.
  const shared = [...hands.names, approver.name].find(
    (name) => askers.has(same(name)) && (!RESERVED_NAMES.has(name) || name === askedBy.name),
  );
  if (shared !== undefined)
    return `You and ${askedBy.name} count as one: ${shared} has held a token or an invitation of both. Somebody whom neither of you let in has to approve it.`;
  if (hands.madeAt === undefined || hands.madeAt >= askedAt)
    return "You got this access after it was asked for. Somebody who had theirs before has to approve it.";
  return undefined;
}
