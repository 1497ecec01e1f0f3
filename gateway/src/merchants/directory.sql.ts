// SQL of the directory: loads a whole merchant, lists changed merchants, and finds the merchants of credentials.
import { uuidOf } from "../ground/ids.ts";
import type { Statement } from "../store/database.ts";
import type { MerchantRow } from "./merchants.sql.ts";

export interface LoadedRow extends MerchantRow {
  epoch: bigint;
  credentials: string | null;
  webhooks: string | null;
}

/** Reads a `LoadedRow`. One statement is one snapshot, so the epoch belongs to the other data of the row. */
export function loadMerchant(merchantId: string): Statement {
  return {
    name: "load merchant",
    text: `select m.merchant_id, m.name, m.suspended, m.rate_limit_per_minute, m.settings, m.epoch,
  (select json_agg(json_build_object('client_id', c.client_id, 'environment', c.environment, 'scopes', c.scopes,
      'signature', c.signature, 'expires', extract(epoch from c.expires_at), 'from', c.allowed_addresses::text[],
      'secret', encode(c.secret_sealed, 'hex')))
    from credentials c where c.merchant_id = m.merchant_id and c.revoked_at is null) as credentials,
  (select json_agg(json_build_object('environment', w.environment, 'url', w.url, 'secret', encode(w.secret_sealed, 'hex'),
      'previous', encode(w.previous_sealed, 'hex'), 'until', extract(epoch from w.previous_until)))
    from webhook_endpoints w where w.merchant_id = m.merchant_id) as webhooks
from merchants m
where m.merchant_id = $1::uuid`,
    values: [uuidOf(merchantId)],
  };
}

/** Reads the merchants that changed after an epoch. */
export function selectChanged(since: bigint): Statement {
  return {
    name: "changed merchants",
    text: "select merchant_id, epoch from merchants where epoch > $1::bigint",
    values: [since],
  };
}

/** Reads the merchants of those of these credentials that are not revoked. */
export function selectOwners(clientIds: readonly string[]): Statement {
  return {
    name: "merchants of clients",
    text: `select v.place::integer, c.merchant_id
from unnest($1::text[]) with ordinality as v(client_id, place)
join credentials c on c.client_id = v.client_id
where c.revoked_at is null`,
    values: [clientIds],
  };
}
