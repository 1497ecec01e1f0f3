// All SQL of approvals: the policy, changes that wait for a second operator, and the makers of tokens. All times are the database's.
import { type Micros, sqlTime } from "../ground/clock.ts";
import { idOf, uuidOf, uuidOrNull } from "../ground/ids.ts";
import type { Minor } from "../ground/money.ts";
import { type Book, bookOfRow } from "../merchants/books.ts";
import { type Row, type Statement, optional } from "../store/database.ts";
import { bulkInsert } from "../store/table.ts";
import {
  APPROVAL_HOURS,
  type ApprovalAction,
  type ApprovalStatus,
  type Foreseen,
  type PolicyAction,
  type PolicyRules,
  keptSummary,
  policyActions,
} from "./approval.ts";
import type { OperatorRole } from "../people/operator-roles.ts";
import type { Identity } from "./known-tokens.ts";

export interface Policy {
  /** 0 while no policy was ever set. */
  version: number;
  rules: PolicyRules;
  changedAt: Micros | undefined;
  changedBy: string | undefined;
}

/** The request of a change, as it was sent. */
export interface SentRequest {
  method: string;
  path: string;
  body: Buffer;
  /** The `Idempotency-Key`, on endpoints that need one. */
  key: string | undefined;
}

/** The request of a change, as stored with its approval. */
interface AskedRequest extends SentRequest {
  operation: string;
  digest: Buffer;
}

interface Decision {
  by: Identity;
  at: Micros;
  note: string | undefined;
}

export interface Approval {
  uuid: string;
  action: ApprovalAction;
  status: ApprovalStatus;
  request: AskedRequest;
  summary: string;
  book: Book | undefined;
  merchantName: string | undefined;
  paymentReference: string | undefined;
  amount: { amountMinor: Minor; currency: string } | undefined;
  leastRole: OperatorRole;
  requestId: string;
  askedBy: Identity;
  askedAt: Micros;
  decision: Decision | undefined;
  /** The request identity under which the audit records the change itself. */
  runId: string | undefined;
  attempts: number;
  answer: { status: number; body: unknown } | undefined;
}

export const selectPolicy: Statement = {
  name: "select approval policy",
  text: "select version, rules, changed_at, changed_by from operator_approval_policies order by version desc limit 1",
};

/** Adds the next version. Gives no row when another process added this version first. */
export function insertPolicy(version: number, rules: PolicyRules, changedBy: string): Statement {
  return {
    text: `insert into operator_approval_policies (version, rules, changed_by)
values ($1::integer, $2::json, $3::text)
on conflict do nothing
returning version, rules, changed_at, changed_by`,
    values: [version, JSON.stringify(wireRules(rules)), changedBy],
  };
}

interface WireRule {
  above_minor?: Record<string, number> | undefined;
}

const mapBounds = <From, To>(
  bounds: Readonly<Record<string, From>>,
  convert: (minor: From) => To,
): Record<string, To> =>
  Object.fromEntries(Object.entries(bounds).map(([currency, minor]) => [currency, convert(minor)]));

/** JSON numbers carry these amounts exactly: the schema admits no larger ones. */
export function wireRules(rules: PolicyRules): Record<string, WireRule> {
  return Object.fromEntries(
    Object.entries(rules).map(([action, { aboveMinor }]) => [
      action,
      { above_minor: aboveMinor && mapBounds(aboveMinor, Number) },
    ]),
  );
}

export function rulesOfWire(rules: Readonly<Partial<Record<PolicyAction, WireRule | undefined>>>): PolicyRules {
  const named = policyActions.flatMap((action) => (rules[action] ? [[action, rules[action]] as const] : []));
  return Object.fromEntries(
    named.map(([action, { above_minor: above }]) => [action, { aboveMinor: above && mapBounds(above, BigInt) }]),
  );
}

export function policyOfRow(row: Row | undefined): Policy {
  if (!row) return { version: 0, rules: {}, changedAt: undefined, changedBy: undefined };
  return {
    version: row.version as number,
    rules: rulesOfWire(JSON.parse(row.rules as string) as Partial<Record<PolicyAction, WireRule>>),
    changedAt: row.changed_at as Micros,
    changedBy: row.changed_by as string,
  };
}

const age = `interval '${APPROVAL_HOURS} hours'`;
const columns = `a.*, m.name as merchant_name, a.status = 'waiting' and a.asked_at <= clock_timestamp() - ${age} as is_late`;
const joined = "left join merchants m on m.merchant_id = a.merchant_id";
const approvals = `select ${columns} from operator_approvals a ${joined}`;

interface NewApproval extends Pick<Approval, "uuid" | "action" | "request" | "leastRole" | "requestId" | "askedBy"> {
  foreseen: Foreseen;
  policyVersion: number;
}

