// Reads the acquirers that the configuration names, beyond the simulated ones of the sandbox.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { isLoopback, remoteProfileSchema } from "../acquirers/remote-profile.ts";
import { simulatedAcquirers } from "../acquirers/simulated.ts";
import { remoteAcquirer } from "../acquirers/remote.ts";
import { type OpenAcquirer } from "../providers/profile.ts";
import { providers } from "../providers/providers.ts";
import { inPlainWords } from "../ground/plain-words.ts";
import { type Config, type FilesOfConfig, readConfig } from "../ground/config.ts";

/** The configuration, and the acquirers that it names. Throws one `ConfigError` that lists every mistake of both. */
export function readConfigAndAcquirers(environment?: Record<string, string | undefined>): {
  config: Config;
  acquirers: OpenAcquirer[];
} {
  let acquirers: OpenAcquirer[] = [];
  const config = readConfig(environment, (files) => {
    const read = readEntries(files);
    acquirers = read.acquirers;
    return read.problems;
  });
  return { config, acquirers };
}

export function acquirersFileOf({ acquirersFile, dataDirectory }: Omit<FilesOfConfig, "production">): string {
  return acquirersFile ?? join(dataDirectory, "acquirers.json");
}

interface Read {
  acquirers: OpenAcquirer[];
  problems: string[];
}

/** Reads the file of acquirers and opens each. Problems name their places and contain no secret. */
function readEntries(files: FilesOfConfig): Read {
  const { acquirersFile, production } = files;
  const file = acquirersFileOf(files);
  const spoilt = (...problems: string[]): Read => ({ acquirers: [], problems });
  if (!existsSync(file)) return acquirersFile === undefined ? spoilt() : spoilt(`ACQUIRERS_FILE: there is no ${file}`);
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    const unreadable = (error as { code?: string } | null)?.code;
    return spoilt(unreadable === undefined ? `${file}: is not JSON` : `${file}: cannot be read (${unreadable})`);
  }
  const list = z
    .array(z.looseObject({ provider: z.string().optional() }))
    .max(100)
    .safeParse(value, inPlainWords);
  if (!list.success) return spoilt(...list.error.issues.map((issue) => `${file}: ${placeOf(issue)}`));
  const entries = list.data.map((entry, at) => readEntry(entry, at, production));
  const problems = [...entries.flatMap((entry) => entry.problems), ...repeatedCodes(list.data)];
  if (problems.length > 0) return spoilt(...problems.map((problem) => `${file}: ${problem}`));
  const read: Read = { acquirers: [], problems: [] };
  for (const [at, { open }] of entries.entries()) {
    try {
      if (open) read.acquirers.push(open());
    } catch (error) {
      read.problems.push(`${file}: ${at}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return read;
}

/** Reads one entry and its problems. An entry without `provider` speaks Gerbang's own protocol. */
function readEntry(
  entry: { provider?: string | undefined },
  at: number,
  production: boolean,
): { problems: string[]; open?: () => OpenAcquirer } {
  const own = entry.provider === undefined;
  const provider = providers.find(({ name }) => name === entry.provider);
  if (!own && !provider) {
    const names = providers.map(({ name }) => name).join(", ");
    return { problems: [`${at}.provider: must be one of ${names}; leave it out for an acquirer of your own`] };
  }
  const parsed = (provider?.schema ?? remoteProfileSchema).safeParse(entry, inPlainWords);
  if (!parsed.success) return { problems: parsed.error.issues.map((issue) => placeOf(issue, at)) };
  const { code, url } = parsed.data;
  const problems: string[] = [];
  if (production && url !== undefined && !url.startsWith("https:"))
    problems.push(`${code}: url must be https in production`);
  if (provider && url !== undefined && !isLoopback(new URL(url).hostname))
    problems.push(`${code}: url is for tries on this machine alone; leave it out`);
  if (simulatedAcquirers.some((simulated) => simulated.code === code))
    problems.push(`${code}: is the code of a simulated acquirer; choose another`);
  const { data } = parsed;
  return { problems, open: () => provider?.open(entry) ?? remoteAcquirer(remoteProfileSchema.parse(data)) };
}

function repeatedCodes(entries: readonly Record<string, unknown>[]): string[] {
  const codes = entries.map(({ code }) => code);
  return codes.flatMap((code, at) =>
    typeof code === "string" && codes.indexOf(code) < at ? [`${at}.code: ${code} is there already`] : [],
  );
}

function placeOf({ path, message }: z.core.$ZodIssue, at?: number): string {
  const place = [...(at === undefined ? [] : [at]), ...path].map(String).join(".");
  return `${place || "the file"}: ${message}`;
}
