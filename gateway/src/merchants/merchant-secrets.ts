// Opens the secrets that a merchant has or had, to find out which one a signature was made with. Requests in normal operation never use it.
import type { Vault } from "../ground/crypto.ts";
import type { Database } from "../store/database.ts";
import type { Environment } from "./books.ts";
import { credentialOwner, webhookOwner } from "./directory.ts";
import { type SecretsRow, selectSecrets } from "./merchants.sql.ts";

interface MerchantSecrets {
  /** The newest credentials of both environments, including revoked ones. */
  credentials: { clientId: string; environment: Environment; secret: string; revoked: boolean }[];
  /** The signing secret of each book's webhooks, and the previous one while it is kept. */
  webhooks: { environment: Environment; secret: string; previous: string | undefined }[];
}

/** Reads and opens a merchant's secrets. Callers must not keep them longer than needed. */
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
