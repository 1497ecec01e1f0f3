// SQL of merchants and their settings. The directory, credentials and webhook addresses have files of their own.
import { type Micros, sqlTime } from "../ground/clock.ts";
import { uuidOf, uuidOrNull } from "../ground/ids.ts";
import type { Statement } from "../store/database.ts";
import { type Environment, environments } from "./books.ts";
import type { MerchantSettings, SettingsChange } from "./settings.ts";

export function insertMerchant(
  merchant: { merchantId: string; name: string; settings: MerchantSettings },
  epoch: bigint,
  now: Micros,
): Statement {
  return {
    text: `insert into merchants (merchant_id, name, settings, epoch, created_at)
values ($1::uuid, $2::text, $3::jsonb, $4::bigint, $5::timestamptz)`,
    values: [uuidOf(merchant.merchantId), merchant.name, JSON.stringify(merchant.settings), epoch, sqlTime(now)],
  };
}

/** Adds a book in each environment. */
export function insertBooks(merchantId: string): Statement {
  return {
    text: "insert into books (merchant_id, environment) select $1::uuid, unnest($2::text[])::environment",
    values: [uuidOf(merchantId), environments],
  };
}

export interface MerchantRow extends Record<string, unknown> {
  merchant_id: string;
  name: string;
  suspended: boolean;
  rate_limit_per_minute: number;
  /** JSON. */
  settings: string;
}

const columns = "merchant_id, name, suspended, rate_limit_per_minute, settings";

/** Reads a `MerchantRow`. */
export function selectMerchant(merchantId: string): Statement {
  return {
    text: `select ${columns}
from merchants
where merchant_id = $1::uuid`,
    values: [uuidOf(merchantId)],
  };
}

/** Reads `MerchantRow`s of at most `count` merchants before `after`, newest first; with a `name`, of those whose name contains this text literally. */
export function selectMerchants(name: string | undefined, after: string | undefined, count: number): Statement {
  return {
    text: `select ${columns}
from merchants
where ($1::uuid is null or merchant_id < $1::uuid) and ($3::text is null or strpos(lower(name), lower($3::text)) > 0)
order by merchant_id desc
limit $2::integer`,
    values: [uuidOrNull(after), count, name ?? null],
  };
}

/** Reads the settings and locks them until the transaction ends. */
export function lockSettings(merchantId: string): Statement {
  return {
    text: "select settings from merchants where merchant_id = $1::uuid for update",
    values: [uuidOf(merchantId)],
  };
}

export function updateMerchant(
  merchantId: string,
  settings: MerchantSettings,
  change: SettingsChange,
  epoch: bigint,
): Statement {
  return {
    text: `update merchants
set settings = $2::jsonb, epoch = $3::bigint, suspended = coalesce($4::boolean, suspended),
  rate_limit_per_minute = coalesce($5::integer, rate_limit_per_minute)
where merchant_id = $1::uuid`,
    values: [uuidOf(merchantId), JSON.stringify(settings), epoch, change.suspended, change.rate_limit_per_minute],
  };
}

/** Makes every process reload the merchant. No row when there is no such merchant. */
export function touchMerchant(merchantId: string, epoch: bigint): Statement {
  return {
    text: "update merchants set epoch = $2::bigint where merchant_id = $1::uuid returning merchant_id",
    values: [uuidOf(merchantId), epoch],
  };
}

/** Gives a row when any merchant exists. */
export const selectAnyMerchant: Statement = { text: "select from merchants limit 1" };

export function selectOldestNamed(name: string): Statement {
  return {
    text: "select merchant_id from merchants where name = $1::text order by merchant_id limit 1",
    values: [name],
  };
}

const CREDENTIALS_MAX = 50;

export interface SecretsRow extends Record<string, unknown> {
  environment: Environment;
  /** Null in the row of a book's webhook secret. */
  client_id: string | null;
  secret_sealed: Buffer;
  previous_sealed: Buffer | null;
  revoked: boolean;
}

/** Reads a merchant's secrets as `SecretsRow`: those of its newest credentials, including revoked ones, and of its webhooks. */
export function selectSecrets(merchantId: string): Statement {
  return {
    name: "secrets of a merchant",
    text: `(select c.environment, c.client_id, c.secret_sealed, null::bytea as previous_sealed, c.revoked_at is not null as revoked
from credentials c
where c.merchant_id = $1::uuid
order by c.created_at desc
limit ${CREDENTIALS_MAX})
union all
select w.environment, null, w.secret_sealed, w.previous_sealed, false
from webhook_endpoints w
where w.merchant_id = $1::uuid`,
    values: [uuidOf(merchantId)],
  };
}
