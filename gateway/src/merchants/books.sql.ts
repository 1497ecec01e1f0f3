// SQL of books outside the lanes: the list of books, and the offset of a clock. The tables of the lanes are in books.ts.
import { uuidOf } from "../ground/ids.ts";
import type { Statement } from "../store/database.ts";
import type { Book } from "./books.ts";

/** The offset of one book's clock, as committed. */
export function selectBookOffset(book: Book): Statement {
  return {
    name: "select book offset",
    text: "select clock_offset_seconds from books where merchant_id = $1::uuid and environment = $2::environment",
    values: [uuidOf(book.merchantId), book.environment],
  };
}

/** Lists all books, or those of one merchant or environment when given. */
export function selectBooks(merchantId: string | undefined, environment: string | undefined): Statement {
  return {
    text: `select merchant_id, environment
from books
where ($1::uuid is null or merchant_id = $1::uuid) and ($2::text is null or environment = $2::environment)
order by merchant_id, environment`,
    values: [merchantId === undefined ? null : uuidOf(merchantId), environment ?? null],
  };
}
