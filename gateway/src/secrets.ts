// Secrets of a development installation: made on the first start, kept beside the data, readable by their owner alone.
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "./ground/config.ts";

export interface Secrets {
  masterKey: string;
  operatorToken: string;
}

/** From the configuration, or from `<data>/secrets.json`, which is made when it is missing. Production never makes any. */
export function readSecrets(config: Config): Secrets {
  const { masterKey, operatorToken } = config;
  if (masterKey !== undefined && operatorToken !== undefined) return { masterKey, operatorToken };
  if (config.mode === "production") throw new Error("MASTER_KEY and OPERATOR_TOKEN are required in production");
  const file = join(config.dataDirectory, "secrets.json");
  let kept: Secrets;
  if (existsSync(file)) {
    kept = JSON.parse(readFileSync(file, "utf8")) as Secrets;
  } else {
    kept = { masterKey: randomBytes(32).toString("hex"), operatorToken: `op_${randomBytes(24).toString("hex")}` };
    mkdirSync(config.dataDirectory, { recursive: true, mode: 0o711 });
    writeFileSync(file, `${JSON.stringify(kept, null, 2)}\n`, { mode: 0o600 });
  }
  return { masterKey: masterKey ?? kept.masterKey, operatorToken: operatorToken ?? kept.operatorToken };
}
