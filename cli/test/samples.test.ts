// Goal: a sample runs in one command, sells in the sandbox, and hears of what is paid; where it cannot run, it is said what it needs. Method: a shop
// of a few lines in the place of an example, against one service.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Client } from "../../e2e/kit/client.ts";
import { type TestService, paymentBody, startService } from "../../gateway/test/kit.ts";
import { type Sample, atPort, runSample } from "../src/samples.ts";

let folder: string;
let service: TestService;
let client: Client;
const before = process.env.GERBANG_DATA;
/** Stops what a test that fails would leave running. */
const stop = new AbortController();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "gerbang-samples-"));
  // As .data is, where no folder is named. The shop runs in a folder of its own.
  process.env.GERBANG_DATA = relative(process.cwd(), folder);
  service = await startService({ roles: ["api"] });
  ({ client } = await service.merchant());
});
afterAll(async () => {
  stop.abort();
  if (before === undefined) delete process.env.GERBANG_DATA;
  else process.env.GERBANG_DATA = before;
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** A shop that tells at / which events it took, with the secret that it was given. */
const SHOP = `import { createServer } from "node:http";
import { createHmac } from "node:crypto";
const taken = [];
createServer((request, response) => {
  if (request.url === "/") return response.end(JSON.stringify({ taken, database: process.env.DATABASE }));
  let body = "";
  request.on("data", (part) => (body += part)).on("end", () => {
    const signed = request.headers["x-svc-timestamp"] + "." + body;
    const good = createHmac("sha256", process.env.GERBANG_WEBHOOK_SECRET).update(signed).digest("hex") === request.headers["x-svc-signature"];
    if (good) taken.push(JSON.parse(body).type);
    response.writeHead(good ? 200 : 401).end();
  });
}).listen(Number(process.env.PORT), "127.0.0.1");
`;

const keyOf = ({ credentials }: Client) => ({
  clientId: credentials.client_id,
  secret: credentials.secret,
  baseUrl: credentials.base_url,
});
const sample = (command: string[], port: number): Sample => ({
  language: "JavaScript",
  folder,
  command,
  env: {},
  port,
  webhook: "/hook",
  needs: "what nobody has",
});

test("a shop hears of what is paid in its sandbox, by a secret that fits, until both are stopped", async () => {
  writeFileSync(join(folder, "shop.mjs"), SHOP);
  const port = await freePort();
  const run = runSample("own", sample(["node", "shop.mjs"], port), keyOf(client), {
    stop: stop.signal,
    cut: stop.signal,
  });
  const told = async (): Promise<{ taken: string[]; database: string }> =>
    (await (await fetch(`http://127.0.0.1:${port}/`)).json()) as { taken: string[]; database: string };
  await vi.waitFor(told, 30_000);
  // The listener begins with what happens once it listens, which may be a moment after the shop is there.
  const sell = async (): Promise<void> => {
    const { reference } = (await client.post("/v1/payments", paymentBody())).json as { reference: string };
    await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
    expect((await told()).taken).toContain("payment.succeeded");
  };
  await vi.waitFor(sell, { timeout: 30_000, interval: 200 });
  expect((await told()).database).toBe(join(folder, "samples", "own.sqlite"));
  stop.abort();
  expect(await run).toBe(0);
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
});

test("another port is that of the program's command, too", () => {
  const php = sample(["php", "-S", "127.0.0.1:3000", "shop.php"], 3000);
  expect(atPort(php, 3001)).toEqual({ ...php, command: ["php", "-S", "127.0.0.1:3001", "shop.php"], port: 3001 });
});

test.each([
  ["is not on the machine", ["gerbang-no-such-program"], "ENOENT"],
  ["ends at once", ["node", "no-such-shop.mjs"], "exit code 1"],
])("a shop whose program %s is told with what it needs, and which port", async (_what, command, why) => {
  const { signal: never } = new AbortController();
  const port = await freePort();
  const run = runSample("none", sample(command, port), keyOf(client), { stop: never, cut: never });
  const told = `^The shop ended \\(.*${why}\\)\\. It needs what nobody has\\. Port ${port} must be free; choose another with --port\\.$`;
  await expect(run).rejects.toThrow(new RegExp(told));
});
