// Secrets of a development installation: made on the first start, stored beside the data, readable by their owner alone.
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { type Config, ConfigError } from "../ground/config.ts";
import { masterKeyBytes } from "../ground/crypto.ts";
import { writeWhole } from "../ground/files.ts";
import { ownFolder } from "../ground/private-folders.ts";

const secretsSchema = z.object({
  masterKey: z.string().refine((text) => masterKeyBytes(text) !== undefined),
  operatorToken: z.string().min(1),
});
type KeptSecrets = z.infer<typeof secretsSchema>;

export interface Secrets extends KeptSecrets {
  /** A key that opens secrets as well while the master key is being replaced. It is configured, never made. */
  secondMasterKey: string | undefined;
}

/**
 * Reads the secrets from the configuration, or from `<data>/secrets.json`, which the service makes when it is missing. Production never makes
 * any, nor does a command that inspects existing data (`existing`): new secrets would not open what the database has sealed. Throws
 * `ConfigError` in these cases, for a folder that others could have prepared, and for a damaged file.
 */
export function readSecrets(config: Config, wanted: "any" | "existing" = "any"): Secrets {
  const { masterKey, secondMasterKey, operatorToken } = config;
  if (masterKey !== undefined && operatorToken !== undefined) return { masterKey, secondMasterKey, operatorToken };
  if (config.mode === "production") throw new ConfigError("MASTER_KEY and OPERATOR_TOKEN are required in production");
  const file = join(config.dataDirectory, "secrets.json");
  if (wanted === "existing" && !existsSync(file))
    throw new ConfigError(
      `There is no ${file}, so the master key of the database is missing. Set MASTER_KEY and OPERATOR_TOKEN, or GERBANG_DATA.`,
    );
  ownFolder(config.dataDirectory);
  let kept: KeptSecrets;
  if (existsSync(file)) {
    kept = readKept(file);
  } else {
    kept = { masterKey: randomBytes(32).toString("hex"), operatorToken: `op_${randomBytes(24).toString("hex")}` };
    writeWhole(file, `${JSON.stringify(kept, null, 2)}\n`);
  }
  return {
    masterKey: masterKey ?? kept.masterKey,
    secondMasterKey,
    operatorToken: operatorToken ?? kept.operatorToken,
  };
}

/** Reads the file. It is never replaced, since only its key opens what the database has sealed: throws `ConfigError` when it is damaged. */
function readKept(file: string): KeptSecrets {
  const text = readFileSync(file, "utf8");
  try {
    return secretsSchema.parse(JSON.parse(text));
  } catch {
    throw new ConfigError(
      `${file} is damaged. Restore it, or set MASTER_KEY and OPERATOR_TOKEN; without its master key the data beside it cannot be used.`,
    );
  }
}
