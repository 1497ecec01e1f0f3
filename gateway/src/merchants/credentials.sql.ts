// SQL of merchants' credentials: create, change, roll, revoke and list. Requests read credentials by directory.sql.ts.
import { type Micros, sqlTime, sqlTimeOrNull } from "../ground/clock.ts";
import { uuidOf } from "../ground/ids.ts";
import { type Row, type Statement, optional } from "../store/database.ts";
import { type Book, type Environment, bookValues } from "./books.ts";
import type { Scope, SignatureDemand } from "./directory.ts";

/** A merchant, in one environment or in both. */
export interface Whose {
  merchantId: string;
  environment?: Environment;
}

export interface CredentialTerms {
  name: string | undefined;
  scopes: readonly Scope[];
  signature: SignatureDemand;
  /** Addresses in the form of `readNetwork`. When empty, the credential may be used from anywhere. */
  allowedAddresses: readonly string[];
  /** Real time. */
  expiresAt: Micros | undefined;
}

/** A credential as it is listed, without its secret. */
export interface Credential extends CredentialTerms {
  clientId: string;
  environment: Environment;
  createdAt: Micros;
  revokedAt: Micros | undefined;
  replacedBy: string | undefined;
  lastUse: { at: Micros; address: string } | undefined;
}

export function insertCredential(
  credential: CredentialTerms & { book: Book; clientId: string; sealed: Buffer; createdAt: Micros },
): Statement {
  const { book } = credential;
  return {
    text: `insert into credentials (merchant_id, client_id, environment, secret_sealed, scopes, signature, created_at, name, expires_at, allowed_addresses)
values ($1::uuid, $2::text, $3::environment, $4::bytea, $5::text[], $6::text, $7::timestamptz, $8::text, $9::timestamptz, $10::text[]::cidr[])`,
    values: [
      uuidOf(book.merchantId),
      credential.clientId,
      book.environment,
      credential.sealed,
      credential.scopes,
      credential.signature,
      sqlTime(credential.createdAt),
      credential.name,
      sqlTimeOrNull(credential.expiresAt),
      credential.allowedAddresses,
    ],
  };
}

/** Writes all changeable fields of a credential that is not revoked. Gives a row when there is one. */
export function updateCredential(book: Book, clientId: string, terms: CredentialTerms): Statement {
  return {
    text: `update credentials
set name = $4::text, scopes = $5::text[], signature = $6::text, allowed_addresses = $7::text[]::cidr[], expires_at = $8::timestamptz
where merchant_id = $1::uuid and client_id = $2::text and environment = $3::environment and revoked_at is null
returning client_id`,
    values: [
      uuidOf(book.merchantId),
      clientId,
      book.environment,
      terms.name,
      terms.scopes,
      terms.signature,
      terms.allowedAddresses,
      sqlTimeOrNull(terms.expiresAt),
    ],
  };
}

/** Revokes a credential. No row when the merchant has no such credential that is not revoked. */
export function endCredential(merchantId: string, clientId: string, now: Micros): Statement {
  return {
    text: `update credentials set revoked_at = $3::timestamptz
where merchant_id = $1::uuid and client_id = $2::text and revoked_at is null
returning client_id`,
    values: [uuidOf(merchantId), clientId, sqlTime(now)],
  };
}

/** Records the credential that replaces another, and limits the life of the replaced one to `until`. */
export function replaceCredential(book: Book, clientId: string, by: string, until: Micros): Statement {
  return {
    text: `update credentials set replaced_by = $4::text, expires_at = least(expires_at, $5::timestamptz)
where merchant_id = $1::uuid and client_id = $2::text and environment = $3::environment and revoked_at is null`,
    values: [uuidOf(book.merchantId), clientId, book.environment, by, sqlTime(until)],
  };
}

export function countLive(book: Book, now: Micros): Statement {
  return {
    text: `select count(*)::integer as live
from credentials
where merchant_id = $1::uuid and environment = $2::environment and revoked_at is null
  and (expires_at is null or expires_at > $3::timestamptz)`,
    values: [...bookValues(book), sqlTime(now)],
  };
}

const credentials = `select c.client_id, c.environment, c.name, c.scopes, c.signature, c.allowed_addresses::text[] as allowed_addresses, c.created_at,
  c.expires_at, c.revoked_at, c.replaced_by, u.used_at, u.address
from credentials c
left join credential_uses u using (merchant_id, client_id)`;

/** Reads a credential, also a revoked or expired one. */
export function selectCredential({ merchantId, environment }: Whose, clientId: string): Statement {
  return {
    text: `${credentials}
where c.merchant_id = $1::uuid and c.client_id = $2::text and ($3::text is null or c.environment = $3::text::environment)`,
    values: [uuidOf(merchantId), clientId, environment],
  };
}

/** Reads a page of a merchant's credentials, including ended ones, in one environment or both: newest first, from `after` (exclusive) on. */
export function selectCredentials(whose: Whose, after: string | undefined, count: number): Statement {
  const { merchantId, environment } = whose;
  return {
    text: `${credentials}
where c.merchant_id = $1::uuid${environment === undefined ? "" : " and c.environment = $4::environment"}
  and ($2::text is null or (c.created_at, c.client_id) < (
    select a.created_at, a.client_id from credentials a where a.merchant_id = $1::uuid and a.client_id = $2::text
  ))
order by c.created_at desc, c.client_id desc
limit $3::integer`,
    values: [uuidOf(merchantId), after, count, ...(environment === undefined ? [] : [environment])],
  };
}

export function credentialOfRow(row: Row): Credential {
  const usedAt = optional<Micros>(row.used_at);
  return {
    clientId: row.client_id as string,
    environment: row.environment as Environment,
    name: optional<string>(row.name),
    scopes: row.scopes as Scope[],
    signature: row.signature as SignatureDemand,
    allowedAddresses: row.allowed_addresses as string[],
    createdAt: row.created_at as Micros,
    expiresAt: optional<Micros>(row.expires_at),
    revokedAt: optional<Micros>(row.revoked_at),
    replacedBy: optional<string>(row.replaced_by),
    lastUse: usedAt === undefined ? undefined : { at: usedAt, address: row.address as string },
  };
}
