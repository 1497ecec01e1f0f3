// Queries for operators' lists of merchants. The merchants room writes the table.
import { uuidOrNull } from "../ground/ids.ts";
import type { Statement } from "../store/database.ts";

/**
 * Reads `MerchantRow`s of at most `count` merchants before `after`, newest first; with a `name`, of those whose name contains this text literally.
 */
export function selectMerchants(name: string | undefined, after: string | undefined, count: number): Statement {
  return {
    text: `select merchant_id, name, suspended, rate_limit_per_minute, settings
from merchants
where ($1::uuid is null or merchant_id < $1::uuid) and ($3::text is null or strpos(lower(name), lower($3::text)) > 0)
order by merchant_id desc
limit $2::integer`,
    values: [uuidOrNull(after), count, name ?? null],
  };
}
