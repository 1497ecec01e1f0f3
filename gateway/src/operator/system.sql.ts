// All SQL of the system page: facts about the database, and the lengths of queues up to a bound.
import { type Micros, sqlTime } from "../ground/clock.ts";
import type { DeliveryState } from "../events/events.sql.ts";
import { booksWith } from "../merchants/books-with.sql.ts";
import type { Row, Statement } from "../store/database.ts";

/** Queue lengths are counted up to this number. */
export const QUEUE_MAX = 1_000;

export interface DatabaseRow extends Row {
  version: string;
  database_at: Micros;
  size_bytes: bigint;
  started_at: Micros;
  connections: number;
  connections_max: number;
  is_replica: boolean;
  schema_version: number;
  schema_name: string;
  migrated_at: Micros;
}

export const selectDatabase: Statement = {
  name: "database facts",
  text: `select current_setting('server_version') as version, clock_timestamp() as database_at, pg_database_size(current_database()) as size_bytes,
  pg_postmaster_start_time() as started_at, (
    select count(*)::integer
    from pg_stat_activity
    where datname = current_database()
  ) as connections, current_setting('max_connections')::integer as connections_max, pg_is_in_recovery() as is_replica,
  m.version as schema_version, m.name as schema_name, m.applied_at as migrated_at
from schema_migrations m
order by m.version desc
limit 1`,
};

export interface ReplicaRow extends Row {
  /** Null where the service's database role may not see it. */
  name: string | null;
  state: string | null;
  lag_seconds: number | null;
}

/** Replicas of this database server, as far as the service's database role may see them. */
export const selectReplicas: Statement = {
  name: "replicas",
  text: `select nullif(application_name, '') as name, state, extract(epoch from replay_lag)::float8 as lag_seconds
from pg_stat_replication
order by 1
limit 20`,
};

export interface QueueRow extends Row {
  what: "deliveries_due" | "deliveries_undelivered" | "acquirer_operations";
  count: number;
}

/** Deliveries and acquirer operations that are due or under way, over all books. */
export function selectQueues(realNow: Micros): Statement {
  const counted = (select: string): string => `select count(*)::integer from (${select} limit ${QUEUE_MAX + 1}) q`;
  const ofBooks = (state: DeliveryState, further = ""): string =>
    counted(`select from ${booksWith("deliveries", `t.state = '${state}'`)}
    cross join lateral (
      select
      from deliveries d
      where d.merchant_id = b.merchant_id and d.environment = b.environment and d.state = '${state}'${further}
      limit ${QUEUE_MAX + 1}
    ) d`);
  const due = " and d.next_attempt_at <= $1::timestamptz + make_interval(secs => b.clock_offset_seconds)";
  return {
    name: "queues",
    text: `select *
from (values
  ('deliveries_due', (${ofBooks("pending", due)})),
  ('deliveries_undelivered', (${ofBooks("undelivered")})),
  ('acquirer_operations', (${counted("select from acquirer_operations o where o.due_at is not null")}))
) q (what, count)`,
    values: [sqlTime(realNow)],
  };
}
