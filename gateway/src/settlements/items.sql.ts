// All SQL of lists of a batch's items: a page of items, and sums by kind.
import { bookValues } from "../merchants/books.ts";
import { LEAST_UUID, uuidOf } from "../ground/ids.ts";
import type { Statement } from "../store/database.ts";
import type { Settlement, SettlementItem } from "./settlement.ts";

type BatchKey = Pick<Settlement, "book" | "uuid">;

const keyOf = ({ book, uuid }: BatchKey): unknown[] => [...bookValues(book), uuidOf(uuid)];

/** A page of a batch's items, ordered by kind and id: the item of the cursor, and one more than `limit`. `statementLineOfRow` reads the rows. */
export function selectItemPage(
  batch: BatchKey,
  from: { kind: SettlementItem["kind"]; id: string } | undefined,
  limit: number,
): Statement {
  return {
    name: "select page of settlement items",
    text: `select i.*, p.reference_id, p.payment_method, p.gateway_code, p.created_at, p.paid_at
from (
  select *
  from settlement_items
  where merchant_id = $1::uuid and environment = $2::environment and settlement_id = $3::uuid
    and (kind, item_id) >= ($4::text, $5::uuid)
  order by kind, item_id
  limit $6::integer
) i
join payments p using (merchant_id, environment, payment_id)
order by i.kind, i.item_id`,
    values: [...keyOf(batch), from?.kind ?? "", from ? uuidOf(from.id) : LEAST_UUID, limit + (from ? 2 : 1)],
  };
}

/** The sums of each kind of item, in minor units. */
export function selectItemSums(batch: BatchKey): Statement {
  return {
    name: "select sums of settlement items",
    text: `select kind, count(*) as items, sum(amount_minor)::bigint as amount_minor, sum(fee_minor)::bigint as fee_minor
from settlement_items
where merchant_id = $1::uuid and environment = $2::environment and settlement_id = $3::uuid
group by kind
order by kind`,
    values: keyOf(batch),
  };
}
