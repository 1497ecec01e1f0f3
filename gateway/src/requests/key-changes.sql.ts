// The statements that read what a key changed. The audit's rows are written by idempotency/.
import { uuidOf, uuidOrNull } from "../ground/ids.ts";
import type { Statement } from "../store/database.ts";

/** A key by its merchant and its client_id. */
export interface KeyName {
  merchantId: string;
  clientId: string;
}

/** Changes of a key, newest first, starting after the request `after`. */
export function selectKeyChanges(key: KeyName, after: string | undefined, count: number): Statement {
  return {
    name: "select changes of a key",
    text: `select request_id, at, action, subject, status, address
from client_audit
where merchant_id = $1::uuid and client_id = $2::text and ($3::uuid is null or request_id < $3::uuid)
order by request_id desc
limit $4::integer`,
    values: [uuidOf(key.merchantId), key.clientId, uuidOrNull(after), count],
  };
}

/** One row when the request is among the key's changes. */
export function selectKeyChange({ merchantId, clientId }: KeyName, requestId: string): Statement {
  return {
    text: "select from client_audit where merchant_id = $1::uuid and client_id = $2::text and request_id = $3::uuid",
    values: [uuidOf(merchantId), clientId, uuidOf(requestId)],
  };
}
