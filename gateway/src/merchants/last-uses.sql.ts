// The SQL of last uses: when each credential last signed a request, and from which address.
import { type Micros, sqlTime } from "../ground/clock.ts";
import { uuidOf } from "../ground/ids.ts";
import type { Statement } from "../store/database.ts";

export interface UsedCredential {
  merchantId: string;
  clientId: string;
}

/** Writes last uses and keeps the newer of two. Rows are written in the order of credentials, so that two processes cannot deadlock. */
export function recordUses(uses: readonly (UsedCredential & { at: Micros; address: string })[]): Statement {
  return {
    name: "record uses of credentials",
    text: `insert into credential_uses as u (merchant_id, client_id, used_at, address)
select *
from unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::text[]) as v(merchant_id, client_id, used_at, address)
order by v.merchant_id, v.client_id
on conflict (merchant_id, client_id) do update
set used_at = excluded.used_at, address = excluded.address
where u.used_at < excluded.used_at`,
    values: [
      uses.map(({ merchantId }) => uuidOf(merchantId)),
      uses.map(({ clientId }) => clientId),
      uses.map(({ at }) => sqlTime(at)),
      uses.map(({ address }) => address),
    ],
  };
}
