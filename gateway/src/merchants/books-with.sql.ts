// Books that have rows of a kind, found without looking at the others: an installation has far more books than books with something to do.
import { LEAST_UUID } from "../ground/ids.ts";

/** Parameters that name the one book to look at; null for all. */
interface OneBook {
  merchant: string;
  environment: string;
}

/**
 * A source of rows `b` for `from`: the books with rows `t` of `table` under `condition`. Steps from one such book to the next along an index of these
 * rows, which must begin with merchant_id and environment. What it takes grows with those books, and not with all.
 */
export function booksWith(table: string, condition: string, one?: OneBook): string {
  const nextBook = (place = ""): string => `select t.merchant_id, t.environment
      from ${table} t
      where ${condition}${place}
      order by t.merchant_id, t.environment
      limit 1`;
  const first =
    one &&
    ` and (t.merchant_id, t.environment) >= (
        coalesce(${one.merchant}, '${LEAST_UUID}'), coalesce(${one.environment}, 'sandbox')
      )`;
  const further = ` and (t.merchant_id, t.environment) > (s.merchant_id, s.environment)${one ? ` and ${one.merchant} is null` : ""}`;
  return `(
  with recursive steps as (
    (
      ${nextBook(first)}
    )
    union all
    select n.merchant_id, n.environment
    from steps s
    cross join lateral (
      ${nextBook(further)}
    ) n
  )
  select b.*
  from steps s
  cross join lateral (
    select *
    from books b
    where b.merchant_id = s.merchant_id and b.environment = s.environment
    limit 1
  ) b
) b`;
}
