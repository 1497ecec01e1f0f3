// All SQL of recent sign-in failures.
import type { Statement } from "../store/database.ts";

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

/** Adds one failure to each name, or takes one away, and gives the counts. Names are sorted, so that two processes do not deadlock. */
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
