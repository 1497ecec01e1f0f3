// SQL of books outside the lanes: the list of books, the offset of a clock, and rows of either book of a merchant. The tables of the lanes are in books.ts.
import { uuidOf, uuidOrNull } from "../ground/ids.ts";
import type { Statement } from "../store/database.ts";
import { type Book, bookValues } from "./books.ts";

/** The offset of one book's clock, as committed. */
export function selectBookOffset(book: Book): Statement {
  return {
    name: "select book offset",
    text: "select clock_offset_seconds from books where merchant_id = $1::uuid and environment = $2::environment",
    values: [...bookValues(book)],
  };
}

/** Makes the statement that reads one row of a merchant by its identity, in either environment. */
export function selectInEither(table: string, column: string): (merchantId: string, id: string) => Statement {
  const text = `select *
from ${table}
where merchant_id = $1::uuid and environment = any('{sandbox,production}'::environment[]) and ${column} = $2::uuid`;
  return (merchantId, id) => ({ name: `select one of ${table}`, text, values: [uuidOf(merchantId), uuidOf(id)] });
}

/** Lists all books, or those of one merchant or environment when given; one that has balances or journals and is not there itself, too. */
export function selectBooks(merchantId: string | undefined, environment: string | undefined): Statement {
  return {
    // Of the journals, only each book's first is read.
    text: `with recursive journaled as (
  (
    select merchant_id, environment from journals
    where $1::uuid is null or merchant_id = $1::uuid
    order by merchant_id, environment
    limit 1
  )
  union all
  select n.merchant_id, n.environment
  from journaled l
  cross join lateral (
    select merchant_id, environment from journals j
    where (j.merchant_id, j.environment) > (l.merchant_id, l.environment) and ($1::uuid is null or j.merchant_id = $1::uuid)
    order by merchant_id, environment
    limit 1
  ) n
)
select merchant_id, environment
from (
  select merchant_id, environment from books
  union
  select merchant_id, environment from balances
  union
  select merchant_id, environment from journaled
) b
where ($1::uuid is null or merchant_id = $1::uuid) and ($2::text is null or environment = $2::environment)
order by merchant_id, environment`,
    values: [uuidOrNull(merchantId), environment ?? null],
  };
}
