// All SQL of admission: the nonces of reads are consumed, and requests counted, in one statement for all that wait.
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

/** Either the digest of a nonce that was not there before, or a client's new count. */
export type AdmissionRow =
  | { digest: string; client_id: null; requests: null }
  | { digest: null; client_id: string; requests: bigint };

const requestColumns: Columns<Requests> = {
  merchant_id: ["uuid", ({ merchantId }) => uuidOf(merchantId)],
  client_id: ["text", ({ clientId }) => clientId],
  window_start: ["bigint", ({ windowStart }) => windowStart],
  requests: ["bigint", ({ requests }) => requests],
};

const counting = `insert into rate_windows as r (merchant_id, client_id, window_start, requests)
select merchant_id, client_id, window_start, requests
from (
${rowsOf(requestColumns)}
) v
on conflict (merchant_id, client_id, window_start) do update
set requests = r.requests + excluded.requests
returning client_id, requests`;

const shift = (text: string, by: number): string =>
  text.replaceAll(/\$(\d+)/g, (_, number: string) => `$${Number(number) + by}`);

/**
 * Consumes the nonces of reads, counts requests. Both tables are unlogged, so nothing waits for the disk; a crash of PostgreSQL forgets
 * them. Nonces and clients come in one order, so that two processes never wait for each other in a circle.
 */
export function admit(nonces: readonly Nonce[], requests: readonly Requests[]): Statement {
  return {
    name: "admit",
    text: `with counted as (
${counting}
), fresh as (
  insert into used_read_nonces (${Object.keys(nonceColumns).join(", ")})
${shift(rowsOf(nonceColumns), Object.keys(requestColumns).length)}
  on conflict do nothing
  returning digest
)
select replace(digest::text, '-', '') as digest, null as client_id, null as requests from fresh
union all
select null, client_id, requests from counted`,
    values: [...arraysOf(requestColumns, requests), ...arraysOf(nonceColumns, nonces)],
  };
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
