// All SQL of admission: one statement consumes the read nonces of a batch, and one counts its requests.
import { uuidOf } from "../ground/ids.ts";
import type { Statement } from "../store/database.ts";
import { STEP } from "../store/retention.ts";
import { bulkInsert } from "../store/table.ts";
import { type Nonce, nonceColumns } from "./nonces.sql.ts";

/** Number of requests of one client of a merchant in one window; negative when requests are taken back. A person is a client of several merchants. */
export interface Requests {
  merchantId: string;
  clientId: string;
  windowStart: number;
  requests: number;
}

/**
 * Adds requests to their clients' counts, and gives the new counts. The table is unlogged, so no commit waits for the disk, and a crash of
 * PostgreSQL empties it. The rows must be sorted by client, so that two processes never deadlock.
 */
export const countRequests = bulkInsert<Requests>(
  "rate_windows",
  {
    merchant_id: ["uuid", ({ merchantId }) => uuidOf(merchantId)],
    client_id: ["text", ({ clientId }) => clientId],
    window_start: ["bigint", ({ windowStart }) => windowStart],
    requests: ["bigint", ({ requests }) => requests],
  },
  `on conflict (merchant_id, client_id, window_start) do update
set requests = rate_windows.requests + excluded.requests
returning merchant_id, client_id, window_start, requests`,
);

/** Consumes read nonces, and gives those that were new. Their table is unlogged too, and the nonces must be sorted. */
export const consumeReadNonces = bulkInsert<Nonce>(
  "used_read_nonces",
  nonceColumns,
  "on conflict do nothing\nreturning valid_until, digest",
);

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
