// The rules of four eyes: which changes need a second operator, when a policy is loosened, and who may approve what somebody asked for. Pure.
import type { Micros } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import type { Minor } from "../ground/money.ts";
import type { Posting } from "../ledger/journal.ts";
import type { Book } from "../merchants/books.ts";
import { type OperatorRole, mayAct } from "../people/operator-roles.ts";

/** What a policy can demand a second operator for. */
export const policyActions = [
  "refund_payment",
  "approve_review",
  "resolve_dispute",
  "decide_receipt",
  "record_payout",
  "activate_routing",
  "enable_acquirer",
] as const;
export type PolicyAction = (typeof policyActions)[number];

/** Loosening the policy is in no policy: it needs a second operator while anything does. */
export const approvalActions = [...policyActions, "loosen_policy"] as const;
export type ApprovalAction = (typeof approvalActions)[number];

/** Of one action. `aboveMinor`: only beyond this much of a currency; a currency that it does not name needs one always. */
export interface PolicyRule {
  aboveMinor?: Readonly<Record<string, Minor>> | undefined;
}

/** The actions that need a second operator, each with its bounds. */
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

/** By the database's clock. */
export const APPROVAL_HOURS = 72;

/** What a change would do, as things stand. */
export interface Foreseen {
  /** In words: at most 1,000 characters. */
  summary: string;
  book?: Book | undefined;
  paymentReference?: string | undefined;
  /** What it moves, or lets move. */
  amount?: { amountMinor: Minor; currency: string } | undefined;
  /** What is held against the policy's bound, where it is more than the amount. */
  judgedMinor?: Minor | undefined;
  /** The journal that it would post. */
  postings?: readonly Posting[] | undefined;
}

/** The bound up to which an action needs nobody else: undefined when it has none, null when the action is not in the policy. */
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

/** True when a policy demands a second operator for a change. */
export function demands(rules: PolicyRules, action: ApprovalAction, { amount, judgedMinor }: Foreseen): boolean {
  const bound = boundOf(rules, action, amount?.currency);
  if (bound === null) return false;
  return amount === undefined || bound === undefined || (judgedMinor ?? amount.amountMinor) > bound;
}

export function isOff(rules: PolicyRules): boolean {
  return policyActions.every((action) => rules[action] === undefined);
}

/** True when some change needs a second operator before, and none after. */
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

/** Who asks or decides. Two identities are two operators only when nobody has held the secrets of both. */
export interface Identity {
  kind: "token" | "person" | "environment";
  /** Of the token or the person; the name of a token of the environment. */
  id: string;
  name: string;
  role: OperatorRole;
}

/** Who may have held an identity's secret: its name, and whoever made its token, or the token that made it. */
export interface Hands {
  names: ReadonlySet<string>;
  /** When it came to be; undefined of what was always there. */
  madeAt: Micros | undefined;
}

/** They are whoever runs the machine: everything begins with them, so that to come from them makes nobody the same. */
const roots: ReadonlySet<string> = new Set(["environment", "environment-viewer", "command-line"]);

export interface Question {
  askedBy: Identity;
  askedAt: Micros;
  leastRole: OperatorRole;
}

/**
 * Why somebody may not approve what another one asked for; undefined when they may. An approver has another identity, and no hands in common
 * with whoever asked: who makes a token has seen it. They existed before the question, and may do themselves what they approve.
 */
export function objectionTo(question: Question, asker: Hands, approver: Identity, hands: Hands): string | undefined {
  const { askedBy, askedAt, leastRole } = question;
  const same = (name: string): string => name.toLowerCase();
  if (approver.kind === "environment")
    return "A token of the environment is nobody's own. Approve with a token that has your name.";
  if ((approver.kind === askedBy.kind && approver.id === askedBy.id) || same(approver.name) === same(askedBy.name))
    return "You asked for this yourself. Somebody else has to approve it.";
  if (!mayAct(approver.role, leastRole)) return `This takes the role ${leastRole}; yours is ${approver.role}.`;
  const askers = new Set([...asker.names, askedBy.name].map(same));
  const shared = [...hands.names, approver.name].find(
    (name) => askers.has(same(name)) && (!roots.has(name) || name === askedBy.name),
  );
  if (shared !== undefined)
    return `You and ${askedBy.name} count as one: ${shared} has held a token of both. Somebody else has to approve it.`;
  if (hands.madeAt === undefined || hands.madeAt >= askedAt)
    return "You got this access after it was asked for. Somebody who had theirs before has to approve it.";
  return undefined;
}

/** Throws FORBIDDEN with the objection. */
export function refuseObjection(objection: string | undefined): void {
  if (objection !== undefined) throw new Fault("FORBIDDEN", { message: objection });
}
