// All SQL of admission: signatures that were used, and requests counted.
import { uuidOf } from "../ground/ids.ts";
import { binaryArray } from "../store/arrays.ts";
import type { Statement } from "../store/database.ts";
import { STEP } from "../store/retention.ts";
import { type Table, arraysOf, bulkInsert } from "../store/table.ts";
import { type Use, keyOf } from "./used-signatures.ts";

/** Requests of one client in one window. */
export interface Requests {
  merchantId: string;
  clientId: string;
  requests: number;
}

/** Either the place of a signature that was there before, or a client's new count. */
export type AdmissionRow =
  | { burnt: number; client_id: null; requests: null }
  | { burnt: null; client_id: string; requests: bigint };

const useColumns = {
  merchant_id: ["uuid", (use: Use) => uuidOf(use.merchantId)],
  valid_until: ["bigint", (use: Use) => use.validUntil],
  digest: ["uuid", (use: Use) => use.digest],
} as const;

/** The constraint that refuses a second use. */
export const USED_ONCE = "seen_signatures_pkey";

/** Written with the effect of the command that it allowed: both are there, or neither. */
export const usedSignatures: Table<Use, Use> = {
  name: "used signatures",
  rank: 12.2,
  joins: true,
  keyText: keyOf,
  keyOf: (use) => use,
  insert: bulkInsert<Use>("seen_signatures", useColumns),
};

/**
 * Writes signatures, in one order, and counts in one statement; gives which signatures (from 1) were there before, and the new counts. It
 * commits without waiting for the disk: a command that follows waits for its own commit, which carries this one with it, so
 * whatever had an effect is remembered after a crash. Rows go in one order, so that two processes never wait for each other.
 */
export function admitStatement(uses: readonly Use[], requests: readonly Requests[], start: number): Statement {
  const counts = requests.toSorted((a, b) => (a.clientId < b.clientId ? -1 : 1));
  return {
    name: "admit",
    text: `with lazily as (
  select set_config('synchronous_commit', 'off', true) as setting
), seen as (
  insert into seen_signatures (merchant_id, valid_until, digest)
  select merchant_id, valid_until, digest
  from unnest($1::uuid[], $2::bigint[], $3::uuid[]) as v(merchant_id, valid_until, digest)
  on conflict do nothing
  returning merchant_id, valid_until, digest
), counted as (
  insert into rate_windows as r (merchant_id, client_id, window_start, requests)
  select merchant_id, client_id, $6::bigint, requests
  from unnest($4::uuid[], $5::text[], $7::bigint[]) as v(merchant_id, client_id, requests)
  on conflict (merchant_id, client_id, window_start) do update
  set requests = r.requests + excluded.requests
  returning client_id, requests
)
select v.place::integer as burnt, null as client_id, null as requests
from unnest($1::uuid[], $2::bigint[], $3::uuid[]) with ordinality as v(merchant_id, valid_until, digest, place)
where not exists (
  select
  from seen s
  where s.merchant_id = v.merchant_id and s.valid_until = v.valid_until and s.digest = v.digest
)
union all
select null, client_id, requests from counted, lazily`,
    values: [
      ...arraysOf(useColumns, uses),
      binaryArray(
        "uuid",
        counts.map(({ merchantId }) => uuidOf(merchantId)),
      ),
      binaryArray(
        "text",
        counts.map(({ clientId }) => clientId),
      ),
      start,
      binaryArray(
        "bigint",
        counts.map(({ requests }) => requests),
      ),
    ],
  };
}

/** Whether any signature that is still good is written down. */
export function anyUsed(unixSeconds: number): Statement {
  return {
    text: "select exists (select from seen_signatures where valid_until >= $1::bigint) as found",
    values: [unixSeconds],
  };
}

/** What was counted in one window. */
export function countedIn(start: number): Statement {
  return { text: "select client_id, requests from rate_windows where window_start = $1::bigint", values: [start] };
}

/** Signatures that nobody can use again: their timestamp has left the window. */
export function expiredSignatures(unixSeconds: number): Statement {
  return {
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
    values: [unixSeconds - 5],
  };
}

/** Windows that ended ten minutes ago. */
export function expiredRateWindows(unixSeconds: number): Statement {
  return {
    name: "forget rate windows",
    text: `delete from rate_windows
where (merchant_id, client_id, window_start) in (
  select merchant_id, client_id, window_start from rate_windows where window_start < $1::bigint limit ${STEP}
)
returning 1`,
    values: [unixSeconds - 600],
  };
}
