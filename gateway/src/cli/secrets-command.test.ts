// Goal: the master key can be replaced while the service runs, and nothing that it has sealed is lost on the way. Method: the steps of the guide, on
// one database: services with the keys of each step, and the command.
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { Client } from "../../../e2e/kit/client.ts";
import { gerbangHere } from "../../../e2e/kit/command-here.ts";
import {
  type TestDatabase,
  type TestService,
  cloneDatabase,
  openDatabase,
  paymentBody,
  startService,
} from "../../test/kit.ts";
import { PeopleRig } from "../../test/people.ts";
import { joins } from "../../test/portal.ts";
import { Vault } from "../ground/crypto.ts";
import { sealedColumns } from "../sealed-columns.ts";
import { selectSealedOtherwise } from "../store/seals.sql.ts";

const [OLD, NEW, LOST] = [1, 2, 3].map(() => randomBytes(32).toString("hex")) as [string, string, string];

let database: TestDatabase;
const running: TestService[] = [];
beforeAll(async () => {
  database = await cloneDatabase();
});
afterAll(() => Promise.all(running.map((service) => service.stop())));

const started = async (masterKey: string, secondMasterKey?: string): Promise<TestService> => {
  const service = await startService({ database, masterKey, ...(secondMasterKey && { secondMasterKey }) });
  running.push(service);
  return service;
};
/** The same client, at another process. */
const at = ({ credentials }: Client, { origin }: TestService): Client =>
  new Client({ ...credentials, base_url: `${origin}/v1` });
const secrets = (what: string, masterKey: string, second?: string) =>
  gerbangHere(["secrets", what], {
    DATABASE_URL: database.url,
    MASTER_KEY: masterKey,
    OPERATOR_TOKEN: "op_token_of_the_tests_0123456789",
    ...(second && { MASTER_KEY_SECOND: second }),
  });

/** All seals, in no order. */
const seals = async (): Promise<string[]> => {
  const all = openDatabase(database);
  try {
    const rows = await all.pipeline(sealedColumns.map((column) => selectSealedOtherwise(column, Buffer.of(0), 1_000)));
    return rows.flat().map(({ sealed }) => (sealed as Buffer).toString("hex"));
  } finally {
    await all.end();
  }
};

test("a master key is replaced step by step, and every secret opens at each step", async () => {
  const customer = { name: "Sari", email: "sari@pelanggan.id" };
  const first = await started(OLD);
  const { client, merchantId } = await first.merchant();
  await first.app.merchants.rotateWebhook({ merchantId, environment: "sandbox" }, 3_600);
  const before = (await client.post("/v1/payments", paymentBody({ customer, payment_method: "ewallet" }))).json;
  const page = new URL(before.instructions.redirect_url as string).pathname;
  const people = openDatabase(database);
  const rig = new PeopleRig(people, { vault: new Vault(OLD) });
  const person = await rig.joined(merchantId);
  const { secret } = await rig.authenticator(person);

  // The new key first opens only, so that no process meets a seal that it cannot open; then it seals.
  const second = await started(OLD, NEW);
  const third = await started(NEW, OLD);
  for (const maker of [second, third]) {
    const made = await maker.client(merchantId);
    for (const server of [second, third])
      expect((await at(made, server).get("/v1/balances")).status, "a key made by the other").toBe(200);
  }
  for (const server of [second, third]) {
    expect((await at(client, server).get("/v1/balances")).status).toBe(200);
    expect((await fetch(server.origin + page)).status, "a payer's page of the old key").toBe(200);
  }

  const waiting = await secrets("status", NEW, OLD);
  expect(waiting.stderr).toContain(`MASTER_KEY is key ${new Vault(NEW).ids[0]}, MASTER_KEY_SECOND is key `);
  expect(waiting.stderr).toMatch(/secrets are sealed with another key: reseal them\.$/m);
  expect(waiting.code).toBe(1);
  expect(waiting.stdout).toContain('{"table":"persons","column":"totp_sealed","current":0,"other":1,"unknown":0}');
  const resealed = await secrets("reseal", NEW, OLD);
  expect([resealed.stderr, resealed.code]).toEqual([expect.stringContaining("credentials: "), 0]);
  expect(resealed.stderr).toMatch(/^Two days after the last restart .* take MASTER_KEY_SECOND away/m);
  expect((await secrets("status", NEW)).code).toBe(0);
  expect((await secrets("reseal", NEW)).stderr).not.toMatch(/sealed again|MASTER_KEY_SECOND/);

  // A process of the step before meets the new seals.
  expect((await at(client, second).get("/v1/balances")).status).toBe(200);
  const last = await started(NEW);
  const mine = at(client, last);
  expect((await mine.post("/v1/payments", paymentBody({ customer }))).status).toBe(201);
  const owner = await joins(last, merchantId);
  const story = await owner.get(`/portal/v1/payments/${before.reference as string}/story`);
  expect(story.json.payment.customer).toEqual(customer);
  const signIn = new PeopleRig(people, { vault: new Vault(NEW) });
  signIn.ahead = 60_000_000;
  await signIn.tokenOf(person, signIn.code(secret));
  await people.end();

  await expect(startService({ database, masterKey: OLD })).rejects.toThrow("MASTER_KEY does not open");
});

test("a process that lacks the key of a secret says so, and is no failure of the service", async () => {
  const place = await cloneDatabase();
  const log: string[] = [];
  const logged = { logLevel: "error", logTo: { write: (line: string) => void log.push(line) } } as const;
  const before = await startService({ database: place, masterKey: OLD, ...logged });
  const ahead = await startService({ database: place, masterKey: NEW, secondMasterKey: OLD }); // the first step was left out
  running.push(before, ahead);
  const health = async (): Promise<number> => (await fetch(`${before.origin}/v1/health`)).status;
  await vi.waitFor(async () => expect(await health()).toBe(200), 30_000);
  const { client } = await ahead.merchant();
  for (const lost of [await at(client, before).get("/v1/balances"), await at(client, before).post("/v1/payments", {})])
    expect([lost.status, lost.json.error.code, lost.headers.get("retry-after")]).toEqual([
      503,
      "SERVICE_UNAVAILABLE",
      "1",
    ]);
  const keys = log.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(keys).toMatchObject([
    { key_id: new Vault(NEW).ids[0], msg: "a master key is missing here that has sealed secrets" },
  ]);
  await vi.waitFor(async () => expect(await health()).toBe(503), 30_000);
  expect((await at(client, ahead).get("/v1/balances")).status).toBe(200);
});

test("with a wrong key nothing starts, and nothing is sealed anew", async () => {
  const before = await seals();
  expect(before.length).toBeGreaterThan(5);
  const { code, stderr } = await secrets("reseal", LOST);
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^MASTER_KEY does not open \d+ of the secrets/)]);
  expect((await secrets("status", LOST)).code).toBe(1);
  expect(await seals()).toEqual(before);
});

test("the guide's commands are these, and its payer can be erased", async () => {
  const guide = readFileSync(new URL("../../../docs/guides/secrets.md", import.meta.url), "utf8");
  expect([...guide.matchAll(/npx gerbang (.+)/g)].map(([, words]) => words)).toEqual([
    "secrets reseal",
    "secrets status",
  ]);
  const [, path = "", body = ""] = /"\$OPS(\S+)"[^]*?-d '(.+)'/.exec(guide) ?? [];
  const service = await started(NEW);
  const { merchantId } = await service.merchant();
  const answer = await service.operate("POST", path.replace("$MERCHANT", merchantId), JSON.parse(body));
  expect(answer).toEqual({ erased_payments: 0, complete: true });
});
