// All SQL of reviews: payments that our fraud detection or an acquirer's left to an operator. Other rooms write these tables.
import { uuidOrNull } from "../ground/ids.ts";
import type { Statement } from "../store/database.ts";

/** Payments under review, oldest first, and one more than `limit`: pending ones for our fraud detection, paid ones for an acquirer's. */
export function selectReviews(reference: string | undefined, after: string | undefined, limit: number): Statement {
  return {
    name: "select reviews",
    text: `(
  select p.*
  from payments p
  where p.risk_decision = 'review' and p.status = 'pending'
    and ($1::uuid is null or p.payment_id = $1::uuid) and ($2::uuid is null or p.payment_id > $2::uuid)
  order by p.payment_id
  limit $3::integer
)
union all
(
  select p.*
  from acquirer_operations o
  join payments p on (p.merchant_id, p.environment, p.payment_id) = (o.merchant_id, o.environment, o.operation_id)
  where o.review = 'asked' and p.status = 'processing'
    and ($1::uuid is null or o.operation_id = $1::uuid) and ($2::uuid is null or o.operation_id > $2::uuid)
  order by o.operation_id
  limit $3::integer
)
order by payment_id
limit $3::integer`,
    values: [uuidOrNull(reference), uuidOrNull(after), limit + 1],
  };
}
