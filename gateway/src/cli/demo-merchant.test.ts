// Goal: however a first start of a development ends, the next one tells credentials that work, and files are never half
// written. Method: the demo merchant prepared on a real database, its file taken away, torn or never written.
import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { Client } from "../../../e2e/kit/client.ts";
import { type TestService, startService } from "../../test/kit.ts";
import { type DemoFile, prepareDemo } from "./demo-merchant.ts";
import { ConfigError, readConfig } from "../ground/config.ts";
import { explain } from "./failures.ts";
import { readSecrets } from "./secrets.ts";
import { withDatabase } from "./store-of-config.ts";

let service: TestService;
let folder: string;

beforeAll(async () => {
  service = await startService({ roles: ["api"] });
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gerbang-demo-"));
  return () => rmSync(folder, { recursive: true, force: true });
});
afterAll(() => service.stop());

const addressesOf = ({ origin, operatorOrigin }: TestService) => ({
  baseUrl: `${origin}/v1`,
  opsUrl: `${operatorOrigin}/ops/v1`,
});
const prepare = (): Promise<DemoFile | undefined> =>
  prepareDemo(service.app, folder, addressesOf(service), "op_token_of_the_demo_0123456789");
const file = (): string => join(folder, "demo.json");

async function expectWorks(demo: DemoFile | undefined): Promise<DemoFile> {
  if (!demo) return expect.unreachable("there is a demo merchant");
  expect((await new Client(demo).get("/v1/balances")).status).toBe(200);
  expect(JSON.parse(readFileSync(file(), "utf8"))).toEqual(demo);
  expect(statSync(file()).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(["demo.json"]);
  return demo;
}

/** Of every start its own. */
const links = {
  portal_sign_in: expect.stringContaining("/portal/sign-in#link="),
  console_sign_in: expect.stringContaining("/console/sign-in#link="),
};

test("a start that was killed before it wrote the file down is made good by the next", async () => {
  const { merchantId } = await service.app.merchants.create("Kopi Gerbang");
  const demo = await expectWorks(await prepare());
  expect(demo.merchant_id).toBe(merchantId);
  const [key] = await service.app.merchants.credentials.list({ merchantId }, undefined, 1);
  expect(key).toMatchObject({ clientId: demo.client_id, name: "demo" });
  expect(await prepare()).toEqual({ ...demo, ...links });
});

test.each([
  ["missing", undefined],
  ["empty", ""],
  ["torn", '{"base_url":"http://127.0.0.1:1/v1","client_id":"ak_test_'],
  ["of another shape", '{"merchant_id":"mer_1"}'],
])("credentials are issued again where the file is %s, for the same merchant", async (_name, text) => {
  const first = await expectWorks(await prepare());
  if (text === undefined) rmSync(file());
  else writeFileSync(file(), text);
  const again = await expectWorks(await prepare());
  expect(again.merchant_id).toBe(first.merchant_id);
  expect(again.client_id).not.toBe(first.client_id);
  const webhook = await service.app.merchants.webhook({ merchantId: first.merchant_id, environment: "sandbox" });
  expect(webhook?.previousUntil).toBeDefined();
});

test("a whole file is kept as it is but for the addresses and the link", async () => {
  const first = await expectWorks(await prepare());
  writeFileSync(file(), JSON.stringify({ ...first, base_url: "http://127.0.0.1:1/v1" }));
  const again = await prepare();
  expect(again).toEqual({ ...first, ...links });
  expect(again?.portal_sign_in).not.toBe(first.portal_sign_in);
});

test("a database with merchants of its own gets no demo merchant", async () => {
  const own = await startService({ roles: ["api"] });
  try {
    await own.merchant({ name: "Warung" });
    expect(await prepareDemo(own.app, folder, addressesOf(own), "op_token")).toBeUndefined();
    expect(readdirSync(folder)).toEqual([]);
  } finally {
    await own.stop();
  }
});

test("the secrets of a development are written whole, and a damaged file is named, not replaced", () => {
  const config = readConfig({ GERBANG_DATA: folder });
  const made = readSecrets(config);
  expect(readSecrets(config)).toEqual(made);
  expect(readdirSync(folder)).toEqual(["secrets.json"]);
  expect(statSync(join(folder, "secrets.json")).mode & 0o777).toBe(0o600);
  writeFileSync(join(folder, "secrets.json"), '{"masterKey":"ab');
  expect(() => readSecrets(config)).toThrow(ConfigError);
  expect(() => readSecrets(config)).toThrow(/secrets\.json is damaged/);
});

const REMEDY = "Start as the user it belongs to; GERBANG_DATA names another folder.";

test.runIf(process.getuid?.() === 0)(
  "data of another user are not called damaged or missing: this user may not read them",
  async () => {
    const config = readConfig({ GERBANG_DATA: folder });
    readSecrets(config);
    chmodSync(folder, 0o711);
    process.seteuid?.(65_534);
    try {
      expect(() => readSecrets(config)).toThrow(/^EACCES/);
      const failure = await withDatabase(config, () => Promise.resolve(0)).catch(explain);
      expect(failure).toBe(`${folder} cannot be used: this user may not. ${REMEDY}`);
    } finally {
      process.seteuid?.(0);
    }
  },
);
