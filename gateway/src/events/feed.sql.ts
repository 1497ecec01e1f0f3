// The SQL of the feed: committed events in the order of their transactions, without gaps. Reads only.
import { type Book, bookArrays } from "../merchants/books.ts";
import { GENUINE, type Position } from "../store/commit-order.ts";
import type { Row, Statement } from "../store/database.ts";

export interface FedRow extends Row {
  merchant_id: string;
  environment: string;
  type: string;
  /** Number of events of this type between the two positions. */
  events: number;
  /** Objects of these events, at most `idsMax`, the newest first. */
  subject_ids: string[];
}

/** Counts the events of some books between two positions, by book and type, and names at most `idsMax` objects of each. */
export function selectFed(books: readonly Book[], from: Position, to: Position, idsMax: number): Statement {
  return {
    name: "events of the feed by type",
    text: `select e.merchant_id, e.environment, e.type, count(*)::integer as events,
  coalesce((array_agg(e.subject_id order by e.event_id desc) filter (where e.subject_id is not null))[1:$5::integer], '{}') as subject_ids
from events e
where e.xact >= $3::xid8 and e.xact < $4::xid8 and ${GENUINE}
  and (e.merchant_id, e.environment) in (select * from unnest($1::uuid[], $2::text[]::environment[]))
group by e.merchant_id, e.environment, e.type
order by e.merchant_id, e.environment, e.type`,
    values: [...bookArrays(books), from, to, idsMax],
  };
}
