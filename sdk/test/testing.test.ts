// Goal: a merchant's tests have a gateway of their own: real, started once, with a fresh merchant and a clock that can be moved for each test.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { makeCertificates } from "../../e2e/kit/receiver.ts";
import { type TestGateway, startGateway } from "../src/testing.ts";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { handler } from "../src/webhooks.ts";

const directory = join(import.meta.dirname, "../..");
let gateway: TestGateway;
let certificates: Awaited<ReturnType<typeof makeCertificates>>;

beforeAll(async () => {
  certificates = await makeCertificates();
  const env = { NODE_EXTRA_CA_CERTS: certificates.caFile };
  // The test's own time is limit enough for a machine on which everything takes long.
  gateway = await startGateway({ directory, env, startMs: 200_000 });
});
afterAll(() => gateway.stop());

test("merchants do not see each other, and time moves for one alone", async () => {
  const [one, other] = await Promise.all([gateway.merchant(), gateway.merchant({ name: "Another shop" })]);
  const body = { amount_minor: 100_000, currency: "IDR", payment_method: "va", reference_id: "order-1" } as const;
  const { reference } = await one.gerbang.payments.create(body);
  const kept = await other.gerbang.payments.create(body);
  await expect(other.gerbang.payments.get(reference)).rejects.toMatchObject({ code: "PAYMENT_NOT_FOUND" });
  await one.gerbang.sandbox.clock.advance(86_400);
  expect((await one.gerbang.payments.waitFor(reference, "expired")).status).toBe("expired");
  expect((await other.gerbang.payments.get(kept.reference)).status).toBe("pending");
});

test("no batch takes a payment until the test asks for one, whatever midnights pass", async () => {
  const { gerbang } = await gateway.merchant();
  const body = { amount_minor: 100_000, currency: "IDR", payment_method: "qris", reference_id: "order-1" } as const;
  const { reference } = await gerbang.payments.create(body);
  await gerbang.sandbox.payments.simulate(reference, "succeeded");
  await gerbang.sandbox.clock.advance(7 * 86_400);
  expect(await gerbang.settlements.list().take(10)).toEqual([]);
  expect((await gerbang.sandbox.settlements.run()).data).toMatchObject([{ gross_minor: 100_000 }]);
});

test("events arrive at the merchant's own receiver, and are genuine", async () => {
  const seen: string[] = [];
  let secret = "";
  const server = createServer(certificates, (request, response) => {
    const receive = handler({ secrets: secret, on: ({ type }) => void seen.push(type) });
    void receive(request, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const webhookUrl = `https://localhost:${(server.address() as AddressInfo).port}/hook`;
  const { gerbang, webhookSecret = "" } = await gateway.merchant({ webhookUrl });
  secret = webhookSecret;
  const body = { amount_minor: 100_000, currency: "IDR", payment_method: "qris", reference_id: "order-1" } as const;
  const { reference } = await gerbang.payments.create(body);
  await gerbang.sandbox.payments.simulate(reference, "succeeded");
  await expect.poll(() => seen.toSorted(), { timeout: 30_000 }).toEqual(["payment.created", "payment.succeeded"]);
  server.closeAllConnections();
  server.close();
  await once(server, "close");
});

test("a folder that is no checkout is an error that says what to do", async () => {
  const folder = mkdtempSync(join(tmpdir(), "gerbang-nothing-"));
  await expect(startGateway({ directory: folder })).rejects.toThrow("npm ci");
  rmSync(folder, { recursive: true });
});

test("a gateway that cannot start says why", async () => {
  const begun = startGateway({ directory, env: { WEBHOOK_HEADER_PREFIX: "not a header: " } });
  await expect(begun).rejects.toThrow(/did not come up[\s\S]*WEBHOOK_HEADER_PREFIX/);
});

test("a gateway that does not become healthy in time is stopped in order, so that its database ends with it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "gerbang-unhealthy-"));
  const stopped = join(folder, "stopped");
  mkdirSync(join(folder, "gateway/bin"), { recursive: true });
  const program = `
    import { renameSync, writeFileSync } from "node:fs";
    process.on("SIGTERM", () => { writeFileSync(process.env.STOPPED, ""); process.exit(0); });
    const file = process.env.GERBANG_DATA + "/demo.json";
    writeFileSync(file + ".new", JSON.stringify({ base_url: process.env.HEALTH }));
    renameSync(file + ".new", file);
    setInterval(() => undefined, 1_000);`;
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  writeFileSync(join(folder, "gateway/bin/gerbang.js"), program);
  // Its time is over as soon as it has been asked once.
  const clock = vi.spyOn(Date, "now").mockReturnValue(0);
  const health = createHttpServer((_request, response) => {
    clock.mockReturnValue(1_000_000);
    response.writeHead(503).end();
  }).listen(0, "127.0.0.1");
  await once(health, "listening");
  const env = { STOPPED: stopped, HEALTH: `http://127.0.0.1:${(health.address() as AddressInfo).port}` };
  await expect(startGateway({ directory: folder, env })).rejects.toThrow("did not come up");
  clock.mockRestore();
  health.closeAllConnections();
  health.close();
  expect(existsSync(stopped)).toBe(true);
  rmSync(folder, { recursive: true });
});
