// What fraud detection saw of a payment, counted again from the stored payments. None is deleted, so the counts equal those of that moment, until the payer
// is erased: then nothing tells which payments were theirs, and none is counted.
import { bookValues } from "../merchants/books.ts";
import { leastIdOf, uuidOf } from "../ground/ids.ts";
import type { Payment } from "../payments/payment.ts";
import { CUSTOMER_WINDOW, MERCHANT_WINDOW } from "../risk/velocity.sql.ts";
import type { Statement } from "../store/database.ts";

/** Counts of payments stop here. */
export const COUNTED_MAX = 2_000;
/** Other payments of the payer that are listed at most. */
export const OTHERS_MAX = 10;

const keyOf = ({ book, reference }: Payment): unknown[] => [...bookValues(book), uuidOf(reference)];

/** The contact keys of the payment's payer, one a row: of the e-mail address and the telephone. */
const contacts = `from payments p
cross join lateral (select unnest(array[p.customer_key, p.phone_key]) as contact) k
where p.merchant_id = $1::uuid and p.environment = $2::environment and p.payment_id = $3::uuid and k.contact is not null`;

const ofContact = (range: string, columns: string, tail: string): string =>
  ["customer_key", "phone_key"]
    .map(
      (key) => `(
    select ${columns}
    from payments q
    where q.merchant_id = $1::uuid and q.environment = $2::environment and q.${key} = k.contact${range}
    ${tail}
  )`,
    )
    .join(" union all ");

/** Counts payments: the merchant's of the minute before, and the payer's of the hour before by the busier contact, those of links if paid by then. */
export function selectVelocities(payment: Payment): Statement {
  const before = (since: string): string => ` and q.payment_id >= ${since}::uuid and q.payment_id < $3::uuid`;
  return {
    name: "count what risk saw",
    text: `select (
  select count(*)::integer
  from (
    select
    from payments q
    where q.merchant_id = $1::uuid and q.environment = $2::environment${before("$4")}
    limit ${COUNTED_MAX}
  ) q
) as merchant_payments, (
  select coalesce(max(c.payments), 0)::integer
  from (
    select (
      select count(*)
      from (${ofContact(`${before("$5")} and (q.link_id is null or q.paid_at < p.created_at)`, "1", `limit ${COUNTED_MAX}`)}) q
    ) as payments
    ${contacts}
  ) c
) as customer_payments`,
    values: [
      ...keyOf(payment),
      leastIdOf(payment.createdAt - MERCHANT_WINDOW),
      leastIdOf(payment.createdAt - CUSTOMER_WINDOW),
    ],
  };
}

/** Other payments of the same payer to the same merchant, newest first. A payment with both contacts may appear twice. */
export function selectOthersOfPayer(payment: Payment): Statement {
  return {
    name: "select other payments of payer",
    text: `select q.*
from (
  select k.contact
  ${contacts}
) k
cross join lateral (${ofContact(" and q.payment_id <> $3::uuid", "q.*", `order by q.payment_id desc limit ${OTHERS_MAX}`)}) q
order by q.payment_id desc
limit ${2 * OTHERS_MAX}`,
    values: keyOf(payment),
  };
}
