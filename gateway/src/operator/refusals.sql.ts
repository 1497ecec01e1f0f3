// All SQL of rejected calls. A row counts the calls of one reason, token and address. Rows are deleted after a month, which a trigger enforces.
import { type Micros, sqlTime } from "../ground/clock.ts";
import { idOf, uuidOf, uuidOrNull } from "../ground/ids.ts";
import { type Row, type Statement, optional } from "../store/database.ts";
import { STEP } from "../store/retention.ts";
import { bulkInsert } from "../store/table.ts";

/** In this order: no token, an unknown token, an ended token, and a role that is too low. */
export const refusalReasons = ["missing", "wrong", "ended", "role"] as const;
export type RefusalReason = (typeof refusalReasons)[number];

export interface Refusal {
  refusalId: string;
  firstAt: Micros;
  lastAt: Micros;
  reason: RefusalReason;
  /** The name of the operator, if it is known. */
  actor: string | undefined;
  /** Undefined for callers beyond TOLD_APART_MAX, which are counted together. */
  address: string | undefined;
  count: number;
}

export const insertRefusals = bulkInsert<Refusal>("operator_refusals", {
  refusal_id: ["uuid", ({ refusalId }) => uuidOf(refusalId)],
  first_at: ["timestamptz", ({ firstAt }) => firstAt],
  last_at: ["timestamptz", ({ lastAt }) => lastAt],
  reason: ["text", ({ reason }) => reason],
  actor: ["text", ({ actor }) => actor],
  address: ["text", ({ address }) => address],
  count: ["integer", ({ count }) => count],
});

/** At most `count` rejections before `after`, newest first. */
export function selectRefusals(after: string | undefined, count: number): Statement {
  return {
    text: `select refusal_id, first_at, last_at, reason, actor, address, count from operator_refusals
where $1::uuid is null or refusal_id < $1::uuid
order by refusal_id desc
limit $2::integer`,
    values: [uuidOrNull(after), count],
  };
}

export function selectRefusal(refusalId: string): Statement {
  return { text: "select from operator_refusals where refusal_id = $1::uuid", values: [uuidOf(refusalId)] };
}

/** Deletes the oldest rejections, in the order of their identities, which is the order of time. A trigger enforces the same month by the database's clock. */
export function expiredRefusals(realNow: Micros): Statement {
  return {
    text: `delete from operator_refusals
where refusal_id in (
  select refusal_id from (select refusal_id, last_at from operator_refusals order by refusal_id limit ${STEP}) as oldest
  where last_at <= least($1::timestamptz, now()) - interval '30 days'
)
returning refusal_id`,
    values: [sqlTime(realNow)],
  };
}

export function refusalOfRow(row: Row): Refusal {
  return {
    refusalId: idOf("refusal", row.refusal_id as string),
    firstAt: row.first_at as Micros,
    lastAt: row.last_at as Micros,
    reason: row.reason as RefusalReason,
    actor: optional<string>(row.actor),
    address: optional<string>(row.address),
    count: row.count as number,
  };
}
