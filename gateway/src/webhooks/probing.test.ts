// Goal: what is said of the secret before a rotation is what was found out, and finding out costs no delivery anything. Method: a
// service before TLS receivers that verify with the library `standardwebhooks`, by the new secret or by the old one alone.
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Answer } from "../../../e2e/kit/client.ts";
import type { Received } from "../../../e2e/kit/receiver.ts";
import {
  type Shop,
  answers,
  at,
  attempts,
  create,
  ids,
  pause,
  rig,
  awaitAttempts,
  shop,
  startRig,
  stopRig,
  timing,
} from "../../test/event-rig.ts";
import { asOwner } from "../../test/kit.ts";
import { SECOND, systemClock } from "../ground/clock.ts";
import { uuidOf } from "../ground/ids.ts";

beforeAll(startRig);
afterAll(stopRig);

let number = 0;

/** A merchant whose secret was rotated, and whose receiver answers by what `verdict` says of a delivery under each secret. */
async function rotated(verdict: (by: { old: boolean; fresh: boolean }) => number): Promise<{ of: Shop; path: string }> {
  const path = `/200/rotated-${number++}`;
  const of = await shop(rig.service, path);
  const book = { merchantId: of.merchantId, environment: "sandbox" } as const;
  const fresh = (await rig.service.app.merchants.rotateWebhook(book, 3_600)) ?? "";
  answers.set(path, (delivery, response) => {
    const by = { old: verifies(of.secret, delivery), fresh: verifies(fresh, delivery) };
    response.writeHead(verdict(by)).end();
  });
  return { of, path };
}

function verifies(secret: string, { body, headers }: Received): boolean {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}

/** As if the first minute after the rotation were over. */
const itIsTime = ({ merchantId }: Shop): Promise<unknown> =>
  asOwner(rig.service.database, (owner) =>
    owner.query(
      "update webhook_endpoints set probe_at = now() where merchant_id = $1::uuid and environment = 'sandbox'",
      [uuidOf(merchantId)],
    ),
  );
const nextProbe = async ({ merchantId }: Shop): Promise<number> => {
  const { rows } = await asOwner(rig.service.database, (owner) =>
    owner.query<{ seconds: number }>(
      "select extract(epoch from probe_at - now())::float8 as seconds from webhook_endpoints where merchant_id = $1::uuid and environment = 'sandbox'",
      [uuidOf(merchantId)],
    ),
  );
  return rows[0]?.seconds ?? 0;
};
const previous = async ({ merchantId }: Shop): Promise<Answer["json"]> =>
  (await rig.service.operate("GET", `/merchants/${merchantId}/webhook?environment=sandbox`)).previous;
const signatures = ({ headers }: Received): number => String(headers["webhook-signature"]).split(" ").length;

async function deliver(of: Shop, tries = 1): Promise<string> {
  await create(of.client);
  const [id = ""] = await ids(of);
  await awaitAttempts(of, id, "delivered", tries);
  return id;
}

test("a receiver that still needs the old secret gets both at once, and it is on record that it did", async () => {
  const { of, path } = await rotated(({ old }) => (old ? 200 : 401));
  await itIsTime(of);
  const id = await deliver(of);
  expect(at(path).map(signatures)).toEqual([1, 2]);
  expect(at(path).map(({ headers }) => headers["x-svc-delivery-attempt"])).toEqual(["1", "1"]);
  const [attempt] = (await attempts(of, id)).data;
  expect(attempt).toMatchObject({ attempt: 1, succeeded: true, status: 200 });
  expect(attempt.note).toMatch(
    /^First sent with the signature of the new secret alone, .*: answered 401 in \d+ ms\. Then, at once, with both\.$/,
  );
  await vi.waitFor(async () => expect((await previous(of)).last_needed_at).toMatch(/Z$/), 30_000);
  expect((await previous(of)).last_not_needed_at).toBeNull();
  // Not so soon again: a refusal may wake somebody.
  expect(await nextProbe(of)).toBeGreaterThan(500);
  const second = await deliver(of);
  expect(at(path).map(signatures)).toEqual([1, 2, 2]);
  expect((await attempts(of, second)).data[0].note).toBeNull();
});

test("a receiver that has changed over is noticed with one delivery, and asked again after a minute", async () => {
  const { of, path } = await rotated(({ fresh }) => (fresh ? 200 : 401));
  await itIsTime(of);
  await deliver(of);
  await Promise.all([create(of.client), create(of.client)]);
  await vi.waitFor(() => expect(at(path)).toHaveLength(3), 30_000);
  expect(at(path).filter((delivery) => signatures(delivery) === 1)).toHaveLength(1);
  await vi.waitFor(async () => expect((await previous(of)).last_not_needed_at).toMatch(/Z$/), 30_000);
  await vi.waitFor(async () => expect((await previous(of)).last_accepted_at).toMatch(/Z$/), 30_000);
  expect((await previous(of)).last_needed_at).toBeNull();
  const wait = await nextProbe(of);
  expect([wait > 40, wait <= 60]).toEqual([true, true]);
});

test("a receiver that refuses either has said nothing about secrets, and its event has used up one attempt", async () => {
  const { of, path } = await rotated(() => 500);
  await itIsTime(of);
  await create(of.client);
  const [id = ""] = await ids(of);
  await awaitAttempts(of, id, "pending", 1);
  expect(at(path).map(signatures)).toEqual([1, 2]);
  expect((await attempts(of, id)).data).toMatchObject([{ attempt: 1, succeeded: false, status: 500 }]);
  await pause(3 * timing.rotationMs);
  expect(await previous(of)).toMatchObject({ last_needed_at: null, last_not_needed_at: null });
});

test("in the first minute after a rotation, and without one, nothing is tried", async () => {
  const { of, path } = await rotated(({ old }) => (old ? 200 : 401));
  await deliver(of);
  expect(at(path).map(signatures)).toEqual([2]);
  expect(await nextProbe(of)).toBeGreaterThan(30);
  const still = await shop(rig.service, "/200/never-rotated");
  await deliver(still);
  expect(at("/200/never-rotated").map(signatures)).toEqual([1]);
});

test("a turn is taken once, whoever asks", async () => {
  const { of } = await rotated(() => 200);
  await itIsTime(of);
  const book = { merchantId: of.merchantId, environment: "sandbox" } as const;
  const { merchants } = rig.service.app;
  const next = systemClock.now() + 60 * SECOND;
  const turns = await Promise.all(Array.from({ length: 10 }, () => merchants.takeProbe(book, next)));
  expect(turns.filter(({ taken }) => taken)).toHaveLength(1);
  expect(new Set(turns.map((turn) => turn.next))).toEqual(new Set([next]));
  const other = { merchantId: of.merchantId, environment: "production" } as const;
  expect((await merchants.takeProbe(other, next)).taken).toBe(false);
});
