// Opens the secrets that a merchant has or had, to find out which one a signature was made with. Requests in normal operation never use it.
import { createHmac } from "node:crypto";
import type { Vault } from "../ground/crypto.ts";
import type { Database } from "../store/database.ts";
import type { Environment } from "./books.ts";
import { credentialOwner, webhookOwner } from "./directory.ts";
import { type SecretsRow, selectSecrets } from "./merchants.sql.ts";

interface Secrets {
  /** The newest credentials of both environments, including revoked ones. `gerbang listen` signs by `listener`, which it derives from `secret`. */
  credentials: { clientId: string; secret: string; listener: string; revoked: boolean }[];
  /** The signing secret of each book's webhooks, then the previous one while it is kept. */
  webhooks: { environment: Environment; secrets: string[] }[];
}

/** Reads and opens a merchant's secrets. Callers must not keep them longer than needed. */
export async function readMerchantSecrets(database: Database, vault: Vault, merchantId: string): Promise<Secrets> {
  const rows = await database.query<SecretsRow>(selectSecrets(merchantId));
  const found: Secrets = { credentials: [], webhooks: [] };
  for (const { environment, client_id: clientId, secret_sealed: sealed, previous_sealed: before, revoked } of rows) {
    if (clientId === null) {
      const owner = webhookOwner({ merchantId, environment });
      const secrets = [sealed, ...(before === null ? [] : [before])].map((one) => vault.open(one, owner));
      found.webhooks.push({ environment, secrets });
    } else {
      const secret = vault.open(sealed, credentialOwner(clientId));
      const listener = `whsec_${createHmac("sha256", secret).update("gerbang listen").digest("base64")}`;
      found.credentials.push({ clientId, secret, listener, revoked });
    }
  }
  return found;
}
