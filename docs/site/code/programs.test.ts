// Goal: the programs that pages show do what they say: each sends its operation's request, to the byte of its body, in every language.
// Method: run them against a server that writes down what arrives, one process for each language that this machine has.
import { execFile, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Operation, exampleAnswer, operationOf, operations } from "../reference/contract.ts";
import { request } from "../reference/operation-pages.ts";
import { treeRoot } from "../site.ts";
import { clientCallOf } from "./client-call.ts";
import { type Written, programsOf } from "./programs.ts";
import { type Example, CLIENT_ID, ROOT, exampleOf } from "./request.ts";

const run = promisify(execFile);
const has = (program: string, ...args: string[]): boolean => spawnSync(program, args).status === 0;

interface Arrived {
  method: string;
  path: string;
  query: Record<string, string>;
  body: unknown;
}

let server: Server;
let origin: string;
let folder: string;
let arrived: Arrived[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "gerbang-programs-"));
  // So that programs find the client library as those of merchants do.
  symlinkSync(join(treeRoot, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  server = createServer((asked, answer) => void note(asked, answer));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
  server.closeAllConnections();
  server.close();
});

async function note(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of asked) parts.push(part as Buffer);
  const url = new URL(asked.url ?? "", origin);
  const text = Buffer.concat(parts).toString();
  const { method = "" } = asked;
  // How much a library asks for at once, and how long it waits, is its own matter.
  for (const name of ["limit", "wait"]) url.searchParams.delete(name);
  arrived.push({
    method,
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    body: text === "" ? {} : JSON.parse(text),
  });
  const { status, type, value } = answerOf(operationOf(method, url.pathname)?.operation);
  answer.writeHead(status, { "content-type": type, "x-request-id": "req_01kan3t5pzh6c2nb8w4fy7gmsd" });
  answer.end(typeof value === "string" ? value : JSON.stringify(value));
}

/** As the contract shows it; a list has one page. */
function answerOf(operation: Operation | undefined): { status: number; type: string; value: unknown } {
  const { status = "404", type = "application/json", value = {} } = (operation && exampleAnswer(operation)) ?? {};
  const isPage = typeof value === "object" && value !== null && "has_more" in value;
  return { status: Number(status), type, value: isPage ? { ...value, has_more: false, next_cursor: null } : value };
}

/** The example of each operation's page. */
const examples: Example[] = operations.map((operation) => {
  const bodies = (operation.body?.examples ?? []).filter(({ value }) => Object.keys(value as object).length > 0);
  const { value } = (operation.id === "resendEvents" ? bodies.at(-1) : bodies[0]) ?? {};
  const example = exampleOf(request(operation, value).replaceAll(/^```(http)?$/gm, ""));
  if (!example) throw new Error(`${operation.id} has no example`);
  return example;
});

function codeOf(example: Example, language: string): string {
  const { code } = programsOf(example).find((one) => one.language === language) as Written;
  return code.replaceAll(ROOT, origin);
}

/** What each example says that it sends; health may be asked with or without a key. */
const expected = (): Arrived[] =>
  examples.map(({ operation, target, query, body }) => ({
    method: operation.method,
    path: target.split("?")[0] ?? "",
    query,
    body: body ?? {},
  }));

const env = (): Record<string, string> => ({
  PATH: process.env.PATH ?? "",
  HOME: process.env.HOME ?? tmpdir(),
  GERBANG_CLIENT_ID: CLIENT_ID,
  GERBANG_SECRET: "sk_test_of_the_examples",
});

/** Runs a program that runs them all, and gives what arrived. */
async function perform(command: string, args: string[]): Promise<Arrived[]> {
  arrived = [];
  await run(command, args, { cwd: folder, env: env(), maxBuffer: 64 * 2 ** 20 });
  return arrived;
}

test("the programs in TypeScript are right by the client library's types, and send what they say", async () => {
  const files = examples.map((example, at) => {
    const file = `example-${String(at).padStart(2, "0")}.ts`;
    writeFileSync(join(folder, file), `${codeOf(example, "typescript")}\nexport {};\n`);
    return file;
  });
  const all = files.map((file) => `await import("./${file}");\n`).join("");
  writeFileSync(join(folder, "all.ts"), all);
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      extends: join(treeRoot, "tsconfig.json"),
      compilerOptions: { customConditions: ["gerbang-source"], lib: ["esnext", "dom", "dom.iterable"] },
      include: ["*.ts"],
      exclude: [],
    }),
  );
  const types = run(join(treeRoot, "node_modules/.bin/tsc"), ["--noEmit", "-p", folder], { env: env() }).catch(
    (error: { stdout: string }) => error,
  );
  expect(await perform(process.execPath, ["--conditions=gerbang-source", "all.ts"])).toEqual(expected());
  expect((await types).stdout).toBe("");
});

test.runIf(has("python3", "--version"))("the programs in Python send what they say", async () => {
  const names = examples.map((example, at) => {
    const name = `example_${at}.py`;
    writeFileSync(join(folder, name), `${codeOf(example, "python")}\n`);
    return name;
  });
  const all = `import runpy, sys\nsys.path.insert(0, ${JSON.stringify(join(treeRoot, "clients/python"))})\n`;
  writeFileSync(join(folder, "all.py"), `${all}for name in ${JSON.stringify(names)}:\n    runpy.run_path(name)\n`);
  expect(await perform("python3", ["all.py"])).toEqual(expected());
});

test.runIf(has("curl", "--version") && has("openssl", "version"))("those for curl send what they say", async () => {
  writeFileSync(join(folder, "all.sh"), `set -e\n${examples.map((one) => codeOf(one, "curl")).join("\necho\n")}\n`);
  expect(await perform("bash", ["all.sh"])).toEqual(expected());
});

test("those in PHP call what the client has", () => {
  const client = readFileSync(join(treeRoot, "clients/php/Gerbang.php"), "utf8");
  for (const example of examples) {
    const { name = [] } = clientCallOf(example, "php") ?? {};
    const [method = "health"] = name.slice(-1);
    expect([name.join("."), client.includes(`function ${method}(`)]).toEqual([name.join("."), true]);
  }
});

test.runIf(has("php", "--version"))("those in PHP are right by PHP", async () => {
  for (const [at, example] of examples.entries()) {
    writeFileSync(join(folder, `example-${at}.php`), `${codeOf(example, "php")}\n`);
    await run("php", ["-l", `example-${at}.php`], { cwd: folder });
  }
});

test.runIf(has("go", "version"))("those in Go are read by gofmt", async () => {
  mkdirSync(join(folder, "go"));
  for (const [at, example] of examples.entries()) {
    writeFileSync(join(folder, "go", `example_${at}.go`), `${codeOf(example, "go")}\n`);
  }
  // It fails at what it cannot read.
  await run("gofmt", ["-e", "go"], { cwd: folder, maxBuffer: 16 * 2 ** 20 });
});

test.each(["typescript", "python", "php"] as const)("the library in %s has a call for every operation", (library) => {
  const without = examples.filter((example) => clientCallOf(example, library) === undefined);
  expect(without.map(({ operation }) => operation.id)).toEqual([]);
});
