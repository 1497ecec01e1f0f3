// The command `gerbang acquirer`: runs the simulated acquirer as a program of its own, and writes the profile by which the service finds it.
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type RemoteProfile, isLoopback, remoteProfilesSchema } from "../acquirers/remote-profile.ts";
import { inPlainWords } from "../ground/plain-words.ts";
import { type Config, ConfigError, readConfig } from "../ground/config.ts";
import { acquirersFileOf } from "./acquirers-of-config.ts";
import type { PaymentMethod } from "../merchants/settings.ts";
import { startSimulator } from "./simulator/simulator.ts";
import { say } from "./say.ts";

const CODE = "rimba";

export async function acquirerCommand({ port, host }: { port: string; host: string }): Promise<number> {
  const config = readConfig();
  if (config.mode === "production") {
    say("This acquirer is for trying things out: it does not start with NODE_ENV=production.");
    return 1;
  }
  const stopRequested = new Promise<void>((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => resolve());
  });
  const file = acquirersFileOf(config);
  const url = `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const made = !existsSync(file);
  const profile = made ? makeProfile(config, file, url, host) : readProfile(file);
  const stateFile = join(config.dataDirectory, "acquirer-operations.jsonl");
  const options = { port: Number(port), host, secret: profile.secret, stateFile, log: say };
  const simulator = await startSimulator(options).catch((error: unknown) => {
    if ((error as { code?: unknown } | null)?.code !== "EADDRINUSE") throw error;
    throw new ConfigError(`Port ${port} of ${host} is taken. Give another one: npm run acquirer -- --port 8091`);
  });
  greet(config, file, made, profile, simulator.url);
  if (!isLoopback(host))
    say(`Everybody who reaches ${simulator.url} can steer this acquirer: only requests of payments
are signed. Keep it off networks that you do not trust.`);
  await stopRequested;
  say("Stopping …");
  await simulator.stop();
  return 0;
}

/** Writes a first `acquirers.json` with one acquirer, which takes four methods in rupiah. */
function makeProfile(config: Config, file: string, url: string, host: string): RemoteProfile {
  const takes = (method: PaymentMethod, basis_points: number, flat_minor: number) => ({
    method,
    currencies: ["IDR"],
    minimum_minor: 1,
    maximum_minor: 999_999_999_999,
    cost: { basis_points, flat_minor },
  });
  const profile: RemoteProfile = {
    code: CODE,
    name: "Rimba Pay",
    environment: "sandbox",
    url: isLoopback(host) ? url : url.replace(/\/\/.*:/, "//127.0.0.1:"),
    secret: randomBytes(32).toString("hex"),
    deadline_ms: 8_000,
    cancels: true,
    capabilities: [
      takes("qris", 35, 0),
      takes("va", 0, 200_000),
      takes("ewallet", 100, 0),
      takes("bank_transfer", 0, 150_000),
    ],
  };
  for (const folder of [config.dataDirectory, dirname(file)]) mkdirSync(folder, { recursive: true, mode: 0o711 });
  writeFileSync(file, `${JSON.stringify([profile], null, 2)}\n`, { mode: 0o600, flag: "wx" });
  return profile;
}

function readProfile(file: string): RemoteProfile {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new ConfigError(`${file} cannot be read: ${error instanceof SyntaxError ? "it is not JSON" : String(error)}`);
  }
  // The same file has entries of built-in providers, which this program does not run.
  const own = Array.isArray(content) ? content.filter((entry) => !isOfProvider(entry)) : content;
  const parsed = remoteProfilesSchema.safeParse(own, inPlainWords);
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => `  - ${issue.path.join(".")}: ${issue.message}`);
    throw new ConfigError(`${file} has mistakes:\n${lines.join("\n")}`);
  }
  const profile = parsed.data.find(({ code }) => code === CODE);
  if (profile) return profile;
  throw new ConfigError(
    `${file} has no acquirer with the code ${CODE}. Add one, or move the file away to have it made.`,
  );
}

function isOfProvider(entry: unknown): boolean {
  return typeof entry === "object" && entry !== null && "provider" in entry;
}

function greet(config: Config, file: string, made: boolean, profile: RemoteProfile, url: string): void {
  const demo = join(config.dataDirectory, "demo.json");
  const of = (name: string): string => `$(node -p "require('${demo}').${name}")`;
  say(`
  ${profile.name} (${profile.code}) answers at ${url}; its secret is in ${file}.`);
  if (made) {
    say(`
  That file is new: the service reads it when it starts, so start it now, or stop it and start it again (npm start).`);
  } else if (new URL(profile.url).port !== new URL(url).port) {
    say(`
  Note: the service will look for it at ${profile.url}, which is another port. Change one of the two.`);
  }
  say(`
  It gets payments once a routing rule names ${profile.code}. This sends it all that it can take, and the rest to cendana:

    OPS=${of("ops_url")}; TOKEN=${of("operator_token")}
    VERSION=$(curl -s $OPS/routing/rules -H "Authorization: Bearer $TOKEN" -d '{"rules":[
      {"gateway_code":"${profile.code}","priority":5,"weight":100},{"gateway_code":"cendana","priority":50,"weight":100}]}' |
      node -p "JSON.parse(require('fs').readFileSync(0)).version")
    curl -s -X POST $OPS/routing/rules/$VERSION/activate -H "Authorization: Bearer $TOKEN"

  What it has:          curl -s ${url}/operations
  The payer pays:       curl -s ${url}/payments/OPERATION_KEY/pay -d '{"status":"paid"}'
  It never answers:     curl -s -X PUT ${url}/behaviour -d '{"mode":"timeout","for_next":1}'
  It works again:       curl -s -X PUT ${url}/behaviour -d '{"mode":"ok"}'

  All of it: docs/guides/acquirers.md. Stop with Ctrl-C.
`);
}
