// Goal: a secret can be changed without losing a delivery, and what we send is what a published library verifies. Method: a
// service before a TLS receiver, deliveries checked with the library `standardwebhooks` and with the interface's own rule.
import { readFileSync } from "node:fs";
import tls from "node:tls";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Answer } from "../../../e2e/kit/client.ts";
import { type Certificates, type Received, Receiver, isGenuine, makeCertificates } from "../../../e2e/kit/receiver.ts";
import { timing } from "../../test/event-rig.ts";
import { type TestService, asOwner, openDatabase, paymentBody, startService } from "../../test/kit.ts";
import { allCounted } from "../../test/counted.ts";
import { forgetHistory } from "../events/history.ts";
import { SECOND, systemClock } from "../ground/clock.ts";
import { uuidOf } from "../ground/ids.ts";
import { verifyBook } from "../ledger/verify.ts";

const trusted = tls.getCACertificates("default");
const config = { webhookAllowHosts: new Set(["localhost"]) };
let certificates: Certificates;
let receiver: Receiver;
let service: TestService;

beforeAll(async () => {
  certificates = await makeCertificates();
  tls.setDefaultCACertificates([...trusted, readFileSync(certificates.caFile, "utf8")]);
  receiver = await Receiver.start(certificates);
  service = await startService({ config, timing });
});
afterAll(async () => {
  await service.stop();
  await receiver.close();
  tls.setDefaultCACertificates(trusted);
});

const at = (path: string): Received[] => receiver.received.filter((delivery) => delivery.path === path);
const standard = (secret: string, { body, headers }: Received): unknown =>
  new Webhook(secret).verify(body, headers as Record<string, string>);
const signatures = ({ headers }: Received): string[] => String(headers["webhook-signature"]).split(" ");

async function shop(path: string) {
  const { client, merchantId } = await service.merchant();
  const { webhook_secret: secret } = await service.operate("PUT", `/merchants/${merchantId}/webhook`, {
    environment: "sandbox",
    url: receiver.url(path),
  });
  const next = async (): Promise<Received> => {
    const before = at(path).length;
    expect((await client.post("/v1/payments", paymentBody())).status).toBe(201);
    await vi.waitFor(() => expect(at(path)).toHaveLength(before + 1), 30_000);
    return at(path).at(-1) as Received;
  };
  return { client, merchantId, secret: secret as string, next };
}

test("a published library verifies our deliveries as they are", async () => {
  const { secret, next } = await shop("/plain");
  const delivery = await next();
  expect(standard(secret, delivery)).toEqual(JSON.parse(delivery.body));
  expect(delivery.headers["webhook-id"]).toBe(delivery.headers["x-svc-event-id"]);
  expect(delivery.headers["webhook-timestamp"]).toBe(delivery.headers["x-svc-timestamp"]);
  expect(signatures(delivery)).toHaveLength(1);
  expect(() => standard(secret, { ...delivery, body: `${delivery.body} ` })).toThrow(/signature/i);
  expect(isGenuine(delivery, secret)).toBe(true);
});

test("after a rotation either secret verifies, until the overlap is over, and the view says when both were accepted", async () => {
  const { merchantId, secret: old, next } = await shop("/rotate");
  await next();
  const { webhook_secret: fresh } = await service.operate("POST", `/merchants/${merchantId}/webhook/rotate`, {
    environment: "sandbox",
    overlap_seconds: 3600,
  });
  expect(fresh).toMatch(/^whsec_/);
  const during = await next();
  expect(signatures(during)).toHaveLength(2);
  for (const secret of [old, fresh]) expect(standard(secret, during)).toEqual(JSON.parse(during.body));
  // The service's own header has room for one signature: the current secret's.
  expect([isGenuine(during, fresh), isGenuine(during, old)]).toEqual([true, false]);
  const view = (): Promise<Answer["json"]> =>
    service.operate("GET", `/merchants/${merchantId}/webhook?environment=sandbox`);
  await vi.waitFor(async () => expect((await view()).previous.last_accepted_at).toMatch(/Z$/), 30_000);
  // Both signatures were there: which one the receiver verified, nobody knows.
  expect((await view()).previous).toMatchObject({ last_needed_at: null, last_not_needed_at: null });
  await asOwner(service.database, async (owner) => {
    await owner.query(
      "update webhook_endpoints set previous_until = now() where merchant_id = $1 and environment = 'sandbox'",
      [uuidOf(merchantId)],
    );
    await owner.query("update settings_epoch set epoch = epoch + 1");
    await owner.query("update merchants set epoch = (select epoch from settings_epoch) where merchant_id = $1", [
      uuidOf(merchantId),
    ]);
  });
  await vi.waitFor(async () => expect(signatures(await next())).toHaveLength(1), 30_000);
  expect((await view()).previous).toBeNull();
});

test("a rotation without an overlap ends the old secret at once", async () => {
  const { merchantId, secret: old, next } = await shop("/abrupt");
  const path = `/merchants/${merchantId}/webhook`;
  const { webhook_secret: fresh } = await service.operate("POST", `${path}/rotate`, {
    environment: "sandbox",
    overlap_seconds: 0,
  });
  const delivery = await next();
  expect(() => standard(old, delivery)).toThrow(/signature/i);
  expect(standard(fresh, delivery)).toBeDefined();
  expect(signatures(delivery)).toHaveLength(1);
});

test("history is forgotten after its days by the book's clock, what waits is not, and verification knows", async () => {
  const { client, merchantId, next } = await shop("/history");
  await next();
  const { reference } = (await client.post("/v1/payments", paymentBody({ callback_url: receiver.url("/history/own") })))
    .json;
  await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  await vi.waitFor(() => expect(at("/history/own")).toHaveLength(2), 30_000);
  const database = openDatabase(service.database);
  const count = async (table: string): Promise<number> => {
    const [row] = await database.query<{ n: bigint }>({
      text: `select count(*) as n from ${table} where merchant_id = $1::uuid`,
      values: [uuidOf(merchantId)],
    });
    return Number(row?.n);
  };
  await vi.waitFor(async () => expect(await count("delivery_attempts")).toBe(3), 30_000);
  await forgetHistory(database, systemClock.now() + 29 * 86_400 * SECOND, 30);
  expect(await count("events")).toBe(3);
  await asOwner(service.database, (owner) =>
    owner.query(
      "update deliveries set state = 'pending', next_attempt_at = now() + interval '1 year' where merchant_id = $1 and url like '%/history'",
      [uuidOf(merchantId)],
    ),
  );
  await allCounted(database);
  await forgetHistory(database, systemClock.now() + 31 * 86_400 * SECOND, 30);
  expect([await count("events"), await count("deliveries"), await count("delivery_attempts")]).toEqual([1, 1, 1]);
  expect((await verifyBook(database, { merchantId, environment: "sandbox" })).wrong).toBeUndefined();
  await database.end();
});
