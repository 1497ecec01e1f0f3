// What the edge may forget: used-up signatures, old rate windows, idempotency keys after 72 hours,
// and what was wrong with refused requests after a day. In small steps.
import { type Micros, SECOND, sqlTime } from "../ground/clock.ts";
import { newId, uuidOf } from "../ground/ids.ts";
import { Pace, inTurns } from "../ground/pace.ts";
import type { Database, Statement } from "../store/database.ts";

const STEP = 500;
const DAY: Micros = 86_400 * SECOND;

function steps(realNow: Micros): Statement[] {
  const seconds = Math.floor(realNow / SECOND);
  return [
    {
      name: "forget signatures",
      text: `delete from seen_signatures
where (merchant_id, valid_until, digest) in (
  select s.merchant_id, s.valid_until, s.digest
  from merchants m
  cross join lateral (
    select s.merchant_id, s.valid_until, s.digest
    from seen_signatures s
    where s.merchant_id = m.merchant_id and s.valid_until < $1::bigint
    order by s.valid_until
    limit ${STEP}
  ) s
  limit ${STEP}
)
returning 1`,
      values: [seconds - 5],
    },
    {
      name: "forget rate windows",
      text: `delete from rate_windows
where (merchant_id, client_id, window_start) in (
  select merchant_id, client_id, window_start from rate_windows where window_start < $1::bigint limit ${STEP}
)
returning 1`,
      values: [seconds - 600],
    },
    {
      name: "forget idempotency keys",
      text: `delete from idempotency_keys
where (merchant_id, environment, idempotency_key) in (
  select k.merchant_id, k.environment, k.idempotency_key
  from idempotency_keys k
  join books b using (merchant_id, environment)
  where k.first_seen_at <= $1::timestamptz + make_interval(secs => b.clock_offset_seconds) - interval '72 hours'
    -- no clock runs ahead by more than this: what the index can leave out at once
    and k.first_seen_at <= $1::timestamptz - interval '72 hours' + make_interval(secs => (select max(clock_offset_seconds) from books))
limit ${STEP}
  for update of k skip locked -- one that is just being renewed stays
)
returning 1`,
      values: [sqlTime(realNow)],
    },
    {
      name: "forget refused requests",
      text: `delete from refused_requests
where (merchant_id, request_id) in (
  select r.merchant_id, r.request_id
  from merchants m
  cross join lateral (
    select r.merchant_id, r.request_id
    from refused_requests r
    where r.merchant_id = m.merchant_id and r.request_id < $1::uuid -- identities are in the order of time
    order by r.request_id
    limit ${STEP}
  ) r
  limit ${STEP}
)
returning 1`,
      values: [uuidOf(newId("request", realNow - DAY))],
    },
  ];
}

/** Deletes what is over, a little of each kind in turn, so that nobody waits for it. Gives how many rows went. */
export async function forgetOld(database: Database, realNow: Micros, pace: Pace = new Pace()): Promise<number> {
  let forgotten = 0;
  await inTurns(
    pace,
    steps(realNow).map((statement) => async () => {
      const { length } = await database.query(statement);
      forgotten += length;
      return length >= STEP;
    }),
  );
  return forgotten;
}
