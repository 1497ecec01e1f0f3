// The audit of operators' changes: append-only rows, written before a change and before its answer; never a secret.
import { type Clock, type Micros, sqlTime } from "../ground/clock.ts";
import { idOf, newId, uuidOf } from "../ground/ids.ts";
import type { Database } from "../store/database.ts";
import type { OperatorRole } from "./endpoint.ts";

export interface AuditedCall {
  requestId: string;
  role: OperatorRole;
  method: string;
  /** As sent, without the query. */
  path: string;
  merchantId: string | undefined;
}

/** A change that was asked for; without a status it was cut short, or its outcome could not be recorded. */
export interface AuditEntry extends AuditedCall {
  at: Micros;
  /** What was sent, as it is kept. */
  body: unknown;
  status: number | undefined;
  answeredAt: Micros | undefined;
}

export const PATH_MAX = 512;
export const BODY_MAX_BYTES = 16_384;
const FIELD_MAX_BYTES = 1_024;
const DEPTH_MAX = 24;
const secretName = /secret|token|password|passphrase|authorization|private|(^|_)key$/i;
const secretValue = /(?<![a-z0-9])(sk_(test|live)_|whsec_|op_[0-9a-f]{8})/i;

/** What is kept of a body: no secrets, nothing deep, at most 16 KiB of JSON; whatever is left out is named. */
export function keptBody(body: unknown): string | null {
  if (body === undefined) return null;
  const clean = withoutSecrets(body, 0);
  const text = JSON.stringify(clean);
  if (Buffer.byteLength(text) <= BODY_MAX_BYTES) return text;
  const bytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
  const shortened = Object.fromEntries(
    Object.entries(clean as Record<string, unknown>).map(([name, value]) => [
      name,
      bytes(value) > FIELD_MAX_BYTES ? `(left out: ${bytes(value)} bytes)` : value,
    ]),
  );
  const short = JSON.stringify(shortened);
  return Buffer.byteLength(short) <= BODY_MAX_BYTES
    ? short
    : JSON.stringify({ left_out: `${Buffer.byteLength(text)} bytes` });
}

function withoutSecrets(value: unknown, depth: number): unknown {
  if (typeof value === "string") return textWithoutSecrets(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth >= DEPTH_MAX) return "(deep)";
  if (Array.isArray(value)) return value.map((part) => withoutSecrets(part, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [
      secretValue.test(name) ? "(secret)" : name,
      secretName.test(name) ? "(secret)" : withoutSecrets(part, depth + 1),
    ]),
  );
}

/** Of an address its user and its query are left out: both may let whoever reads them in. */
function textWithoutSecrets(text: string): string {
  if (secretValue.test(text)) return "(secret)";
  if (!/^\s*https?:/i.test(text)) return text;
  return text.replace(/\/\/[^/?#]*@/, "//(secret)@").replace(/\?.*/s, "?(secret)");
}

const columns = `select asked.request_id, asked.at, asked.role, asked.method, asked.path, asked.body,
  coalesce(answered.merchant_id, asked.merchant_id) as merchant_id, answered.status, answered.at as answered_at
from operator_audit asked
left join operator_audit answered on answered.request_id = asked.request_id and answered.status is not null`;

export class Audit {
  private readonly database: Database;
  private readonly clock: Clock;

  constructor(database: Database, clock: Clock) {
    this.database = database;
    this.clock = clock;
  }

  /** Before anything is changed: what is asked. */
  async asked(call: AuditedCall, body: unknown): Promise<void> {
    await this.write(call, uuidOf(call.requestId), keptBody(body), null);
  }

  /** Before the answer is sent: its status. */
  async answered(call: AuditedCall, status: number): Promise<void> {
    await this.write(call, uuidOf(newId("request", this.clock.now())), null, status);
  }

  private async write(call: AuditedCall, auditId: string, body: string | null, status: number | null): Promise<void> {
    await this.database.query({
      text: `insert into operator_audit (audit_id, at, role, method, path, merchant_id, request_id, body, status)
values ($1::uuid, $2::timestamptz, $3::text, $4::text, $5::text, $6::uuid, $7::uuid, $8::json, $9::smallint)`,
      values: [
        auditId,
        sqlTime(this.clock.now()),
        call.role,
        call.method,
        call.path.slice(0, PATH_MAX),
        call.merchantId === undefined ? null : uuidOf(call.merchantId),
        uuidOf(call.requestId),
        body,
        status,
      ],
    });
  }

  /** True when a change was asked for under this request's identity. */
  async has(requestId: string): Promise<boolean> {
    const rows = await this.database.query({
      text: "select from operator_audit where audit_id = $1::uuid and status is null",
      values: [uuidOf(requestId)],
    });
    return rows.length > 0;
  }

  /** Newest first, at most `count`, those before the request `after`. */
  async list(filter: {
    merchantId: string | undefined;
    after: string | undefined;
    count: number;
  }): Promise<AuditEntry[]> {
    const { merchantId, after, count } = filter;
    const ofMerchant = "\n  and asked.audit_id in (select request_id from operator_audit where merchant_id = $3::uuid)";
    const rows = await this.database.query({
      text: `${columns}
where asked.status is null and ($1::uuid is null or asked.audit_id < $1::uuid)${merchantId === undefined ? "" : ofMerchant}
order by asked.audit_id desc
limit $2::integer`,
      values: [
        after === undefined ? null : uuidOf(after),
        count,
        ...(merchantId === undefined ? [] : [uuidOf(merchantId)]),
      ],
    });
    return rows.map((row) => ({
      requestId: idOf("request", row.request_id as string),
      at: row.at as Micros,
      role: row.role as OperatorRole,
      method: row.method as string,
      path: row.path as string,
      merchantId: row.merchant_id === null ? undefined : idOf("merchant", row.merchant_id as string),
      body: row.body === null ? null : (JSON.parse(row.body as string) as unknown),
      status: (row.status as number | null) ?? undefined,
      answeredAt: (row.answered_at as Micros | null) ?? undefined,
    }));
  }
}