/** Gives no row of a change when the same one already waits, or when its idempotency key belongs to another approval. */
export const insertApprovals = bulkInsert<NewApproval>(
  "operator_approvals",
  {
    approval_id: ["uuid", ({ uuid }) => uuidOf(uuid)],
    action: ["text", ({ action }) => action],
    operation: ["text", ({ request }) => request.operation],
    method: ["text", ({ request }) => request.method],
    path: ["text", ({ request }) => request.path],
    body: ["bytea", ({ request }) => request.body],
    body_digest: ["bytea", ({ request }) => request.digest],
    request_key: ["text", ({ request }) => request.key],
    summary: ["text", ({ foreseen }) => keptSummary(foreseen)],
    merchant_id: ["uuid", ({ foreseen }) => uuidOrNull(foreseen.book?.merchantId)],
    environment: ["environment", ({ foreseen }) => foreseen.book?.environment],
    payment_id: ["uuid", ({ foreseen }) => uuidOrNull(foreseen.paymentReference)],
    amount_minor: ["bigint", ({ foreseen }) => foreseen.amount?.amountMinor],
    currency: ["text", ({ foreseen }) => foreseen.amount?.currency],
    least_role: ["text", ({ leastRole }) => leastRole],
    policy_version: ["integer", ({ policyVersion }) => policyVersion],
    request_id: ["uuid", ({ requestId }) => uuidOf(requestId)],
    asked_kind: ["text", ({ askedBy }) => askedBy.kind],
    asked_id: ["text", ({ askedBy }) => askedBy.id],
    asked_by: ["text", ({ askedBy }) => askedBy.name],
    asked_role: ["text", ({ askedBy }) => askedBy.role],
  },
  "on conflict do nothing\nreturning approval_id",
);

/** Expires at most `limit` approvals that waited longer than APPROVAL_HOURS. */
export function expireApprovals(limit: number): Statement {
  return {
    text: `update operator_approvals
set status = 'expired', ended_at = clock_timestamp()
where approval_id in (
  select approval_id
  from operator_approvals
  where status = 'waiting' and asked_at <= clock_timestamp() - ${age}
  order by approval_id
  limit $1::integer
  for update skip locked
)`,
    values: [limit],
  };
}

/** Counts the waiting changes of one operator, up to `limit`. */
export function countWaiting(askedBy: string, limit: number): Statement {
  return {
    text: `select count(*)::integer as waiting
from (
  select
  from operator_approvals
  where status = 'waiting' and asked_by = $1::text
  limit $2::integer
) a`,
    values: [askedBy, limit],
  };
}

export function selectApproval(uuid: string): Statement {
  return {
    name: "select approval",
    text: `${approvals} where a.approval_id = $1::uuid`,
    values: [uuidOf(uuid)],
  };
}

/** Finds the approval of the same change: by the idempotency key if there is one, otherwise a waiting approval of an equal request. */
export function selectSame({ method, path, key }: SentRequest, digest: Buffer): Statement {
  return {
    text: `${approvals}
where ($1::text is not null and a.request_key = $1::text)
  or ($1::text is null and a.request_key is null and a.status = 'waiting' and a.path = $2::text and a.method = $3::text
    and a.body_digest = $4::bytea)`,
    values: [key ?? null, path, method, digest],
  };
}

export interface ApprovalFilter {
  status: ApprovalStatus | undefined;
  paymentReference: string | undefined;
  /** The identity of an approval; the list begins after it. */
  after: string | undefined;
}

/** Approvals, newest first, and one more than `limit`. */
export function selectApprovals({ status, paymentReference, after }: ApprovalFilter, limit: number): Statement {
  const values: unknown[] = [uuidOrNull(after), limit + 1];
  const filters: string[] = [];
  // An approval that waited too long counts as expired even before the sweep has marked it.
  if (status !== undefined) {
    const place = `$${values.push(status)}::text`;
    const late = `a.asked_at <= clock_timestamp() - ${age}`;
    if (status === "waiting") filters.push(`a.status = ${place} and not (${late})`);
    else if (status === "expired") filters.push(`(a.status = ${place} or (a.status = 'waiting' and ${late}))`);
    else filters.push(`a.status = ${place}`);
  }
  if (paymentReference !== undefined) filters.push(`a.payment_id = $${values.push(uuidOf(paymentReference))}::uuid`);
  return {
    text: `${approvals}
where ($1::uuid is null or a.approval_id < $1::uuid)${filters.map((one) => ` and ${one}`).join("")}
order by a.approval_id desc
limit $2::integer`,
    values,
  };
}

/** Records a refusal or a withdrawal. Gives no row when the approval no longer waits. */
export function closeApproval(
  uuid: string,
  status: "refused" | "withdrawn",
  by: Identity,
  note: string | undefined,
): Statement {
  return {
    text: `update operator_approvals
set status = $2::text, decided_kind = $3::text, decided_id = $4::text, decided_by = $5::text, note = $6::text,
  decided_at = clock_timestamp(), ended_at = clock_timestamp()
where approval_id = $1::uuid and status = 'waiting' and asked_at > clock_timestamp() - ${age}
returning approval_id`,
    values: [uuidOf(uuid), status, by.kind, by.id, by.name, note ?? null],
  };
}

const LEASE = "interval '60 seconds'";

