// Every secret a merchant has or had, opened for a moment: to find out what something was signed with. Never on the hot path.
import type { Vault } from "../ground/crypto.ts";
import type { Database } from "../store/database.ts";
import type { Environment } from "./books.ts";
import { credentialOwner, webhookOwner } from "./directory.ts";
import { type SecretsRow, selectSecrets } from "./merchants.sql.ts";

export interface MerchantSecrets {
  /** The newest credentials, live and revoked, of both environments. */
  credentials: { clientId: string; environment: Environment; secret: string; revoked: boolean }[];
  /** The signing secret of each book's webhooks, and the one before its last rotation while that is kept. */
  webhooks: { environment: Environment; secret: string; previous: string | undefined }[];
}

/** Reads and opens them. The caller keeps them no longer than it needs. */
export async function readMerchantSecrets(
  database: Database,
  vault: Vault,
  merchantId: string,
): Promise<MerchantSecrets> {
  const rows = await database.query<SecretsRow>(selectSecrets(merchantId));
  const found: MerchantSecrets = { credentials: [], webhooks: [] };
  for (const { environment, client_id: clientId, secret_sealed: sealed, previous_sealed: before, revoked } of rows) {
    if (clientId === null) {
      const owner = webhookOwner({ merchantId, environment });
      const previous = before === null ? undefined : vault.open(before, owner);
      found.webhooks.push({ environment, secret: vault.open(sealed, owner), previous });
    } else {
      found.credentials.push({ clientId, environment, secret: vault.open(sealed, credentialOwner(clientId)), revoked });
    }
  }
  return found;
}
