// All SQL of admission: the nonces of reads are consumed, and requests counted, one statement each for all that wait.
import { uuidOf } from "../ground/ids.ts";
import type { Statement } from "../store/database.ts";
import { STEP } from "../store/retention.ts";
import { type Columns, arraysOf, rowsOf } from "../store/table.ts";
import { type Nonce, nonceColumns } from "./nonces.sql.ts";

/** Requests of one client in one window; fewer than none where some are taken back. */
export interface Requests {
  merchantId: string;
  clientId: string;
  windowStart: number;
  requests: number;
}

const requestColumns: Columns<Requests> = {
  merchant_id: ["uuid", ({ merchantId }) => uuidOf(merchantId)],
  client_id: ["text", ({ clientId }) => clientId],
  window_start: ["bigint", ({ windowStart }) => windowStart],
  requests: ["bigint", ({ requests }) => requests],
};

const counting = `insert into rate_windows as r (${Object.keys(requestColumns).join(", ")})
${rowsOf(requestColumns)}
on conflict (merchant_id, client_id, window_start) do update
set requests = r.requests + excluded.requests
returning client_id, requests`;

/**
 * Adds requests to their clients' counts; gives the new ones. The table is unlogged, so nothing waits for the disk; a crash of PostgreSQL
 * forgets it. Clients come in one order, so that two processes never wait for each other in a circle.
 */
export function countRequests(requests: readonly Requests[]): Statement {
  return { name: "count requests", text: counting, values: arraysOf(requestColumns, requests) };
}

const consumption = `insert into used_read_nonces (${Object.keys(nonceColumns).join(", ")})
${rowsOf(nonceColumns)}
on conflict do nothing
returning valid_until, digest`;

/** Consumes the nonces of reads; gives those that were not there before. Unlogged and in one order, as counts are. */
export function consumeReadNonces(nonces: readonly Nonce[]): Statement {
  return { name: "consume read nonces", text: consumption, values: arraysOf(nonceColumns, nonces) };
}

/** Windows that ended ten minutes ago. */
export function expiredRateWindows(unixSeconds: number): Statement {
  return {
    name: "delete rate windows",
    text: `delete from rate_windows
where (merchant_id, client_id, window_start) in (
  select merchant_id, client_id, window_start from rate_windows where window_start < $1::bigint limit ${STEP}
)
returning 1`,
    values: [unixSeconds - 600],
  };
}
