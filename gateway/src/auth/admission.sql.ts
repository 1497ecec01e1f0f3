// All SQL of admission: one statement consumes the read nonces of a batch, and one counts its requests.
import { uuidOf } from "../ground/ids.ts";
import type { Statement } from "../store/database.ts";
import { STEP } from "../store/retention.ts";
import { type Columns, arraysOf, rowsOf } from "../store/table.ts";
import { type Nonce, nonceColumns } from "./nonces.sql.ts";

/** Number of requests of one client of a merchant in one window; negative when requests are taken back. A person is a client of several merchants. */
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
returning merchant_id, client_id, window_start, requests`;

/**
 * Adds requests to their clients' counts, and gives the new counts. The table is unlogged, so no commit waits for the disk, and a crash of
 * PostgreSQL empties it. The rows must be sorted by client, so that two processes never deadlock.
 */
export function countRequests(requests: readonly Requests[]): Statement {
  return { name: "count requests", text: counting, values: arraysOf(requestColumns, requests) };
}

const consumption = `insert into used_read_nonces (${Object.keys(nonceColumns).join(", ")})
${rowsOf(nonceColumns)}
on conflict do nothing
returning valid_until, digest`;

/** Consumes read nonces, and gives those that were new. Their table is unlogged too, and the nonces must be sorted. */
export function consumeReadNonces(nonces: readonly Nonce[]): Statement {
  return { name: "consume read nonces", text: consumption, values: arraysOf(nonceColumns, nonces) };
}

/** Deletes windows that began more than ten minutes ago. */
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
