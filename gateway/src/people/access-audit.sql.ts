// All SQL of the audit of persons' own access.
import { type Micros, sqlTime } from "../ground/clock.ts";
import { uuidOf } from "../ground/ids.ts";
import type { Statement } from "../store/database.ts";

export interface PeopleAuditEntry {
  at: Micros;
  action: string;
  personId: string | undefined;
  merchantId: string | undefined;
  address: string | undefined;
  details: Readonly<Record<string, unknown>> | undefined;
}

export function insertPeopleAudit(auditId: string, entry: PeopleAuditEntry): Statement {
  return {
    name: "insert people audit",
    text: `insert into people_audit (audit_id, at, action, person_id, merchant_id, address, details)
values ($1::uuid, $2::timestamptz, $3::text, $4::uuid, $5::uuid, $6::text, $7::json)`,
    values: [
      uuidOf(auditId),
      sqlTime(entry.at),
      entry.action,
      entry.personId === undefined ? null : uuidOf(entry.personId),
      entry.merchantId === undefined ? null : uuidOf(entry.merchantId),
      entry.address ?? null,
      entry.details === undefined ? null : JSON.stringify(entry.details),
    ],
  };
}
