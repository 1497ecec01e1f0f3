// This room's columns of sealed secrets, with the owner of each secret.
import type { Row } from "../store/database.ts";
import type { SealedColumn } from "../store/seals.sql.ts";
import { bookOfRow } from "./books.ts";
import { credentialOwner, webhookOwner } from "./directory.ts";

const ofWebhook = (row: Row): string => webhookOwner(bookOfRow(row));
const webhookKey = { merchant_id: "uuid", environment: "environment" } as const;

export const merchantSeals: readonly SealedColumn[] = [
  {
    table: "credentials",
    key: { merchant_id: "uuid", client_id: "text" },
    column: "secret_sealed",
    ownerOf: (row) => credentialOwner(row.client_id as string),
  },
  { table: "webhook_endpoints", key: webhookKey, column: "secret_sealed", ownerOf: ofWebhook },
  { table: "webhook_endpoints", key: webhookKey, column: "previous_sealed", ownerOf: ofWebhook },
];
