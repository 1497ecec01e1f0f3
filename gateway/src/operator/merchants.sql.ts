// Queries for operators' lists of merchants. The merchants room writes the table.
import { idOf, uuidOf } from "../ground/ids.ts";
import type { MerchantSummary } from "../merchants/directory.ts";
import { settingsSchema } from "../merchants/settings.ts";
import type { Row, Statement } from "../store/database.ts";

/** At most `count` merchants before `after`, newest first; with a `name`, those whose name contains this text literally. */
export function selectMerchants(name: string | undefined, after: string | undefined, count: number): Statement {
  return {
    text: `select merchant_id, name, suspended, rate_limit_per_minute, settings
from merchants
where ($1::uuid is null or merchant_id < $1::uuid) and ($3::text is null or strpos(lower(name), lower($3::text)) > 0)
order by merchant_id desc
limit $2::integer`,
    values: [after === undefined ? null : uuidOf(after), count, name ?? null],
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
