// Queries of payouts over all merchants: by day, and the settlement batches of one day. The settlements room writes these tables.
import { type Micros, sqlTime } from "../ground/clock.ts";
import { uuidOf, uuidOrNull } from "../ground/ids.ts";
import type { Environment } from "../merchants/books.ts";
import { defaultSchedule } from "../merchants/settlement-schedule.ts";
import type { SettlementStatus } from "../settlements/settlement.ts";
import type { Row, Statement } from "../store/database.ts";

/** Days as YYYY-MM-DD, both inclusive. */
export interface CalendarRange {
  environment: Environment;
  from: string;
  to: string;
}

export interface PayoutRow extends Row {
  day: string;
  currency: string;
  status: SettlementStatus;
  batches: bigint;
  /** A sum as text, because it may exceed a bigint. */
  net_minor: string;
}

/** Past and planned payouts of each day, by currency and status, from an index-only scan of the index on payout dates. */
export function selectPayouts({ environment, from, to }: CalendarRange): Statement {
  return {
    name: "payouts by day",
    text: `select s.payout_date::text as day, s.currency, s.status::text as status, count(*) as batches, sum(s.net_minor)::text as net_minor
from settlements s
where s.environment = $1::environment and s.payout_date between $2::date and $3::date
group by s.payout_date, s.currency, s.status
order by s.payout_date, s.currency, s.status`,
    values: [environment, from, to],
  };
}

export interface ComingRow extends Row {
  day: string;
  currency: string;
  books: bigint;
  available_minor: string;
}

const ofSchedule = (field: string, otherwise: number): string =>
  `coalesce((m.settings::jsonb -> 'settlement' ->> '${field}')::integer, ${otherwise})`;

/**
 * The available balance of each book with a coming settlement run, by the day on which `payoutDate` would have that run pay out. A run that is late pays out
 * today, which is another day for merchants of other zones; a frozen wallet is not paid out. Reads one clock and one balance row for each book that has money.
 */
export function selectComing({ environment, from, to }: CalendarRange, now: Micros): Statement {
  return {
    name: "payouts to come by day",
    text: `select d.day::text as day, a.currency, count(*) as books, sum(a.available)::text as available_minor
from settlement_clocks c
join merchants m using (merchant_id)
cross join lateral (
  select ((
    greatest(
      c.next_run_at + make_interval(secs => ${ofSchedule("pay_after_seconds", defaultSchedule.pay_after_seconds)}),
      $4::timestamptz
    ) + make_interval(mins => ${ofSchedule("utc_offset_minutes", defaultSchedule.utc_offset_minutes)})
  ) at time zone 'UTC')::date as day, m.settings::jsonb -> 'wallet_frozen' as frozen
  offset 0 -- or the settings are parsed once for each time that the day is named
) d
cross join lateral (
  select a.currency, a.credit_minor::numeric - a.debit_minor as available
  from balances a
  where a.merchant_id = c.merchant_id and a.environment = c.environment and a.account = 'merchant:available'
    and a.credit_minor > a.debit_minor and coalesce(d.frozen -> a.currency, 'false') <> 'true'
  offset 0 -- or all accounts of all books are read to find these
) a
where c.environment = $1::environment and c.next_run_at is not null and d.day between $2::date and $3::date
group by 1, 2
order by 1, 2`,
    values: [environment, from, to, sqlTime(now)],
  };
}

interface DayFilter {
  environment: Environment;
  day: string;
  status: SettlementStatus | undefined;
  currency: string | undefined;
  after: string | undefined;
}

/** A page of a day's settlement batches over all merchants, newest first, and one more than `limit`. */
export function selectPayoutsOf({ environment, day, status, currency, after }: DayFilter, limit: number): Statement {
  return {
    name: "payouts of a day",
    text: `select s.*, m.name as merchant_name
from (
  select *
  from settlements
  where environment = $1::environment and payout_date = $2::date
    and ($3::text is null or status = $3::text::settlement_status)
    and ($4::text is null or currency = $4::text)
    and ($5::uuid is null or settlement_id < $5::uuid)
  order by settlement_id desc
  limit $6::integer
) s
join merchants m using (merchant_id)
order by s.settlement_id desc`,
    values: [environment, day, status ?? null, currency ?? null, uuidOrNull(after), limit + 1],
  };
}

/** Gives one row when the settlement batch has this payout day. */
export function selectIsPayoutOf({ environment, day }: DayFilter, settlementId: string): Statement {
  return {
    name: "is a payout of a day",
    text: `select 1 as found
from settlements
where environment = $1::environment and payout_date = $2::date and settlement_id = $3::uuid`,
    values: [environment, day, uuidOf(settlementId)],
  };
}
