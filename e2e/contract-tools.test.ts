// Goal: the linters that others run find nothing in the contracts. Method: run them, where `npm run contract` has installed them.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const tools = join(root, "contract/node_modules/.bin");
const contracts = ["openapi/merchant.json", "openapi/operator.json"];

test.runIf(existsSync(tools)).each([
  ["redocly", ["lint", "--extends", "recommended", ...contracts], /Your API descriptions are valid/],
  ["spectral", ["lint", "--ruleset", "contract/.spectral.yaml", "--fail-severity", "hint", ...contracts], /No results/],
])("%s finds nothing", (name, args, clean) => {
  const env = { ...process.env, REDOCLY_TELEMETRY: "off", NO_COLOR: "1" };
  const { status, stdout, stderr } = spawnSync(join(tools, name), args, { cwd: root, env, encoding: "utf8" });
  const printed = stdout + stderr;
  expect(printed).toMatch(clean);
  expect(printed).not.toMatch(/\d+ warnings?\b/);
  expect(status).toBe(0);
});
