// Runs long campaigns: `npm run soak -- --minutes N [--seed S] [--only NAME]`. Each runs for N minutes, one seed after another, from the given
// or a random seed on. A failure prints the command that runs its seed again.
import { randomInt } from "node:crypto";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startVitest } from "vitest/node";
import { type Plan, names } from "./plan.ts";

const { values } = parseArgs({
  options: { minutes: { type: "string" }, seed: { type: "string" }, only: { type: "string" } },
});
const minutes = Number(values.minutes);
const seed = values.seed === undefined ? randomInt(2 ** 30) : Number(values.seed);
const only = names.find((name) => name === values.only);
if (!(minutes > 0) || !Number.isSafeInteger(seed) || (values.only !== undefined && only === undefined)) {
  process.stderr.write(
    `npm run soak -- --minutes N [--seed S] [--only NAME]; minutes above 0 for each campaign, a whole number as seed; campaigns: ${names.join(", ")}\n`,
  );
  process.exit(2);
}
const plan: Plan = { minutes, seed, ...(only && { only }) };
console.log(`${only ?? names.join(", ")}: ${minutes} minutes each, beginning with seed ${seed}`);
const root = fileURLToPath(new URL("..", import.meta.url));
// Campaigns use the kit and the database of the tests.
const vitest = await startVitest("test", ["soak/campaigns.ts"], {
  root,
  config: false,
  watch: false,
  include: ["soak/campaigns.ts"],
  globalSetup: ["gateway/test/global-setup.ts"],
  pool: "forks",
  testTimeout: 0,
  hookTimeout: 60_000,
  provide: { plan },
});
await vitest.close();
