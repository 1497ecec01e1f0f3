// All SQL of `people_audit`: persons' changing calls, and their own access. Rows are inserted and read, never changed.
import type { Micros } from "../ground/clock.ts";
import { idOf, uuidOf, uuidOrNull } from "../ground/ids.ts";
import type { Environment } from "../merchants/books.ts";
import { type Row, type Statement, optional } from "../store/database.ts";
import { bulkInsert } from "../store/table.ts";

/** An HTTP call that changes something. */
export interface AuditedCall {
  requestId: string;
  personId: string;
  /** The operation in snake case. */
  action: string;
  /** HTTP method and path as sent, without the query. */
  path: string;
  merchantId: string | undefined;
  environment: Environment | undefined;
  address: string;
}

const PATH_MAX = 512;
const ADDRESS_MAX = 60;

/** A row of the audit: of a call, with the status once it is answered, or of something done by other means. It must hold no secret. */
export interface PeopleAuditEntry extends Partial<Omit<AuditedCall, "personId">> {
  action: string;
  personId?: string | undefined;
  status?: number | undefined;
  details?: Readonly<Record<string, unknown>> | undefined;
}

export const insertPeopleAudit = bulkInsert<PeopleAuditEntry & { auditId: string; at: Micros }>("people_audit", {
  audit_id: ["uuid", ({ auditId }) => uuidOf(auditId)],
  at: ["timestamptz", ({ at }) => at],
  action: ["text", ({ action }) => action],
  person_id: ["uuid", ({ personId }) => uuidOrNull(personId)],
  merchant_id: ["uuid", ({ merchantId }) => uuidOrNull(merchantId)],
  address: ["text", ({ address }) => address?.slice(0, ADDRESS_MAX)],
  request_id: ["uuid", ({ requestId }) => uuidOrNull(requestId)],
  environment: ["text", ({ environment }) => environment],
  path: ["text", ({ path }) => path?.slice(0, PATH_MAX)],
  status: ["smallint", ({ status }) => status],
  details: ["json", ({ details }) => details && JSON.stringify(details)],
});

/** Something that a person did for a merchant: a changing call, or an entry of `access-audit.ts`. */
export interface MerchantAuditEntry {
  auditId: string;
  at: Micros;
  action: string;
  person: { personId: string; name: string } | undefined;
  environment: Environment | undefined;
  path: string | undefined;
  /** HTTP status of the call's answer; undefined when the call was cut short, and for entries that are no calls. */
  status: number | undefined;
  address: string | undefined;
  details: unknown;
}

/** Audit entries of a merchant, newest first, starting after the entry `before`. */
export function selectMerchantAudit(merchantId: string, before: string | undefined, count: number): Statement {
  return {
    text: `select a.audit_id, a.at, a.action, a.person_id, p.name, a.environment, a.path, a.address, answered.status,
  coalesce(a.details, answered.details) as details
from people_audit a
left join persons p using (person_id)
left join people_audit answered on answered.request_id = a.request_id and answered.status is not null
where a.merchant_id = $1::uuid and a.status is null and ($2::uuid is null or a.audit_id < $2::uuid)
order by a.audit_id desc
limit $3::integer`,
    values: [uuidOf(merchantId), uuidOrNull(before), count],
  };
}

/** One row when the audit entry belongs to the merchant. */
export function selectMerchantAuditEntry(merchantId: string, auditId: string): Statement {
  return {
    text: "select from people_audit where audit_id = $1::uuid and merchant_id = $2::uuid and status is null",
    values: [uuidOf(auditId), uuidOf(merchantId)],
  };
}

export function merchantAuditOfRow(row: Row): MerchantAuditEntry {
  return {
    auditId: idOf("request", row.audit_id as string),
    at: row.at as Micros,
    action: row.action as string,
    person:
      row.person_id === null
        ? undefined
        : { personId: idOf("person", row.person_id as string), name: (row.name as string | null) ?? "" },
    environment: optional<Environment>(row.environment),
    path: optional<string>(row.path),
    status: optional<number>(row.status),
    address: optional<string>(row.address),
    details: row.details === null ? undefined : (JSON.parse(row.details as string) as unknown),
  };
}
