// The acquirers that the configuration names, beyond the simulated ones of the sandbox.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Acquirer } from "./acquirers/acquirer.ts";
import { remoteProfilesSchema } from "./acquirers/remote-profile.ts";
import { simulatedAcquirers } from "./acquirers/simulated.ts";
import { remoteAcquirer } from "./acquirers/remote.ts";
import { type Config, ConfigError } from "./ground/config.ts";

/** An acquirer with connections of its own, to be closed when the service stops. */
export type OpenAcquirer = Acquirer & { close(): Promise<void> };

/** Reads the file of acquirers. Throws `ConfigError` that lists every mistake with its place, and never shows a secret. */
export function readAcquirers(config: Config): OpenAcquirer[] {
  const file = config.acquirersFile ?? join(config.dataDirectory, "acquirers.json");
  if (!existsSync(file)) {
    if (config.acquirersFile === undefined) return [];
    throw new ConfigError(`ACQUIRERS_FILE: there is no ${file}`);
  }
  let text: unknown;
  try {
    text = JSON.parse(readFileSync(file, "utf8"));
  } catch {
    throw new ConfigError(`${file} is not JSON`);
  }
  const parsed = remoteProfilesSchema.safeParse(text);
  const problems = parsed.success ? [] : parsed.error.issues.map(placeOf);
  for (const { code, url } of parsed.data ?? []) {
    if (config.mode === "production" && !url.startsWith("https:"))
      problems.push(`${code}: url must be https in production`);
  }
  for (const { code } of parsed.data ?? []) {
    if (simulatedAcquirers.some((simulated) => simulated.code === code))
      problems.push(`${code}: is the code of a simulated acquirer; choose another`);
  }
  if (problems.length > 0 || !parsed.success) {
    throw new ConfigError(`${file} has mistakes:\n${problems.map((line) => `  - ${line}`).join("\n")}`);
  }
  return parsed.data.map((profile) => remoteAcquirer(profile));
}

function placeOf({ path, message }: z.core.$ZodIssue): string {
  return `${path.map(String).join(".") || "the file"}: ${message}`;
}
