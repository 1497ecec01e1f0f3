// All SQL of the audit of operators' changes. Rows are added and read, and never changed.
import type { Micros } from "../ground/clock.ts";
import { uuidOf, uuidOrNull } from "../ground/ids.ts";
import type { Row, Statement } from "../store/database.ts";
import { bulkInsert } from "../store/table.ts";
import type { OperatorRole } from "../people/operator-roles.ts";

export interface AuditedCall {
  requestId: string;
  /** The name of the token or the address of the person. */
  actor: string;
  /** The caller's network address; undefined for the command line. */
  address: string | undefined;
  role: OperatorRole;
  method: string;
  /** The path as sent, without the query. */
  path: string;
  merchantId: string | undefined;
  /** For a change that needed a second operator: the operator who approved it. `actor` is then the operator who asked for it. */
  approvedBy?: string | undefined;
}

/** A requested change. Without a status, it was cut short or its outcome could not be recorded. */
export interface AuditRow extends Row {
  request_id: string;
  at: Micros;
  actor: string;
  address: string | null;
  role: OperatorRole;
  method: string;
  path: string;
  /** The request body, as stored by `keptBody`. */
  body: string | null;
  approved_by: string | null;
  merchant_id: string | null;
  status: number | null;
  answered_at: Micros | null;
}

export interface AuditFilter {
  merchantId: string | undefined;
  actor: string | undefined;
  /** A request identity; the list begins after it. */
  after: string | undefined;
  count: number;
}

export const PATH_MAX = 512;
const ADDRESS_MAX = 60;

interface NewAuditRow extends AuditedCall {
  auditId: string;
  at: Micros;
  body: string | null;
  status: number | null;
}

export const insertAudit = bulkInsert<NewAuditRow>("operator_audit", {
  audit_id: ["uuid", ({ auditId }) => uuidOf(auditId)],
  at: ["timestamptz", ({ at }) => at],
  role: ["text", ({ role }) => role],
  method: ["text", ({ method }) => method],
  path: ["text", ({ path }) => path.slice(0, PATH_MAX)],
  merchant_id: ["uuid", ({ merchantId }) => uuidOrNull(merchantId)],
  request_id: ["uuid", ({ requestId }) => uuidOf(requestId)],
  body: ["json", ({ body }) => body],
  status: ["smallint", ({ status }) => status],
  actor: ["text", ({ actor }) => actor],
  address: ["text", ({ address }) => address?.slice(0, ADDRESS_MAX)],
  approved_by: ["text", ({ approvedBy }) => approvedBy],
});

/** Gives one row when the request is recorded. */
export function selectAsked(requestId: string): Statement {
  return {
    text: "select from operator_audit where audit_id = $1::uuid and status is null",
    values: [uuidOf(requestId)],
  };
}

const columns = `select asked.request_id, asked.at, asked.actor, asked.address, asked.role, asked.method, asked.path, asked.body, asked.approved_by,
  coalesce(answered.merchant_id, asked.merchant_id) as merchant_id, answered.status, answered.at as answered_at
from operator_audit asked
left join operator_audit answered on answered.request_id = asked.request_id and answered.status is not null`;

/** Requested changes, newest first. */
export function selectAudit({ merchantId, actor, after, count }: AuditFilter): Statement {
  const values: unknown[] = [uuidOrNull(after), count];
  const filters = ["asked.status is null", "($1::uuid is null or asked.audit_id < $1::uuid)"];
  if (merchantId !== undefined) {
    const place = `$${values.push(uuidOf(merchantId))}::uuid`;
    filters.push(`asked.audit_id in (select request_id from operator_audit where merchant_id = ${place})`);
  }
  if (actor !== undefined) filters.push(`asked.actor = $${values.push(actor)}::text`);
  return {
    text: `${columns}
where ${filters.join("\n  and ")}
order by asked.audit_id desc
limit $2::integer`,
    values,
  };
}

/** Changes of one object that are listed at most. */
const ABOUT_MAX = 100;

/** Changes that were requested at exactly these paths, newest first; of recordings of disputes those that name this payment. */
export function selectAuditAbout(paths: readonly string[], paymentReference: string): Statement {
  return {
    name: "select audit of paths",
    text: `${columns}
where asked.status is null and asked.path = any($1::text[])
  and (asked.path not like '%/disputes' or strpos(asked.body::text, $2::text) > 0)
order by asked.audit_id desc
limit ${ABOUT_MAX}`,
    values: [paths, paymentReference],
  };
}
