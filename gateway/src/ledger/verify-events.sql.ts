// The SQL of verification that compares events with the rows whose money they tell of: each row has exactly one event of each type that its
// state asks for, and no event tells of money that did not move, or of another amount. verify.sql.ts says why one snapshot is enough.
import { inBook } from "../merchants/books.ts";
import { firstOf } from "./verify-rows.sql.ts";
import { type PagedTable, keys, paid } from "./verify.sql.ts";

/** An event, its table, the SQL by which a row `o` asks for it, the column with its moment, and the columns whose values stand in it under their names. */
type Told = readonly [type: string, table: PagedTable, when: string, at: string, ...amounts: string[]];

const sums = ["gross_minor", "fee_minor", "refund_minor", "net_minor"];
const told: readonly Told[] = [
  ["payment.succeeded", "payments", `o.status in ${paid}`, "paid_at", "amount_minor", "fee_minor"],
  ["refund.succeeded", "refunds", "o.status = 'succeeded'", "completed_at", "amount_minor"],
  ["refund.failed", "refunds", "o.status = 'failed'", "completed_at", "amount_minor"],
  ["settlement.created", "settlements", "true", "created_at", ...sums],
  ["settlement.paid", "settlements", "o.status = 'paid'", "paid_at", ...sums],
  ["dispute.opened", "disputes", "true", "opened_at", "amount_minor"],
  ["dispute.resolved", "disputes", "o.resolved_at is not null", "resolved_at", "amount_minor"],
];

/** SQL: the smallest identity of the millisecond of `moment`, plus `later` milliseconds. Identities begin with their millisecond. */
const millisecond = (moment: string, later: number): string =>
  `rpad(lpad(to_hex(floor(extract(epoch from ${moment}) * 1000)::bigint + ${later}), 12, '0'), 32, '0')::uuid`;

/** SQL: the event `e` has an identity of the millisecond of `moment`, so that few events are read. */
const ofMillisecond = (moment: string): string =>
  `e.event_id >= ${millisecond(moment, 0)} and e.event_id < ${millisecond(moment, 1)}`;

/**
 * Finds the first row of a page that does not have exactly one event of each type that it asks for. What happened before the book's retention
 * watermark is skipped: those events are deleted.
 */
export const eventsMissing = (table: PagedTable) =>
  firstOf(
    `events of ${table}`,
    `select o.id, case
    when t.events <> 1 then format('${table.slice(0, -1)} %s is %s and has %s events %s', o.id, o.status, t.events, o.type)
  end as wrong
from (${told
      .filter(([, of]) => of === table)
      .map(
        ([type, , when, at]) => `
  select o.${keys[table]} as id, o.status::text as status, '${type}' as type, o.${at} as at
  from ${table} o
  where ${inBook("o")} and o.${keys[table]} = any($3::uuid[]) and ${when}`,
      )
      .join(" union all")}
) o
cross join lateral (
  select count(*) as events
  from events e
  where ${inBook("e")} and e.subject_id = o.id and e.type = o.type and ${ofMillisecond("o.at")}
) t
where o.at >= coalesce((select h.forgotten_before from retention_watermarks h where ${inBook("h")}), '-infinity')`,
  );

/** Finds the first event of a page about money that did not move then, or that tells another amount or currency than its row has. */
export const eventsUnfounded = firstOf(
  "rows of events",
  `select e.event_id as id, case
    when o.facts is null then format('event %s is %s of %s %s, which did not happen then', e.event_id, e.type, n.noun, e.subject_id)
    when exists (select from unnest(o.facts) f(fact) where strpos(e.body, f.fact) = 0)
      then format('event %s is %s of %s %s and does not say %s', e.event_id, e.type, n.noun, e.subject_id, array_to_string(o.facts, ' '))
  end as wrong
from events e
cross join lateral (select split_part(e.type, '.', 1)) n(noun)
left join lateral (${told
    .map(
      ([type, table, when, at, ...amounts]) => `
  select array[${[...amounts.map((name) => `format('"${name}":%s,', o.${name})`), `format('"currency":"%s",', o.currency)`].join(", ")}] as facts
  from ${table} o
  where e.type = '${type}' and ${inBook("o")} and o.${keys[table]} = e.subject_id and ${when} and o.${at} = e.created_at`,
    )
    .join(" union all")}
) o on ${ofMillisecond("e.created_at")}
where ${inBook("e")} and e.event_id = any($3::uuid[]) and e.type in (${told.map(([type]) => `'${type}'`).join(", ")})
  and e.subject_id is not null`,
);
