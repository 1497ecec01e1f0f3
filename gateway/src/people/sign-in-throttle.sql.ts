// All SQL of recent sign-in failures.
import { type Micros, sqlTime } from "../ground/clock.ts";
import type { Statement } from "../store/database.ts";
import { STEP } from "../store/retention.ts";

/** Failures in a window by name. A name without failures has no row. */
export function selectFailures(names: readonly string[], windowStart: number): Statement {
  return {
    name: "select sign-in failures",
    text: `select name, failures
from sign_in_failures
where name = any($1::text[]) and window_start = $2::bigint`,
    values: [names, windowStart],
  };
}

/**
 * Adds one failure to each name, or takes one away, and gives the new counts. The names are sorted, so that two processes lock rows in one order and do
 * not deadlock.
 */
export function countFailures(names: readonly string[], windowStart: number, by: 1 | -1): Statement {
  return {
    name: "count sign-in failures",
    text: `insert into sign_in_failures as f (name, window_start, failures)
select name, $2::bigint, greatest($3::integer, 0) from unnest($1::text[]) as name
on conflict (name, window_start) do update
set failures = greatest(f.failures + $3::integer, 0)
returning name, failures`,
    values: [names.toSorted(), windowStart, by],
  };
}

/** Deletes windows that began more than half an hour ago, by the earlier of the service's and the database's clock. */
export function deleteOldFailures(realNow: Micros): Statement {
  return {
    name: "forget sign-in failures",
    text: `delete from sign_in_failures
where (name, window_start) in (
  select name, window_start from sign_in_failures where window_start < extract(epoch from least($1::timestamptz, statement_timestamp()) - interval '30 minutes') limit ${STEP}
)
returning 1`,
    values: [sqlTime(realNow)],
  };
}
