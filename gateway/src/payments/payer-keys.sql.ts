// All SQL of the keys of payers' data: added, read, and sealed again under another master key.
import { type Micros, sqlTime } from "../ground/clock.ts";
import type { Row, Statement } from "../store/database.ts";

export const payerKeyPurposes = ["seal", "contacts"] as const;
export type PayerKeyPurpose = (typeof payerKeyPurposes)[number];

export interface PayerKey {
  keyId: string;
  purpose: PayerKeyPurpose;
  sealed: Buffer;
}

/** Newest first. They are few: one of `contacts`, and one of `seal` for each replacement of the master key. */
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

/** Adds a key. Of `contacts`, and with `first` of any purpose, only where there is none. */
export function insertPayerKey({ keyId, purpose, sealed }: PayerKey, at: Micros, first: boolean): Statement {
  return {
    text: `insert into payer_keys (key_id, purpose, key_sealed, created_at)
select $1::uuid, $2::text, $3::bytea, $4::timestamptz
where not $5::boolean or not exists (select from payer_keys where purpose = $2::text)
on conflict do nothing`,
    values: [keyId, purpose, sealed, sqlTime(at), first],
  };
}
