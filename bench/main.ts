// The benchmark: `npm run bench -- create [--json] [--seconds n]`, or all cases. Ratios within one run, since machines differ.
// Without --json the results are kept in bench/results, with a table and a picture.
import { parseArgs } from "node:util";
import * as cases from "./cases.ts";
import { keep, tell } from "./report.ts";
import type { Options, Result } from "./result.ts";
import { webhooks } from "./webhooks.ts";

const all: Record<string, (options: Options) => Promise<Result>> = { ...cases, webhooks };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: "boolean", default: false },
    seconds: { type: "string", default: "10" },
    rows: { type: "string", default: "500000" },
  },
});
const names = positionals.length > 0 ? positionals : Object.keys(all);
const unknown = names.find((name) => !all[name]);
const options: Options = { seconds: Number(values.seconds), rows: Number(values.rows) };
if (unknown !== undefined || !(options.seconds > 0) || !(options.rows > 0)) {
  process.stderr.write(
    `${unknown === undefined ? "--seconds and --rows are numbers above 0." : `There is no case ${unknown}.`} Cases: ${Object.keys(all).join(", ")}\n`,
  );
  process.exit(2);
}
for (const name of names) {
  process.stderr.write(`${name} …\n`);
  const result = await (all[name] as (typeof all)[string])(options);
  if (values.json) process.stdout.write(`${JSON.stringify(result)}\n`);
  else {
    tell(result);
    keep(result, options);
  }
  // A missed aim is told; only what is wrong fails.
  if (result.errors > 0 || !result.verified) process.exitCode = 1;
}
