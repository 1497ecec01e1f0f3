// All SQL of totals: payments of all merchants together, in spans of real time. The roll-up adds to them; the operator's pages read them.
import { DAY_SECONDS, HOUR_SECONDS, type Micros, SECOND, sqlTime } from "../ground/clock.ts";
import type { Environment } from "../merchants/books.ts";
import { ORIGIN } from "../store/commit-order.ts";
import type { Row, Statement } from "../store/database.ts";
import { deleteOldest } from "../store/retention.ts";

/** Retention in seconds by length of span in seconds: a little longer than any plot of that length. */
export const totalsKeptSeconds = { 60: 3 * HOUR_SECONDS, 900: 3 * DAY_SECONDS, 3600: 35 * DAY_SECONDS } as const;
export type TotalsStep = keyof typeof totalsKeptSeconds;

/**
 * SQL that adds payments `p`, with columns `ended_at` and `outcome`, to the totals. A payment counts as `asked` at its creation, and as its outcome at its end.
 * Neither time may lie ahead of the real time: what happens in a sandbox whose clock was moved forward counts as happening now.
 */
export function addTotals(payments: string, when: { begins: string; ends: string }): string {
  return `insert into payment_totals as t (step_seconds, at, environment, currency, method, acquirer, outcome, payments, amount_minor)
  select s.step_seconds, date_bin(make_interval(secs => s.step_seconds), m.at, 'epoch'), p.environment, p.currency, p.payment_method,
    coalesce(p.gateway_code, ''), m.outcome, count(*), sum(p.amount_minor)
  from ${payments}
  cross join lateral (
    select 'asked', least(p.created_at, statement_timestamp())
    where ${when.begins}
    union all
    select p.outcome, least(p.ended_at, statement_timestamp())
    where ${when.ends}
  ) m (outcome, at)
  join (values ${Object.entries(totalsKeptSeconds)
    .map(([step, kept]) => `(${step}, ${kept})`)
    .join(", ")}) s (step_seconds, kept_seconds)
    on m.at >= statement_timestamp() - make_interval(secs => s.kept_seconds)
  group by 1, 2, 3, 4, 5, 6, 7
  on conflict (step_seconds, at, environment, currency, method, acquirer, outcome) do update
  set payments = t.payments + excluded.payments, amount_minor = t.amount_minor + excluded.amount_minor`;
}

export interface TotalRow extends Row {
  /** Number of the span, from 0. */
  span: number;
  currency: string;
  method: string;
  acquirer: string;
  outcome: string;
  /** Sums are texts, because their size has no limit. */
  payments: string;
  amount_minor: string;
}

/** Totals since `begin` in spans of `spanSeconds`, of one environment or both, and of one acquirer or all. */
export function selectTotals(asked: {
  environment: Environment | undefined;
  acquirer?: string;
  step: TotalsStep;
  begin: Micros;
  spanSeconds: number;
}): Statement {
  return {
    name: "totals over time",
    text: `select floor(extract(epoch from t.at - $3::timestamptz) / $4::integer)::integer as span, t.currency, t.method, t.acquirer, t.outcome,
  sum(t.payments)::text as payments, sum(t.amount_minor)::text as amount_minor
from payment_totals t
where t.step_seconds = $1::integer and t.environment = any($2::text[]::environment[]) and t.at >= $3::timestamptz
  and ($5::text is null or t.acquirer = $5::text)
group by 1, 2, 3, 4, 5`,
    values: [
      asked.step,
      asked.environment === undefined ? ["sandbox", "production"] : [asked.environment],
      sqlTime(asked.begin),
      asked.spanSeconds,
      asked.acquirer ?? null,
    ],
  };
}

/** Time up to which payments are counted, by the database's clock; no row during the first count. */
export const selectCountedAt: Statement = {
  name: "counted at",
  text: `select counted_at from roll_ups where name = 'payment_quarters' and origin = ${ORIGIN}`,
};

/** The statements that delete totals beyond their retention. */
export function expiredTotals(realNow: Micros): Statement[] {
  return Object.entries(totalsKeptSeconds).map(([step, keptSeconds]) =>
    deleteOldest("payment_totals", { column: "at", keptSeconds, which: `step_seconds = ${step}` }, realNow),
  );
}

/** Start of the span of `seconds` that contains `at`. Spans are counted from the epoch, as in the database's `date_bin`. */
export function spanStart(at: Micros, seconds: number): Micros {
  return Math.floor(at / (seconds * SECOND)) * seconds * SECOND;
}
