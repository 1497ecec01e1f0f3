// The query of the trial balance: each account of each book, with its balance at both ends of a period.
import type { Micros } from "../ground/clock.ts";
import { LEAST_UUID, leastIdOf } from "../ground/ids.ts";
import type { Environment } from "../merchants/books.ts";
import type { Row, Statement } from "../store/database.ts";
import { balanceBefore, firstJournal } from "./statement.sql.ts";

export interface AccountRow extends Row {
  merchant_id: string;
  merchant_name: string;
  account: string;
  currency: string;
  /** Debits minus credits. */
  opening_minor: bigint;
  closing_minor: bigint;
}

const inBook = (table: string): string =>
  `${table}.merchant_id = h.merchant_id and ${table}.environment = $1::environment`;

/** The accounts of the next `limit` books in which money ever moved, in the order of merchants: all accounts of one book come together. */
export function selectAccounts(
  environment: Environment,
  { from, before }: { from: Micros; before: Micros },
  after: string | undefined,
  limit: number,
): Statement {
  return {
    name: "trial balance",
    text: `select h.merchant_id, m.name as merchant_name, a.account, a.currency,
  coalesce(o.balance_after_minor, 0) as opening_minor, coalesce(c.balance_after_minor, 0) as closing_minor
from (
  select h.merchant_id, ${firstJournal(inBook, "$4")} as first, ${firstJournal(inBook, "$5")} as past
  from (
    select h.merchant_id, h.seq
    from book_heads h
    where h.environment = $1::environment and h.merchant_id > $2::uuid and h.seq > 0
    order by h.merchant_id
    limit $3::integer
  ) h
  offset 0 -- else the ends of the period would be looked for three times for each account
) h
join merchants m using (merchant_id)
join balances a on ${inBook("a")}
left join lateral (
  ${balanceBefore(inBook, "a.account", "a.currency", "h.first")}
) o on true
left join lateral (
  ${balanceBefore(inBook, "a.account", "a.currency", "greatest(h.first, h.past)")}
) c on true
order by h.merchant_id, a.currency, a.account`,
    values: [environment, after ?? LEAST_UUID, limit, leastIdOf(from), leastIdOf(before)],
  };
}
