// SQL that reads and adds the keys of payers' data. Sealing them under another master key is in store/seals.sql.ts.
import { type Micros, sqlTime } from "../ground/clock.ts";
import type { Row, Statement } from "../store/database.ts";

export const payerKeyPurposes = ["seal", "contacts"] as const;
export type PayerKeyPurpose = (typeof payerKeyPurposes)[number];

export interface PayerKey {
  keyId: string;
  purpose: PayerKeyPurpose;
  sealed: Buffer;
}

/** Reads all keys, newest first. They are few: one `contacts` key, and a `seal` key for the start and each replacement of the master key. */
export const selectPayerKeys: Statement = {
  name: "select payer keys",
  text: `select key_id, purpose, key_sealed
from payer_keys
order by created_at desc, key_id desc`,
  values: [],
};

export function payerKeyOfRow(row: Row): PayerKey {
  return {
    keyId: row.key_id as string,
    purpose: row.purpose as PayerKeyPurpose,
    sealed: row.key_sealed as Buffer,
  };
}

/** Adds a key. A `contacts` key, and with `first` a key of any purpose, is added only when there is none of its purpose. */
export function insertPayerKey({ keyId, purpose, sealed }: PayerKey, at: Micros, first: boolean): Statement {
  return {
    text: `insert into payer_keys (key_id, purpose, key_sealed, created_at)
select $1::uuid, $2::text, $3::bytea, $4::timestamptz
where not $5::boolean or not exists (select from payer_keys where purpose = $2::text)
on conflict do nothing`,
    values: [keyId, purpose, sealed, sqlTime(at), first],
  };
}
