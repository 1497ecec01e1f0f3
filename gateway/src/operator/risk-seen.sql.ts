// What fraud detection saw of a payment, counted again from what is kept: payments do not go away, so the counts are those of its moment.
import { leastIdOf } from "../events/events.sql.ts";
import { SECOND } from "../ground/clock.ts";
import { uuidOf } from "../ground/ids.ts";
import type { Payment } from "../payments/payment.ts";
import { CUSTOMER_WINDOW, MERCHANT_WINDOW } from "../risk/velocity.sql.ts";
import type { Statement } from "../store/database.ts";

/** Payments are counted to this many. */
export const COUNTED_MAX = 2_000;
/** So many other payments of the payer are told. */
export const OTHERS_MAX = 10;

const keyOf = ({ book, reference }: Payment): unknown[] => [
  uuidOf(book.merchantId),
  book.environment,
  uuidOf(reference),
];

/** The keys that stand for the payer of the payment, one a row: the e-mail address and the telephone. */
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

/** How many payments of the merchant came in the minute before, and of the payer in the hour before, by their most frequent contact. */
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
      from (${ofContact(before("$5"), "1", `limit ${COUNTED_MAX}`)}) q
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

/** Other payments of the same payer to the same merchant, newest first; one with both contacts may come twice. */
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

/** The windows, in seconds, as they are told. */
export const windowSeconds = { merchant: MERCHANT_WINDOW / SECOND, customer: CUSTOMER_WINDOW / SECOND };
