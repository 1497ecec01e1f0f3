// All SQL of totals: payments of all merchants together, in spans of real time. The roll-up adds them; screens of the operator read them.
import { type Micros, SECOND, sqlTime } from "../ground/clock.ts";
import type { Environment } from "../merchants/books.ts";
import { ORIGIN } from "../store/commit-order.ts";
import type { Row, Statement } from "../store/database.ts";
import { STEP } from "../store/retention.ts";

const HOUR_SECONDS = 3_600;
const DAY_SECONDS = 24 * HOUR_SECONDS;

/** Lengths of spans, and how long each is kept: a little longer than it is plotted. */
export const totalsKeptSeconds = { 60: 3 * HOUR_SECONDS, 900: 3 * DAY_SECONDS, 3600: 35 * DAY_SECONDS } as const;
export type TotalsStep = keyof typeof totalsKeptSeconds;

/**
 * Of payments `p` with `ended_at` and `outcome`, the totals that they add to. A payment is asked for when it was created, and ends as something when
 * it came to that. Both by the real time: what happens in a sandbox whose clock was moved forward happens now.
 */
export function totalsOf(payments: string, when: { begins: string; ends: string }): string {
  return `select s.step_seconds, date_bin(make_interval(secs => s.step_seconds), m.at, 'epoch'), p.environment, p.currency, p.payment_method,
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
  group by 1, 2, 3, 4, 5, 6, 7`;
}

/** Adds totals to those that are there. */
export function addTotals(select: string): string {
  return `insert into payment_totals as t (step_seconds, at, environment, currency, method, acquirer, outcome, payments, amount_minor)
  ${select}
  on conflict (step_seconds, at, environment, currency, method, acquirer, outcome) do update
  set payments = t.payments + excluded.payments, amount_minor = t.amount_minor + excluded.amount_minor`;
}

export interface TotalRow extends Row {
  /** Which of the spans, from 0. */
  span: number;
  currency: string;
  method: string;
  acquirer: string;
  outcome: string;
  /** Sums have no limit: as texts. */
  payments: string;
  amount_minor: string;
}

/** Totals of one environment, or of all, and of one acquirer, or of all, since `begin`, in spans of so many seconds. */
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

/** Up to when payments are counted, by the database's clock; no row while they are counted for the first time. */
export function selectCountedAt(): Statement {
  return {
    name: "counted at",
    text: `select counted_at from roll_ups where name = 'payment_hours' and origin = ${ORIGIN}`,
  };
}

/** Totals that are older than anything that is plotted of their length. */
export function expiredTotals(realNow: Micros): Statement[] {
  return Object.entries(totalsKeptSeconds).map(([step, keptSeconds]) => ({
    name: `forget totals of ${step} s`,
    text: `delete from payment_totals
where ctid = any(array(
  select ctid
  from payment_totals
  where step_seconds = ${step}
    and at < least($1::timestamptz, statement_timestamp()) - make_interval(secs => ${keptSeconds})
  order by at
  limit ${STEP}
))
returning 1`,
    values: [sqlTime(realNow)],
  }));
}

/** Whole seconds in which a span is counted, as the database does: from the epoch on. */
export function spanStart(at: Micros, seconds: number): Micros {
  return Math.floor(at / (seconds * SECOND)) * seconds * SECOND;
}
