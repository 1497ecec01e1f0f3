// Columns of this room that hold sealed secrets, with the owner that each secret is sealed for.
import { idOf } from "../ground/ids.ts";
import type { SealedColumn } from "../store/seals.sql.ts";
import { totpOwner } from "./second-factors.ts";

export const peopleSeals: readonly SealedColumn[] = [
  {
    table: "persons",
    key: { person_id: "uuid" },
    column: "totp_sealed",
    ownerOf: (row) => totpOwner(idOf("person", row.person_id as string)),
  },
];
