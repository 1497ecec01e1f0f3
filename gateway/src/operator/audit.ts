// The audit of operators' changes: append-only rows without secrets, one written before a change and one before its answer.
import type { Clock } from "../ground/clock.ts";
import { newId } from "../ground/ids.ts";
import type { Database, Statement } from "../store/database.ts";
import {
  type AuditFilter,
  type AuditRow,
  type AuditedCall,
  insertAudit,
  selectAsked,
  selectAudit,
  selectAuditAbout,
} from "./audit.sql.ts";

export const BODY_MAX_BYTES = 16_384;
const FIELD_MAX_BYTES = 1_024;
const DEPTH_MAX = 24;
const secretName = /secret|token|password|passphrase|authorization|private|(^|_)key$/i;
/** Fields with personal data: the record of an erasure must not name the erased payer. */
const personal = new Set(["payer", "customer"]);
const secretValue = /(?<![a-z0-9])(sk_(test|live)_|whsec_|op_[0-9a-hjkmnp-tv-z]{8})/i;

/** The stored form of a request body: without secrets, not deeper than DEPTH_MAX, at most 16 KiB of JSON. Left-out parts are marked. */
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
      secretName.test(name) ? "(secret)" : personal.has(name) ? "(personal)" : withoutSecrets(part, depth + 1),
    ]),
  );
}

/** Removes secrets from a text. A URL loses its user and its query, because either may grant access. */
function textWithoutSecrets(text: string): string {
  if (secretValue.test(text)) return "(secret)";
  if (!/^\s*https?:/i.test(text)) return text;
  return text.replace(/\/\/[^/?#]*@/, "//(secret)@").replace(/\?.*/s, "?(secret)");
}

export class Audit {
  private readonly database: Database;
  private readonly clock: Clock;

  constructor(database: Database, clock: Clock) {
    this.database = database;
    this.clock = clock;
  }

  /** Records the request. Must finish before the change begins. */
  async asked(call: AuditedCall, body: unknown): Promise<void> {
    const row = { ...call, auditId: call.requestId, at: this.clock.now(), body: keptBody(body), status: null };
    await this.database.query(insertAudit([row]));
  }

  /** Records the status. Must finish before the answer is sent. */
  async answered(call: AuditedCall, status: number): Promise<void> {
    await this.database.query(this.answerOf(call, status));
  }

  /** The statement that records the status, for a transaction that also writes the outcome. */
  answerOf(call: AuditedCall, status: number): Statement {
    const at = this.clock.now();
    return insertAudit([{ ...call, auditId: newId("request", at), at, body: null, status }]);
  }

  /** True when the request is recorded. */
  async has(requestId: string): Promise<boolean> {
    return (await this.database.query(selectAsked(requestId))).length > 0;
  }

  /** Changes that were requested at exactly these paths, newest first; of recordings of disputes those that name this payment. */
  about(paths: readonly string[], paymentReference: string): Promise<AuditRow[]> {
    return this.database.query<AuditRow>(selectAuditAbout(paths, paymentReference));
  }

  /** At most `count` changes that were requested before `after`, newest first. */
  list(filter: AuditFilter): Promise<AuditRow[]> {
    return this.database.query<AuditRow>(selectAudit(filter));
  }
}
