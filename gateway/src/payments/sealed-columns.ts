// Which of this room's columns hold sealed secrets, and whose each one is. What payers are called is sealed with these keys, not with the
// master key.
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
