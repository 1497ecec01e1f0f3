// `npm run contract`: runs common third-party tools on the contracts: a linter, a type generator, a mock, and checks of the live service.
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ContractCheck } from "../gateway/test/contract-check.ts";

const here = fileURLToPath(new URL(".", import.meta.url));
const root = join(here, "..");
const contracts = ["openapi/merchant.json", "openapi/operator.json", "openapi/portal.json"];
const env = { ...process.env, REDOCLY_TELEMETRY: "off", NO_COLOR: "1" };

/** Runs a tool of this folder, and gives its output. Throws when the tool reports a problem. */
function tool(name: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(join(here, "node_modules/.bin", name), args, {
    cwd: root,
    env,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`${name} found something:\n${stdout}${stderr}`);
  return stdout + stderr;
}

function redocly(): string {
  const printed = tool("redocly", "lint", "--extends", "recommended", ...contracts);
  if (/warning/i.test(printed)) throw new Error(`redocly warns:\n${printed}`);
  return "no errors, no warnings";
}

function spectral(): string {
  tool("spectral", "lint", "--ruleset", "contract/.spectral.yaml", "--fail-severity", "hint", ...contracts);
  return "no errors, warnings, infos or hints";
}

/** Checks that the generated types compile under the strictest rules, and that most schemas have names. */
function types(): string {
  const place = mkdtempSync(join(tmpdir(), "gerbang-types-"));
  try {
    const told = contracts.map((contract, at) => {
      const file = join(place, `types-${at}.ts`);
      tool("openapi-typescript", contract, "-o", file);
      const text = readFileSync(file, "utf8");
      const schemas = /^ {4}schemas: \{\n([\s\S]*?)^ {4}\};/m.exec(text)?.[1] ?? "";
      const named = schemas.match(/^ {8}\w+:/gm)?.length ?? 0;
      if (named < 60) throw new Error(`${contract} has ${named} named types`);
      return `${contract} ${text.split("\n").length - 1} lines, ${named} named`;
    });
    tool(
      "tsc",
      "--noEmit",
      "--strict",
      "--exactOptionalPropertyTypes",
      ...contracts.map((_, at) => join(place, `types-${at}.ts`)),
    );
    return told.join("; ");
  } finally {
    rmSync(place, { recursive: true });
  }
}

/** Checks that a mock server answers a request to create a payment with 201 and a payment that the contract allows. */
async function mock(): Promise<string> {
  const port = await freePort();
  const prism = spawn(
    join(here, "node_modules/.bin/prism"),
    ["mock", "--host", "127.0.0.1", "--port", String(port), "openapi/merchant.json"],
    { cwd: root, env, stdio: "ignore" },
  );
  try {
    const response = await whenReady(prism, () =>
      fetch(`http://127.0.0.1:${port}/v1/payments`, {
        method: "POST",
        headers: {
          authorization: "Bearer ak_test_3f9k2m7q1x8v5c4b6n0zt2w9",
          "x-timestamp": "1795317240",
          "x-signature": "0".repeat(64),
          "idempotency-key": "order-1042-pay",
          "content-type": "application/json",
        },
        body: JSON.stringify({ amount_minor: 150_000, currency: "IDR", payment_method: "qris", reference_id: "1042" }),
      }),
    );
    const text = await response.text();
    const { status, headers } = response;
    const check = new ContractCheck(readFileSync(join(root, "openapi/merchant.json"), "utf8"));
    const faults = check.answerFaults("POST", "/v1/payments", { status, headers, text });
    if (status !== 201 || faults.length > 0)
      throw new Error(`the mock answered ${status}: ${text}\n${faults.join("\n")}`);
    const { reference, status: stands } = JSON.parse(text) as { reference: string; status: string };
    return `201, payment ${reference} is ${stands}`;
  } finally {
    prism.kill();
  }
}

async function whenReady(child: ChildProcess, ask: () => Promise<Response>): Promise<Response> {
  for (let tries = 0; ; tries++) {
    try {
      return await ask();
    } catch (error) {
      if (tries > 100 || child.exitCode !== null) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function live(): string {
  execFileSync(join(root, "node_modules/.bin/vitest"), ["run", "e2e/contract.test.ts"], { cwd: root, stdio: "pipe" });
  return "every operation of /v1 answers what the contract says";
}

if (!existsSync(join(here, "node_modules"))) {
  console.log("installing the tools, once …");
  execFileSync("npm", ["ci", "--no-audit", "--no-fund"], { cwd: here, stdio: "inherit" });
}
for (const [name, step] of Object.entries({ redocly, spectral, types, mock, live })) {
  const begun = performance.now();
  const found = await step();
  console.log(`${name.padEnd(9)} ${found} (${((performance.now() - begun) / 1000).toFixed(1)} s)`);
}
