// The benchmark: `npm run bench -- create [--json] [--seconds n] [--processes n]`, or all cases. Results are ratios within one run, since
// machines differ. Without --json they are stored in bench/results, with a table and a picture, if the tree is clean.
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { attack } from "./attack.ts";
import * as cases from "./cases.ts";
import { CleanTree } from "./clean-tree.ts";
import { portal } from "./portal.ts";
import { payer } from "./payer.ts";
import { processes } from "./processes.ts";
import { providers } from "./providers.ts";
import { keep, print } from "./report.ts";
import { requestlog } from "./request-log.ts";
import type { Options, Result } from "./result.ts";
import { sdk } from "./sdk.ts";
import { strikeAll } from "./stage.ts";
import { webhooks } from "./webhooks.ts";

const all: Record<string, (options: Options) => Promise<Result>> = {
  ...cases,
  webhooks,
  processes,
  requestlog,
  portal,
  payer,
  providers,
  sdk,
  attack,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: "boolean", default: false },
    seconds: { type: "string", default: "10" },
    rows: { type: "string", default: "500000" },
    processes: { type: "string", default: "1" },
  },
});
const names = positionals.length > 0 ? positionals : Object.keys(all);
const unknown = names.find((name) => !all[name]);
const options: Options = {
  seconds: Number(values.seconds),
  rows: Number(values.rows),
  processes: Number(values.processes),
};
const sensible = options.seconds > 0 && options.rows > 0 && /^[1-9]\d?$/.test(values.processes);
if (unknown !== undefined || !sensible) {
  process.stderr.write(
    `${unknown === undefined ? "--seconds and --rows are numbers above 0, --processes is one below 100." : `There is no case ${unknown}.`} Cases: ${Object.keys(all).join(", ")}\n`,
  );
  process.exit(2);
}
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void strikeAll().finally(() => process.exit(1)));
}
const tree = new CleanTree(fileURLToPath(new URL(".", import.meta.url)));
for (const name of names) {
  process.stderr.write(`${name} …\n`);
  const result = await (all[name] as (typeof all)[string])(options);
  // The case `processes` has at least two processes anyway.
  if (options.processes > (name === "processes" ? 2 : 1)) result.processes = options.processes;
  if (values.json) process.stdout.write(`${JSON.stringify(result)}\n`);
  else {
    print(result);
    const why = tree.unclean();
    if (why === undefined) keep(result, options, tree);
    else console.log(`  Not kept: ${why}.\n`);
  }
  // A missed aim is only reported; errors and books that are not clean fail the run.
  if (result.errors > 0 || !result.verified) process.exitCode = 1;
}
