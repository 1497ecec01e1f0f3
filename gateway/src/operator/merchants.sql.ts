// What the operator's lists read of merchants and their credentials. Their own room writes them.
import { type Micros, wireTime } from "../ground/clock.ts";
import { idOf, uuidOf } from "../ground/ids.ts";
import type { Environment } from "../merchants/books.ts";
import type { SignatureDemand } from "../merchants/directory.ts";
import type { MerchantSummary } from "../merchants/merchants.ts";
import { settingsSchema } from "../merchants/settings.ts";
import type { Row, Statement } from "../store/database.ts";

/** Newest first, those before the merchant `after`. */
export function selectMerchants(after: string | undefined, count: number): Statement {
  return {
    text: `select merchant_id, name, suspended, rate_limit_per_minute, settings
from merchants
where $1::uuid is null or merchant_id < $1::uuid
order by merchant_id desc
limit $2::integer`,
    values: [after === undefined ? null : uuidOf(after), count],
  };
}

export function merchantOfRow(row: Row): MerchantSummary {
  return {
    merchantId: idOf("merchant", row.merchant_id as string),
    name: row.name as string,
    suspended: row.suspended as boolean,
    rateLimitPerMinute: row.rate_limit_per_minute as number,
    settings: settingsSchema.parse(JSON.parse(row.settings as string)),
  };
}

const CREDENTIAL_COLUMNS = "client_id, environment, scopes, signature, created_at, revoked_at";

/** A credential as the operator may see it: never its secret. */
export interface CredentialView {
  client_id: string;
  environment: Environment;
  scopes: string[];
  signature: SignatureDemand;
  created_at: string;
  /** Null while it is live. */
  revoked_at: string | null;
}

/** One row when the merchant has, or had, a credential of this id. */
export function selectCredential(merchantId: string, clientId: string): Statement {
  return {
    text: `select ${CREDENTIAL_COLUMNS}
from credentials
where merchant_id = $1::uuid and client_id = $2::text`,
    values: [uuidOf(merchantId), clientId],
  };
}

/** Newest first, revoked ones too, those before the credential `after`. */
export function selectCredentials(merchantId: string, after: string | undefined, count: number): Statement {
  return {
    text: `select ${CREDENTIAL_COLUMNS}
from credentials
where merchant_id = $1::uuid and ($2::text is null or (created_at, client_id) < (
  select c.created_at, c.client_id from credentials c where c.merchant_id = $1::uuid and c.client_id = $2::text
))
order by created_at desc, client_id desc
limit $3::integer`,
    values: [uuidOf(merchantId), after, count],
  };
}

export function credentialOfRow(row: Row): CredentialView {
  return {
    client_id: row.client_id as string,
    environment: row.environment as Environment,
    scopes: row.scopes as string[],
    signature: row.signature as SignatureDemand,
    created_at: wireTime(row.created_at as Micros),
    revoked_at: row.revoked_at === null ? null : wireTime(row.revoked_at as Micros),
  };
}
