// All SQL of what-ifs: past payments, read book by book in slices of time, newest first.
import { wireTime } from "../ground/clock.ts";
import { idOf, momentOf, uuidOrNull } from "../ground/ids.ts";
import type { Environment } from "../merchants/books.ts";
import type { PaymentMethod } from "../merchants/settings.ts";
import type { Row, Statement } from "../store/database.ts";
import type { PastOutcome, PastPayment, PastShape } from "./replay.ts";

export const READ_ONLY: Statement = { text: "set transaction read only" };

/** A span of time, of one merchant or of all. */
export interface Slice {
  environment: Environment;
  merchantId: string | undefined;
  /** Payment ids from `from` on and before `before`; undefined: no end. */
  from: string;
  before: string | undefined;
}

/** Reads book by book along the primary key: an index over all payments is not worth its writes. */
const inSlice = (columns: string, limit: string): string => `from books b
cross join lateral (
  select ${columns}
  from payments p
  where p.merchant_id = b.merchant_id and p.environment = b.environment and p.payment_id >= $3::uuid
    and ($4::uuid is null or p.payment_id < $4::uuid)
  ${limit}
) p
where b.environment = $1::environment and ($2::uuid is null or b.merchant_id = $2::uuid)`;

const sliceValues = ({ environment, merchantId, from, before }: Slice): unknown[] => [
  environment,
  uuidOrNull(merchantId),
  from,
  before ?? null,
];

/** The id at which a slice has to begin to hold no more than `count` payments; no row when the whole slice holds fewer. */
export function selectBeginning(slice: Slice, count: number): Statement {
  return {
    text: `select p.payment_id
${inSlice("p.payment_id", "order by p.payment_id desc limit $5::integer")}
order by p.payment_id desc
offset $5::integer - 1
limit 1`,
    values: [...sliceValues(slice), count],
  };
}

/** The outcome of a payment `p`, a `PastOutcome`. */
export const OUTCOME = `case
    when p.paid_at is not null then 'succeeded'
    when p.status in ('failed', 'expired') then 'failed'
    when p.status = 'canceled' then 'canceled'
    else 'open'
  end`;

/** Payments of a slice with equal values; their ids and amounts are two lists in the same order, separated by commas. */
export interface SliceRow extends Row {
  payment_method: PaymentMethod;
  currency: string;
  outcome: PastOutcome;
  routing: string;
  payment_ids: string;
  amounts_minor: string;
}

/** All payments of a slice but those that fraud detection rejected: they were never routed. */
export function selectSlice(slice: Slice): Statement {
  const columns =
    "p.payment_id, p.payment_method, p.currency, p.amount_minor, p.routing, p.paid_at, p.status, p.risk_decision";
  return {
    // Thousands of payments share a few dozen decisions of 500 bytes each, so each distinct decision is sent once.
    text: `select p.payment_method, p.currency, ${OUTCOME} as outcome, p.routing::text as routing, string_agg(p.payment_id::text, ',') as payment_ids,
  string_agg(p.amount_minor::text, ',') as amounts_minor
${inSlice(columns, "")} and p.risk_decision <> 'reject'
group by 1, 2, 3, 4`,
    values: sliceValues(slice),
  };
}

/** The payments of a slice, in no particular order. */
export function paymentsOfSlice(rows: readonly SliceRow[]): PastPayment[] {
  return rows.flatMap(
    ({ payment_method: method, currency, outcome, routing, payment_ids: ids, amounts_minor: sums }) => {
      const shape: PastShape = { method, currency, outcome, routing };
      const amounts = sums.split(",");
      return ids.split(",").map((id, at) => {
        const reference = idOf("payment", id);
        const day = wireTime(momentOf(reference)).slice(0, 10);
        return { reference, amountMinor: BigInt(amounts[at] as string), day, shape };
      });
    },
  );
}
