// Goal: people register where events go, change what signs them without losing one, and see how every delivery went. Method: browsers as far as
// their requests go, a service that delivers, and a TLS receiver that answers as it is told.
import { readFileSync } from "node:fs";
import tls from "node:tls";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { Answer } from "../../../e2e/kit/client.ts";
import { type Certificates, type Received, Receiver, makeCertificates } from "../../../e2e/kit/receiver.ts";
import { timing } from "../../test/event-rig.ts";
import { type Browser, joins } from "../../test/portal.ts";
import { type TestService, asOwner, startService } from "../../test/kit.ts";

const trusted = tls.getCACertificates("default");
let certificates: Certificates;
let receiver: Receiver;
let service: TestService;
let merchantId: string;
let owner: Browser;
let path: string;
let numbers = 0;

beforeAll(async () => {
  certificates = await makeCertificates();
  tls.setDefaultCACertificates([...trusted, readFileSync(certificates.caFile, "utf8")]);
  receiver = await Receiver.start(certificates);
  service = await startService({ config: { webhookAllowHosts: new Set(["localhost"]) }, timing });
});
afterAll(async () => {
  await service.stop();
  await receiver.close();
  tls.setDefaultCACertificates(trusted);
});
beforeEach(async () => {
  ({ merchantId } = await service.merchant());
  owner = await joins(service, merchantId);
  path = `/shop${++numbers}`;
});

const webhook = "/portal/v1/webhook";
const deliveries = "/portal/v1/deliveries";
const outcome = ({ status, json }: Answer): string => `${status} ${json?.error?.code ?? ""}`.trim();
const register = (): Promise<Answer> => owner.send("PUT", webhook, { url: receiver.url(path) });
const arrived = (): Received[] => receiver.received.filter((one) => one.path === path);
const trigger = async (type = "payment.succeeded"): Promise<string> => {
  const before = arrived().length;
  const answer = await owner.post("/portal/v1/sandbox/events/trigger", { type });
  await vi.waitFor(() => expect(arrived().length).toBeGreaterThan(before), 30_000);
  return answer.json.event_id as string;
};
const listed = async (count: number, query = ""): Promise<Answer["json"]> =>
  vi.waitFor(async () => {
    const { json } = await owner.get(`${deliveries}${query}`);
    expect(json.data).toHaveLength(count);
    return json;
  }, 30_000);

describe("the address", () => {
  test("is in the audit without its path and query, which may hold a secret", async () => {
    expect((await owner.send("PUT", webhook, { url: `${receiver.url(path)}?token=hidden` })).status).toBe(200);
    const { json, text } = await owner.get("/portal/v1/audit?limit=1");
    expect(json.data[0]).toMatchObject({
      action: "set_webhook_address",
      details: { origin: new URL(receiver.url("/")).origin },
    });
    expect(text).not.toContain("hidden");
  });

  test("is nowhere first; the first one comes with the secret that signs, later ones without", async () => {
    expect((await owner.get(webhook)).json).toMatchObject({ url: null, previous: null, health: { state: "untried" } });
    const first = await register();
    expect(first.json).toMatchObject({ url: receiver.url(path), webhook_secret: expect.stringMatching(/^whsec_/) });
    await trigger();
    const [delivery] = arrived() as [Received];
    expect(new Webhook(first.json.webhook_secret).verify(delivery.body, delivery.headers as never)).toEqual(
      JSON.parse(delivery.body),
    );
    expect((await register()).json.webhook_secret).toBeNull();
    expect((await owner.get(webhook)).text).not.toContain("whsec_");
  });

  test.each([
    "http://shop.example",
    "https://10.0.0.1/",
    "https://user:pass@shop.example/",
    "https://localhost.localdomain/",
    "javascript:alert(1)",
    "x",
  ])("%s is refused at its field", async (url) => {
    const answer = await owner.send("PUT", webhook, { url });
    expect([outcome(answer), answer.json.error.details.field]).toEqual(["422 VALIDATION_ERROR", "url"]);
  });

  test("belongs to its environment, and to those whose role allows it, with a fresh proof in production", async () => {
    await register();
    owner.environment = "production";
    expect((await owner.get(webhook)).json.url).toBeNull();
    await asOwner(service.database, (root) =>
      root.query("update sessions set proved_at = proved_at - interval '11 minutes'"),
    );
    expect(outcome(await register())).toBe("403 PROOF_REQUIRED");
    expect(outcome(await owner.post(`${webhook}/rotate`))).toBe("403 PROOF_REQUIRED");
    const support = await joins(service, merchantId, "support");
    expect((await support.get(webhook)).status).toBe(200);
    expect(outcome(await support.send("PUT", webhook, { url: "https://shop.example/" }))).toBe("403 FORBIDDEN");
    expect(outcome(await (await joins(service, merchantId, "finance")).get(deliveries))).toBe("403 FORBIDDEN");
  });
});

