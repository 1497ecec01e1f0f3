// All SQL of the stream: the position up to which events are sent, and the check whether a reconnecting listener has missed too many.
import { WATERMARK, ORIGIN, type Position } from "../store/commit-order.ts";
import type { Row, Statement } from "../store/database.ts";

/** The stream waits for the roll-up only if the roll-up has moved within this time. */
const COUNTED_WITHIN_SECONDS = 15;

export interface FedToRow extends Row {
  fed_to: Position;
  watermark: Position;
}

/** The position up to which the stream sends events: not beyond the roll-up, so that a page which then reloads its figures finds the event counted. */
export const selectFedTo: Statement = {
  name: "fed to",
  text: `select coalesce((
  select r.counted_to
  from roll_ups r
  where r.name = 'payment_quarters' and r.origin = ${ORIGIN} and r.counted_to <= h.watermark
    and r.counted_at > statement_timestamp() - interval '${COUNTED_WITHIN_SECONDS} seconds'
), h.watermark)::text as fed_to, h.watermark::text
from (select ${WATERMARK} as watermark) h`,
};

/** Whether more than `than` events of all books lie between two positions. Reads at most one event more than that. */
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