/** Records an approval and takes the lease to run the change. Gives no row when the approval no longer waits. */
export function approve(
  uuid: string,
  by: Identity,
  madeAt: Micros,
  { note, runId }: { note: string | undefined; runId: string },
): Statement {
  return {
    text: `update operator_approvals
set status = 'executing', decided_kind = $2::text, decided_id = $3::text, decided_by = $4::text, decided_made_at = $5::timestamptz,
  note = $6::text, run_id = $7::uuid, decided_at = clock_timestamp(), attempts = 1, leased_until = clock_timestamp() + ${LEASE}
where approval_id = $1::uuid and status = 'waiting' and asked_at > clock_timestamp() - ${age}
returning approval_id`,
    values: [uuidOf(uuid), by.kind, by.id, by.name, sqlTime(madeAt), note ?? null, uuidOf(runId)],
  };
}

/** Takes the lease of at most `limit` changes whose previous lease ended without an outcome. */
export function takeUpExecuting(limit: number): Statement {
  return {
    text: `with taken as (
  update operator_approvals
  set attempts = least(attempts + 1, 100), leased_until = clock_timestamp() + ${LEASE}
  where approval_id in (
    select approval_id
    from operator_approvals
    where status = 'executing' and leased_until <= clock_timestamp()
    order by leased_until
    limit $1::integer
    for update skip locked
  )
  returning *
)
select ${columns} from taken a ${joined}`,
    values: [limit],
  };
}

/** Records the outcome. Gives no row when another process recorded one first, or has taken up what did not succeed here: it may have succeeded there. */
export function endApproval(
  { uuid, attempts }: Pick<Approval, "uuid" | "attempts">,
  status: "executed" | "failed" | "unknown",
  answer: { status: number; body: string | null } | undefined,
): Statement {
  return {
    text: `update operator_approvals
set status = $2::text, answer_status = $3::smallint, answer = $4::json, leased_until = null, ended_at = clock_timestamp()
where approval_id = $1::uuid and status = 'executing' and (attempts = $5::smallint or $2::text = 'executed')
returning approval_id`,
    values: [uuidOf(uuid), status, answer?.status ?? null, answer?.body ?? null, attempts],
  };
}

/**
 * Names that may have held what a name signs in with: the makers of its tokens, whoever invited the person, the makers' makers, and so on; and when
 * the token was made. Invitations stay when a person is removed, so that removing one hides nothing.
 */
export function selectHands(name: string, tokenId: string | undefined): Statement {
  return {
    text: `with recursive hands(name) as (
  select $1::text
  union
  select m.name
  from hands h
  cross join lateral (
    select t.created_by as name from operator_tokens t where t.name = h.name
    union all
    select i.invited_by from persons p join operator_invitations i on i.accepted_by = p.person_id where p.email = h.name
  ) m
)
select array(select name from hands) as names, (select created_at from operator_tokens where token_id = $2::uuid) as made_at`,
    values: [name, uuidOrNull(tokenId)],
  };
}

/** The roles of the valid tokens of a name. */
export function selectTokenRoles(name: string, now: Micros): Statement {
  return {
    text: `select role
from operator_tokens
where name = $1::text and revoked_at is null and (expires_at is null or expires_at > $2::timestamptz)`,
    values: [name, sqlTime(now)],
  };
}

export function approvalOfRow(row: Row): Approval {
  const identity = (name: string): Identity => ({
    kind: row[`${name}_kind`] as Identity["kind"],
    id: row[`${name}_id`] as string,
    name: row[`${name}_by`] as string,
    role: (row[`${name}_role`] ?? row.least_role) as OperatorRole,
  });
  const body = row.body as Buffer;
  return {
    uuid: idOf("approval", row.approval_id as string),
    action: row.action as ApprovalAction,
    status: row.is_late ? "expired" : (row.status as ApprovalStatus),
    request: {
      operation: row.operation as string,
      method: row.method as string,
      path: row.path as string,
      body,
      digest: row.body_digest as Buffer,
      key: optional<string>(row.request_key),
    },
    summary: row.summary as string,
    book: row.merchant_id === null ? undefined : bookOfRow(row),
    merchantName: optional<string>(row.merchant_name),
    paymentReference: row.payment_id === null ? undefined : idOf("payment", row.payment_id as string),
    amount:
      row.amount_minor === null
        ? undefined
        : { amountMinor: row.amount_minor as Minor, currency: row.currency as string },
    leastRole: row.least_role as OperatorRole,
    requestId: idOf("request", row.request_id as string),
    askedBy: identity("asked"),
    askedAt: row.asked_at as Micros,
    decision:
      row.decided_at === null
        ? undefined
        : {
            by: identity("decided"),
            at: row.decided_at as Micros,
            note: optional<string>(row.note),
          },
    runId: row.run_id === null ? undefined : idOf("request", row.run_id as string),
    attempts: row.attempts as number,
    answer:
      row.answer_status === null
        ? undefined
        : {
            status: row.answer_status as number,
            body: row.answer === null ? null : (JSON.parse(row.answer as string) as unknown),
          },
  };
}
