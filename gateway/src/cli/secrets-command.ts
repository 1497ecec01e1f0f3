// The command `gerbang secrets`: counts the secrets that each master key has sealed, and seals them again when that key is replaced.
import { systemClock } from "../ground/clock.ts";
import { readConfig } from "../ground/config.ts";
import { Vault } from "../ground/crypto.ts";
import { PayerData } from "../payments/payer-data.ts";
import { checkMasterKey, sealedColumns } from "../sealed-columns.ts";
import type { Database } from "../store/database.ts";
import { countSeals, sealAgain } from "../store/seals.ts";
import { readSecrets } from "./secrets.ts";
import { printJson, say } from "./say.ts";
import { withDatabase } from "./store-of-config.ts";

/** Returns the exit code: 0 when nothing is left to seal again, else 1. */
export const statusCommand = (): Promise<number> => withVault(status);

/** Returns the exit code. Throws `ConfigError` when neither key opens a secret. */
export const resealCommand = (): Promise<number> => withVault(reseal);

function withVault(work: (database: Database, vault: Vault) => Promise<number>): Promise<number> {
  const config = readConfig();
  const withKeys = (database: Database): Promise<number> => {
    const { masterKey, secondMasterKey } = readSecrets(config, "existing");
    return work(database, new Vault(masterKey, secondMasterKey));
  };
  return withDatabase(config, withKeys, { queryTimeoutMs: 600_000 });
}

async function status(database: Database, vault: Vault): Promise<number> {
  const counts = await countSeals(database, vault, sealedColumns);
  for (const count of counts) printJson(count);
  const [first, second] = vault.ids;
  say(`MASTER_KEY is key ${first}${second === undefined ? "" : `, MASTER_KEY_SECOND is key ${second}`}.`);
  const left = counts.reduce((sum, { other, unknown }) => sum + other + unknown, 0);
  say(left === 0 ? "MASTER_KEY has sealed everything." : `${left} secrets are sealed with another key: reseal them.`);
  return left === 0 ? 0 : 1;
}

async function reseal(database: Database, vault: Vault): Promise<number> {
  await checkMasterKey(database, vault);
  const payers = new PayerData({ database, vault, clock: systemClock });
  await payers.load();
  let sealed = 0;
  for (const column of sealedColumns) {
    const done = await sealAgain(database, vault, column);
    if (done > 0) say(`${column.table}: ${done} sealed again.`);
    sealed += done;
  }
  // A holder of the old master key could have read the key of payers' data, so new data is sealed with a new key.
  if (sealed > 0) await payers.addSealingKey();
  say("MASTER_KEY has sealed everything.");
  // Addresses of payments that are still open were made with the other key.
  if (vault.ids.length > 1)
    say(
      "Two days after the last restart that swapped the keys, take MASTER_KEY_SECOND away: payers of open payments need it until then.",
    );
  return 0;
}
