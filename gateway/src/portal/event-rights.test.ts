// Goal: what a merchant is paid out is read by those alone who may read settlements, however it is told: as an event, an attempt or a hit. Method: each
// role in each environment, cell by cell, and keys, on events and attempts of a settlement beside those of a payment.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Answer } from "../../../e2e/kit/client.ts";
import { type TestService, asOwner, startService } from "../../test/kit.ts";
import { joins } from "../../test/portal.ts";
import { newId, uuidOf } from "../ground/ids.ts";
import { systemClock } from "../ground/clock.ts";
import { type Environment, environments } from "../merchants/books.ts";
import { actionsOf, memberRoles } from "../people/roles.ts";

let service: TestService;
let merchantId: string;
/** By environment: the event of a settlement, and that of a payment. */
const told = new Map<Environment, { settlement: string; payment: string }>();

beforeAll(async () => {
  service = await startService({ roles: ["api"] });
  ({ merchantId } = await service.merchant());
  for (const environment of environments)
    told.set(environment, {
      settlement: await tell(environment, "settlement.paid"),
      payment: await tell(environment, "payment.created"),
    });
});
afterAll(() => service.stop());

/** An event with one attempt to deliver it. */
async function tell(environment: Environment, type: string): Promise<string> {
  const id = newId("event", systemClock.now());
  const values = [uuidOf(merchantId), environment, uuidOf(id)];
  const body = {
    id,
    type,
    created_at: "2026-11-23T00:00:00Z",
    environment,
    api_version: "v1",
    data: { net: "a secret" },
  };
  await asOwner(service.database, async (client) => {
    await client.query(
      "insert into events (merchant_id, environment, event_id, type, subject_id, created_at, body) values ($1, $2, $3, $4, $5, now(), $6)",
      [...values, type, randomUUID(), JSON.stringify(body)],
    );
    await client.query(
      "insert into deliveries (merchant_id, environment, event_id, url, state, attempts, next_attempt_at) values ($1, $2, $3, 'https://a.example/', 'undelivered', 1, now())",
      values,
    );
    await client.query(
      "insert into delivery_attempts (merchant_id, environment, event_id, attempt, url, started_at, duration_ms, succeeded, request_headers) values ($1, $2, $3, 1, 'https://a.example/', now(), 1, false, '{}')",
      values,
    );
  });
  return id;
}

const idsOf = ({ json }: Answer, name: string): string[] =>
  ((json.data ?? []) as Record<string, string>[]).map((row) => row[name] ?? "");

describe.each(memberRoles.flatMap((role) => environments.map((environment) => ({ role, environment }))))(
  "a person who is $role in $environment",
  ({ role, environment }) => {
    const may = actionsOf(role, environment);
    const sees = may.has("settlements:read");

    test(`${sees ? "sees" : "does not see"} what a settlement tells`, async () => {
      const browser = await joins(service, merchantId, role, environment);
      const { settlement, payment } = told.get(environment) as { settlement: string; payment: string };
      const both = sees ? [payment, settlement] : [payment];
      const get = (path: string): Promise<Answer> => browser.get(`/portal/v1${path}`);
      const status = async (path: string): Promise<number> => (await get(path)).status;

      const events = await get("/events");
      const filtered = await get("/events?type=settlement.paid");
      expect(idsOf(events, "id")).toEqual(may.has("events:read") ? both : []);
      expect(idsOf(filtered, "id")).toEqual(may.has("events:read") && sees ? [settlement] : []);
      const one = may.has("events:read") && sees ? 200 : 403;
      expect([await status(`/events/${settlement}`), await status(`/events/${settlement}/deliveries`)]).toEqual([
        one,
        one,
      ]);
      expect(await status(`/events/${payment}`)).toBe(may.has("events:read") ? 200 : 403);

      const attempts = await get("/deliveries");
      expect(idsOf(attempts, "event_id")).toEqual(may.has("webhooks:read") ? both : []);
      const owner = await joins(service, merchantId, "owner", environment);
      const whole = (await owner.get("/portal/v1/deliveries")).json.data as { id: string; event_id: string }[];
      const attempt = whole.find(({ event_id: of }) => of === settlement)?.id;
      expect(await status(`/deliveries/${attempt}`)).toBe(may.has("webhooks:read") && sees ? 200 : 403);

      const hits = idsOf(await get(`/search?q=${settlement}`), "id");
      expect(hits).toEqual(may.has("events:read") && sees ? [settlement] : []);
      const resent = await browser.post(`/portal/v1/events/${settlement}/resend`);
      // Not found where it may be: the merchant has no address to send it to.
      expect(resent.status).toBe(may.has("events:write") && sees ? 404 : 403);
      if (!sees)
        for (const answer of [events, filtered, attempts, resent]) expect(answer.text).not.toContain(settlement);
    });
  },
);

test("a key without settlements:read reads all other events", async () => {
  const { settlement, payment } = told.get("sandbox") as { settlement: string; payment: string };
  const narrow = await service.client(merchantId, "sandbox", ["events:read", "events:write"]);
  const wide = await service.client(merchantId, "sandbox", ["events:read", "settlements:read"]);
  expect(idsOf(await narrow.get("/v1/events"), "id")).toEqual([payment]);
  expect(idsOf(await wide.get("/v1/events"), "id")).toEqual([payment, settlement]);
  for (const path of [`/v1/events/${settlement}`, `/v1/events/${settlement}/deliveries`]) {
    expect([(await narrow.get(path)).status, (await wide.get(path)).status], path).toEqual([403, 200]);
  }
  const refused = await narrow.post(`/v1/events/${settlement}/resend`, {});
  expect([refused.status, refused.json.error.message]).toEqual([
    403,
    "This event tells of a settlement: reading it takes settlements:read as well.",
  ]);
});