test("a rotated secret and the one before sign together, until the one before is retired", async () => {
  const { webhook_secret: old } = (await register()).json;
  const rotated = await owner.post(`${webhook}/rotate`, { overlap_seconds: 3_600 });
  expect(rotated.json.webhook_secret).not.toBe(old);
  expect(rotated.json.previous.until).toMatch(/Z$/);
  await trigger();
  expect(String(arrived().at(-1)?.headers["webhook-signature"]).split(" ")).toHaveLength(2);
  await vi.waitFor(async () => expect((await owner.get(webhook)).json.previous.last_accepted_at).toMatch(/Z$/), 30_000);
  expect((await owner.send("DELETE", `${webhook}/previous`)).json.previous).toBeNull();
  await trigger();
  const last = arrived().at(-1) as Received;
  expect(String(last.headers["webhook-signature"]).split(" ")).toHaveLength(1);
  new Webhook(rotated.json.webhook_secret).verify(last.body, last.headers as never);
  expect(outcome(await owner.send("DELETE", `${webhook}/previous`))).toBe("404 OBJECT_NOT_FOUND");
});

describe("deliveries", () => {
  test("are listed by attempt, newest first, whichever event they are of; a failed one whole, then sent again", async () => {
    await register();
    const first = await trigger("refund.succeeded");
    await listed(1);
    const { answer } = receiver;
    receiver.answer = (_delivery, response) => void response.writeHead(503).end("<img src=x onerror=alert(1)>");
    const second = await trigger("payment.expired");
    receiver.answer = answer;
    await listed(2);
    await owner.post(`/portal/v1/events/${first}/resend`);
    const { data } = await listed(3);
    expect(data.map(({ id }: { id: string }) => id)).toEqual([`${first}-2`, `${second}-1`, `${first}-1`]);
    expect(data[1]).toMatchObject({ type: "payment.expired", status: 503, succeeded: false, url: receiver.url(path) });
    const { data: failed } = await listed(1, "?outcome=failed");
    expect(failed[0].event_id).toBe(second);
    const whole = await owner.get(`${deliveries}/${second}-1`);
    expect(whole.json).toMatchObject({
      type: "payment.expired",
      request: { url: receiver.url(path), headers: { "webhook-id": second } },
      response: { body: "<img src=x onerror=alert(1)>", base64: false },
    });
    expect(JSON.parse(whole.json.request.body)).toMatchObject({ id: second, type: "payment.expired" });
    expect((await owner.get(webhook)).json.health).toMatchObject({
      state: "degraded",
      attempts: 3,
      accepted: 2,
      pending: 1,
      undelivered: 0,
      last_failure: expect.stringContaining("503"),
    });
  });

  test("come in pages that end, and within a time", async () => {
    await register();
    for (let n = 0; n < 3; n++) await trigger();
    const { data } = await listed(3);
    const page = await owner.get(`${deliveries}?limit=2`);
    expect(page.json).toMatchObject({ has_more: true, next_cursor: data[1].id });
    const rest = await owner.get(`${deliveries}?limit=2&starting_after=${page.json.next_cursor}`);
    expect(rest.json).toEqual({ data: [data[2]], has_more: false, next_cursor: null });
    expect((await owner.get(`${deliveries}?started_from=2199-01-01`)).json.data).toEqual([]);
    expect((await owner.get(`${deliveries}?started_from=2020-01-01&started_to=2199-01-01`)).json.data).toHaveLength(3);
    for (const query of [
      "started_from=soon",
      "outcome=good",
      "starting_after=x",
      `starting_after=${data[0].event_id}-9`,
    ])
      expect(outcome(await owner.get(`${deliveries}?${query}`)), query).toBe("422 VALIDATION_ERROR");
  });

  test("of another merchant, or of the other environment, are not there", async () => {
    await register();
    const event = await trigger();
    await listed(1);
    const stranger = await joins(service, (await service.merchant()).merchantId);
    expect((await stranger.get(deliveries)).json.data).toEqual([]);
    expect(outcome(await stranger.get(`${deliveries}/${event}-1`))).toBe("404 OBJECT_NOT_FOUND");
    expect(outcome(await stranger.get(`${deliveries}?starting_after=${event}-1`))).toBe("422 VALIDATION_ERROR");
    for (const id of [`${event}-2`, event, "x", `${event}-1-1`, `${event}-01`, "%00"])
      expect(outcome(await owner.get(`${deliveries}/${id}`)), id).toBe("404 OBJECT_NOT_FOUND");
    owner.environment = "production";
    expect(outcome(await owner.get(`${deliveries}/${event}-1`))).toBe("404 OBJECT_NOT_FOUND");
  });
});
