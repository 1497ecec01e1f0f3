// All SQL of the stream: how far events are told, and whether a listener that comes back has missed too much.
import { HORIZON, ORIGIN, type Position } from "../store/commit-order.ts";
import type { Statement } from "../store/database.ts";

/** A roll-up that was not moved for so long does not hold the stream back. */
const COUNTED_WITHIN_SECONDS = 15;

/** Up to where events are told: what is told is counted as well, so that a page which asks again sees it in its figures. */
export function selectToldTo(): Statement {
  return {
    name: "told to",
    text: `select coalesce((
  select r.counted_to
  from roll_ups r
  where r.name = 'payment_hours' and r.origin = ${ORIGIN} and r.counted_to <= h.horizon
    and r.counted_at > statement_timestamp() - interval '${COUNTED_WITHIN_SECONDS} seconds'
), h.horizon)::text as told_to
from (select ${HORIZON} as horizon) h`,
  };
}

/** Whether more than so many events of all books lie between two positions. Reads no more of them than that. */
export function selectIsMore(from: Position, to: Position, than: number): Statement {
  return {
    name: "missed events",
    text: `select exists (
  select from events e
  where e.xact >= $1::xid8 and e.xact < $2::xid8
  offset $3::integer
) as more`,
    values: [from, to, than],
  };
}
