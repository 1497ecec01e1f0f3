// This room's columns of secrets that the master key seals, with the owner of each: the keys of payers' data. Payers' data themselves are
// sealed with those keys, not with the master key.
import type { SealedColumn } from "../store/seals.sql.ts";
import { payerKeyOwner } from "./payer-data.ts";

export const paymentSeals: readonly SealedColumn[] = [
  {
    table: "payer_keys",
    key: { key_id: "uuid" },
    column: "key_sealed",
    ownerOf: (row) => payerKeyOwner(row.key_id as string),
  },
];
