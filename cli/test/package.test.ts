// Goal: what is published runs by itself on Node 20 and later, with the API's answers in its tables. Method: the package is built and its program
// copied away from the checkout, and run by the Node of the machine, where there is one besides ours, against a server that plays the API.
import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { commands as ofService } from "../../gateway/src/cli/table.ts";
import { ownCommands } from "../src/table.ts";

const cli = fileURLToPath(new URL("..", import.meta.url));
const merchantWords = ownCommands().map(({ name }) => name.split(" ")[0] ?? "");
let folder: string;
let server: Server;
let asked: { url: string | undefined; agent: string | undefined }[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "gerbang-package-"));
  execFileSync(process.execPath, [join(cli, "build.js")]);
  cpSync(join(cli, "dist"), join(folder, "package"), { recursive: true });
  server = createServer(({ url, headers }, response) => {
    asked.push({ url, agent: headers["user-agent"] });
    const data = [
      { currency: "IDR", exponent: 2, available_minor: 123_456_700, held_minor: 0, pending_settlement_minor: 0 },
    ];
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ environment: "sandbox", as_of: "2026-11-23T00:00:00Z", data }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The Node of the machine, that is not the one of the project. */
function machineNode(): string | undefined {
  const places = (process.env.PATH ?? "").split(delimiter).filter((place) => !place.includes("node_modules"));
  return places.map((place) => join(place, "node")).find((file) => existsSync(file));
}

const nodes = [...new Set([process.execPath, machineNode()])].filter((node) => node !== undefined);

/** The folder of programs that stand in for those of a machine. */
const programs = (): string => join(folder, "programs");

/** Puts a program of the shell in the place of one of the machine. */
function playedBy(program: string, ...lines: string[]): void {
  mkdirSync(programs(), { recursive: true });
  writeFileSync(join(programs(), program), ["#!/bin/sh", ...lines, ""].join("\n"), { mode: 0o755 });
}

interface Done {
  code: number;
  data: string;
  words: string;
}

function gerbang(node: string, ...args: string[]): Promise<Done> {
  const { port } = server.address() as AddressInfo;
  const env = {
    HOME: folder,
    PATH: programs(),
    GERBANG_CLIENT_ID: "ak_test_00000000000000000000000000",
    GERBANG_SECRET: "sk_test_x",
    GERBANG_BASE_URL: `http://127.0.0.1:${port}`,
  };
  return new Promise((resolve) => {
    execFile(node, [join(folder, "package/cli/src/main.js"), ...args], { env, cwd: folder }, (error, data, words) =>
      resolve({ code: typeof error?.code === "number" ? error.code : 0, data, words }),
    );
  });
}

test.each(nodes)("the package runs by itself, by %s", async (node) => {
  asked = [];
  expect((await gerbang(node, "version")).data).toMatch(/^gerbang \d+\.\d+\.\d+ \(Node \d/);
  const help = (await gerbang(node, "help")).data;
  expect(help).toContain("payments list");
  expect(help).not.toContain("migrate");
  expect(await gerbang(node, "balances", "list")).toEqual({
    code: 0,
    data: "CURRENCY     AVAILABLE  HELD  ON ITS WAY\nIDR       1,234,567.00  0.00        0.00\n",
    words: "As of 2026-11-23T00:00:00Z, sandbox.\n",
  });
  expect(asked).toEqual([{ url: "/v1/balances", agent: expect.stringMatching(/^gerbang-cli\//) }]);
});

test("a command of the service is said to be in its checkout, also where its help is asked for", async () => {
  for (const word of new Set(ofService.map(({ name }) => name.split(" ")[0] ?? ""))) {
    if (merchantWords.includes(word)) continue;
    expect(await gerbang(process.execPath, word)).toMatchObject({
      code: 2,
      words: `gerbang ${word} is for whoever runs the service, and only its checkout has it: npx gerbang ${word} runs it there.\n`,
    });
  }
  expect((await gerbang(process.execPath, "help", "serve")).words).toContain("only its checkout has it");
  expect((await gerbang(process.execPath, "srve")).words).toContain('has no command "srve". There are: login');
});

test("a command goes on to its end where nobody reads its sentences", async () => {
  const { port } = server.address() as AddressInfo;
  const env = {
    GERBANG_CLIENT_ID: "ak_test_00000000000000000000000000",
    GERBANG_SECRET: "sk_test_x",
    GERBANG_BASE_URL: `http://127.0.0.1:${port}`,
  };
  const command = spawn(process.execPath, [join(folder, "package/cli/src/main.js"), "balances", "list"], { env });
  command.stderr.destroy();
  const [data, [code]] = await Promise.all([text(command.stdout), once(command, "close")]);
  expect([code, data]).toEqual([0, expect.stringContaining("1,234,567.00")]);
});

test.skipIf(process.platform === "win32")(
  "a sample becomes a folder of the developer's, with the client of its language, and is not made anew",
  async () => {
    const own = (name: string): string[] => readdirSync(join(folder, `shop-with-${name}`)).toSorted();
    playedBy("php", 'echo "in $PWD"', "exit 3");
    const first = await gerbang(process.execPath, "samples", "php");
    expect(own("php")).toEqual(["Gerbang.php", "README.md", "shop.php"]);
    expect(first.words).toContain(`The shop is yours, in ${join(folder, "shop-with-php")}`);
    expect(first.words).toContain(`in ${join(folder, "shop-with-php")}\n`);
    expect(first).toMatchObject({
      code: 1,
      words: expect.stringContaining("The shop ended (exit code 3). It needs PHP"),
    });
    writeFileSync(join(folder, "shop-with-php/shop.php"), "mine");
    expect((await gerbang(process.execPath, "samples", "php")).words).not.toContain("The shop is yours");
    expect(readFileSync(join(folder, "shop-with-php/shop.php"), "utf8")).toBe("mine");

    playedBy("npm", 'echo "$*" > asked.txt');
    await gerbang(process.execPath, "samples", "hono");
    expect(own("hono")).toEqual(["README.md", "asked.txt", "package.json", "shop.js"]);
    const { port } = server.address() as AddressInfo;
    expect(readFileSync(join(folder, "shop-with-hono/asked.txt"), "utf8")).toBe(
      `install --ignore-scripts --no-audit --no-fund http://127.0.0.1:${port}/docs/files/gerbang-sdk.tgz\n`,
    );
  },
);

test.skipIf(process.platform === "win32")(
  "a sample whose packages cannot be installed leaves nothing, and says why",
  async () => {
    playedBy("npm", "exit 7");
    const { code, words } = await gerbang(process.execPath, "samples", "express");
    expect([code, words]).toEqual([
      1,
      expect.stringContaining("npm could not install what the shop needs (exit code 7)"),
    ]);
    expect(readdirSync(folder).filter((name) => name.startsWith("shop-with-express"))).toEqual([]);
  },
);
