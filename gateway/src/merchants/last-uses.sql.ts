// The SQL of last uses: when each credential last signed a request, and from which address.
import type { Micros } from "../ground/clock.ts";
import { uuidOf } from "../ground/ids.ts";
import { bulkInsert } from "../store/table.ts";

export interface UsedCredential {
  merchantId: string;
  clientId: string;
}

/** Writes last uses and keeps the newer of two. Rows are written in the order of credentials, so that two processes cannot deadlock. */
export const recordUses = bulkInsert<UsedCredential & { at: Micros; address: string }>(
  "credential_uses",
  {
    merchant_id: ["uuid", ({ merchantId }) => uuidOf(merchantId)],
    client_id: ["text", ({ clientId }) => clientId],
    used_at: ["timestamptz", ({ at }) => at],
    address: ["text", ({ address }) => address],
  },
  `order by v.merchant_id, v.client_id
on conflict (merchant_id, client_id) do update
set used_at = excluded.used_at, address = excluded.address
where credential_uses.used_at < excluded.used_at`,
);
