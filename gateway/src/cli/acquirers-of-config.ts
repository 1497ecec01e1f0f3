// The acquirers that the configuration names, beyond the simulated ones of the sandbox.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Acquirer } from "../acquirers/acquirer.ts";
import { type RemoteProfile, remoteProfilesSchema } from "../acquirers/remote-profile.ts";
import { simulatedAcquirers } from "../acquirers/simulated.ts";
import { remoteAcquirer } from "../acquirers/remote.ts";
import { type Config, type FilesOfConfig, readConfig } from "../ground/config.ts";

/** An acquirer with connections of its own, to be closed when the service stops. */
export type OpenAcquirer = Acquirer & { close(): Promise<void> };

/** The configuration with the acquirers that it names. Throws one `ConfigError` that lists every mistake of both. */
export function readConfigAndAcquirers(environment?: Record<string, string | undefined>): {
  config: Config;
  acquirers: OpenAcquirer[];
} {
  let profiles: RemoteProfile[] = [];
  const config = readConfig(environment, (files) => {
    const read = readProfiles(files);
    profiles = read.profiles;
    return read.problems;
  });
  return { config, acquirers: profiles.map((profile) => remoteAcquirer(profile)) };
}

/** Reads the file of acquirers. Its problems are told with their places, and never show a secret. */
function readProfiles({ acquirersFile, dataDirectory, production }: FilesOfConfig): {
  profiles: RemoteProfile[];
  problems: string[];
} {
  const file = acquirersFile ?? join(dataDirectory, "acquirers.json");
  const spoilt = (...problems: string[]): { profiles: RemoteProfile[]; problems: string[] } => ({
    profiles: [],
    problems,
  });
  if (!existsSync(file)) return acquirersFile === undefined ? spoilt() : spoilt(`ACQUIRERS_FILE: there is no ${file}`);
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    const unreadable = (error as { code?: string } | null)?.code;
    return spoilt(unreadable === undefined ? `${file}: is not JSON` : `${file}: cannot be read (${unreadable})`);
  }
  const parsed = remoteProfilesSchema.safeParse(value);
  if (!parsed.success) return spoilt(...parsed.error.issues.map((issue) => `${file}: ${placeOf(issue)}`));
  const problems = parsed.data.flatMap(({ code, url }) => [
    ...(production && !url.startsWith("https:") ? [`${file}: ${code}: url must be https in production`] : []),
    ...(simulatedAcquirers.some((simulated) => simulated.code === code)
      ? [`${file}: ${code}: is the code of a simulated acquirer; choose another`]
      : []),
  ]);
  return { profiles: parsed.data, problems };
}

function placeOf({ path, message }: z.core.$ZodIssue): string {
  return `${path.map(String).join(".") || "the file"}: ${message}`;
}
