// Goal: what the guide to acquirers tells people to type works. Method: type it, word for word but for the port, in a
// shell, beside a service and the simulated acquirer as programs of their own.
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Client } from "./kit/client.ts";
import { Service, compiled, freePort } from "./kit/service.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const shell = ["bash", "curl"].every((program) => spawnSync(program, ["--version"]).status === 0);
const guide = readFileSync(join(root, "docs/guides/acquirers.md"), "utf8");
const [start, rules, pay, behave, , , exam] = [...guide.matchAll(/```sh\n([\s\S]*?)```/g)].map(
  ([, block]) => block ?? "",
);

interface Acquirer {
  program: ChildProcess;
  /** What it said when it started. */
  words: string;
}

/** Starts the simulated acquirer as a program, and gives it once it has said what it can do. */
async function startAcquirer({ port, env }: { port: number; env: Record<string, string> }): Promise<Acquirer> {
  const { PATH = "" } = process.env;
  const program = spawn(process.execPath, [join(root, "gateway/bin/gerbang.js"), "acquirer", "--port", String(port)], {
    env: { PATH, ...env, ...compiled() },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let words = "";
  program.stderr.on("data", (part: Buffer) => (words += part.toString()));
  while (!words.includes("Stop with Ctrl-C")) {
    if (program.exitCode !== null) throw new Error(words);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return { program, words };
}

async function stop({ program }: Acquirer): Promise<void> {
  program.kill("SIGTERM");
  await once(program, "exit");
}

test("the simulated acquirer writes its profile where the service looks for it", async () => {
  const place = mkdtempSync(join(tmpdir(), "gerbang-acquirers-file-"));
  const file = join(place, "etc", "acquirers.json");
  const env = { GERBANG_DATA: join(place, ".data"), ACQUIRERS_FILE: file };
  await stop(await startAcquirer({ port: await freePort(), env }));
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject([{ code: "rimba" }]);
  expect(existsSync(join(place, ".data", "acquirers.json"))).toBe(false);
  rmSync(place, { recursive: true });
});

describe.runIf(shell)("the guide to acquirers", () => {
  let place: string;
  let port: number;
  let acquirer: Acquirer;
  let service: Service;
  let client: Client;

  beforeAll(async () => {
    place = mkdtempSync(join(tmpdir(), "gerbang-acquirers-guide-"));
    chmodSync(place, 0o711);
    port = await freePort();
    const data = join(place, ".data");
    acquirer = await startAcquirer({ port, env: { GERBANG_DATA: data } });
    service = await Service.start({ dataDirectory: data });
    client = new Client(service.demo);
  });
  afterAll(async () => {
    await service.stop();
    await stop(acquirer);
    rmSync(place, { recursive: true, force: true });
  });

  const type = (script: string): string =>
    execFileSync("bash", ["-c", `set -e\n${script}`], {
      cwd: place,
      env: { PATH: process.env.PATH ?? "", ...compiled() },
      stdio: ["ignore", "pipe", "inherit"],
      encoding: "utf8",
    });
  const block = (text: string | undefined): string => (text ?? "").replaceAll("8090", String(port));
  const create = (reference: string) =>
    client.post("/v1/payments", {
      amount_minor: 7_500_000,
      currency: "IDR",
      payment_method: "qris",
      reference_id: reference,
    });

  test("a rule sends payments there, and who pays there has paid here", async () => {
    expect(start?.trim()).toBe("npm run acquirer");
    expect(type(block(rules))).toContain('"active":true');
    await expect
      .poll(async () => (await create(`guide-${Math.random()}`)).json.gateway_code, { timeout: 30_000 })
      .toBe("rimba");
    const { json } = await create("guide-1");
    expect(json).toMatchObject({ gateway_code: "rimba", status: "pending", instructions: { type: "qr_string" } });
    expect(type(block(pay))).toContain('"status":"paid"');
    await expect
      .poll(async () => (await client.get(`/v1/payments/${json.reference}`)).json.status, { timeout: 30_000 })
      .toBe("succeeded");
  });

  test("the commands that the program prints are those of the guide", () => {
    const printed = acquirer.words.split("\n").filter((line) => /^ {4}(OPS|VERSION|curl)|^ {6}/.test(line));
    expect(type(printed.join("\n"))).toContain('"active":true');
  });

  test("it passes the part of the exam that does no harm", () => {
    const npx = `npx() { shift; '${process.execPath}' '${join(root, "gateway/bin/gerbang.js")}' "$@"; }`;
    expect(type(`exec 2>&1\n${npx}\n${block(exam)}`)).toContain(" 0 failed.");
  });

  test("it can be made not to answer", () => {
    const output = type(`RIMBA=http://127.0.0.1:${port}\n${block(behave)}`);
    expect(JSON.parse(output)).toMatchObject({ mode: "timeout", for_next: 1 });
    type(`curl -s -X PUT http://127.0.0.1:${port}/behaviour -d '{"mode":"ok"}'`);
  });
});
