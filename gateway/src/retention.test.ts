// Goal: what is over is forgotten, by the right clock, and nothing else. Method: rows of every age, one sweep, count again.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestService, asOwner, openDatabase, paymentBody, startService } from "../test/kit.ts";
import { SECOND, systemClock } from "./ground/clock.ts";
import { uuidOf } from "./ground/ids.ts";
import { DeviceCodes } from "./people/device-codes.ts";
import { peopleExpiredAt } from "./people/people-retention.sql.ts";
import type { Database, Statement } from "./store/database.ts";
import { expiredAt } from "./retention.ts";
import { deleteExpired } from "./store/retention.ts";

let service: TestService;
beforeAll(async () => {
  service = await startService({ roles: ["api"] });
});
afterAll(() => service.stop());

async function sweep(): Promise<void> {
  const database = openDatabase(service.database);
  await deleteExpired(database, expiredAt(systemClock.now()));
  await database.end();
}

const count = (table: string, merchantId: string): Promise<number> =>
  asOwner(service.database, async (client) => {
    const { rows } = await client.query<{ n: number }>(
      `select count(*)::integer as n from ${table} where merchant_id = $1`,
      [uuidOf(merchantId)],
    );
    return rows[0]?.n ?? 0;
  });

test("idempotency keys go after 72 hours of their own book's clock", async () => {
  const [ahead, usual] = [await service.merchant(), await service.merchant()];
  for (const { client } of [ahead, usual]) await client.post("/v1/payments", paymentBody());
  await ahead.client.post("/v1/sandbox/clock/advance", { seconds: 71 * 3600 });
  await sweep();
  expect(await count("idempotency_keys", ahead.merchantId)).toBe(2);
  await ahead.client.post("/v1/sandbox/clock/advance", { seconds: 2 * 3600 });
  await sweep();
  // The key of the payment is 73 hours old by now. Those of the advances count from their ends: two hours, and none.
  expect(await count("idempotency_keys", ahead.merchantId)).toBe(2);
  expect(await count("idempotency_keys", usual.merchantId)).toBe(1);
});

test("an idempotency key stays for 72 hours of the database's clock, also where the process that dated it was a minute behind", async () => {
  const { merchantId } = await service.merchant();
  await asOwner(service.database, (owner) =>
    owner.query(
      `insert into idempotency_keys (merchant_id, environment, idempotency_key, first_seen_at, body_digest, endpoint)
select $1, 'production', 'key-of-' || seconds, now() - interval '72 hours' - make_interval(secs => seconds), sha256('x'), 'POST /v1/payments'
from unnest('{1,50,62}'::integer[]) seconds`,
      [uuidOf(merchantId)],
    ),
  );
  await sweep();
  expect(await count("idempotency_keys", merchantId)).toBe(2);
});

test("rate windows go after ten minutes", async () => {
  const { client, merchantId } = await service.merchant();
  await client.post("/v1/payments", paymentBody());
  const now = Math.floor(systemClock.now() / 1_000_000);
  await asOwner(service.database, async (owner) => {
    await owner.query(
      "insert into rate_windows (merchant_id, client_id, window_start, requests) values ($1, 'old', $2, 5)",
      [uuidOf(merchantId), now - 700],
    );
  });
  await sweep();
  const left = await asOwner(service.database, (owner) =>
    owner.query("select client_id from rate_windows where merchant_id = $1 and client_id = 'old'", [
      uuidOf(merchantId),
    ]),
  );
  expect(left.rowCount).toBe(0);
});

test("what acquirers wrote goes once it is 400 days old, and not before that by a clock that is ahead", async () => {
  const days = [401, 399];
  await asOwner(service.database, async (owner) => {
    for (const age of days) {
      await owner.query(
        `insert into acquirer_messages (merchant_id, environment, operation_id, digest, payment_id, operation_kind, gateway_code, attempt,
  call, about, text, exchanged_at)
values (gen_random_uuid(), 'sandbox', gen_random_uuid(), sha256($1::text::bytea), gen_random_uuid(), 'payment', 'forgotten', 1,
  'open', 'aged', $1::text, now() - make_interval(days => $1::integer))`,
        [age],
      );
      await owner.query(
        `insert into stray_messages (gateway_code, digest, reason, operation_key, first_at, last_at)
values ('forgotten', sha256($1::text::bytea), 'unreadable', '', now() - make_interval(days => $1::integer),
  now() - make_interval(days => $1::integer))`,
        [age],
      );
    }
  });
  const database = openDatabase(service.database);
  await deleteExpired(database, expiredAt(systemClock.now() + 30 * 86_400 * SECOND));
  const left = async (table: string): Promise<number> =>
    (await database.query({ text: `select from ${table} where gateway_code = 'forgotten'` })).length;
  expect([await left("acquirer_messages"), await left("stray_messages")]).toEqual([1, 1]);
  await database.end();
});

test("more than one step's worth is forgotten in one sweep", async () => {
  const { merchantId } = await service.merchant();
  await asOwner(service.database, (owner) =>
    owner.query(
      "insert into rate_windows (merchant_id, client_id, window_start, requests) select $1, 'client ' || n, n, 1 from generate_series(1, 7000) n",
      [uuidOf(merchantId)],
    ),
  );
  await sweep();
  expect(await count("rate_windows", merchantId)).toBe(0);
});

test("what cannot be forgotten keeps nothing else from being forgotten, and is said", async () => {
  const { merchantId } = await service.merchant();
  await asOwner(service.database, (owner) =>
    owner.query(
      "insert into rate_windows (merchant_id, client_id, window_start, requests) select $1, 'client ' || n, n, 1 from generate_series(1, 1200) n",
      [uuidOf(merchantId)],
    ),
  );
  const database = openDatabase(service.database);
  const failing = {
    query: (statement: Statement) =>
      statement.name === "forget idempotency keys" ? Promise.reject(new Error("too slow")) : database.query(statement),
  };
  await expect(deleteExpired(failing as Database, expiredAt(systemClock.now()))).rejects.toThrow("too slow");
  await database.end();
  expect(await count("rate_windows", merchantId)).toBe(0);
});

test("sessions, links, challenges and failures of signing in go once they are over", async () => {
  const { app } = service;
  const { merchantId } = await service.merchant();
  const { token } = await app.people.invitations.invite(merchantId, { role: "owner" }, undefined);
  const person = { email: "old@people.example", name: "Old", password: "kopi tubruk senja 7" };
  const joined = await app.people.invitations.accept(token, person, { address: "192.0.2.1", userAgent: "" });
  if (!("personId" in joined)) return expect.unreachable("joined");
  const origin = { address: "192.0.2.1", userAgent: "" };
  for (let n = 0; n < 2; n++) await app.people.sessions.begin(joined.personId, origin);
  await app.people.links.make(joined.personId, "sign_in");
  await app.people.passkeys.signInOptions(origin);
  const database = openDatabase(service.database);
  const devices = new DeviceCodes({ database, clock: systemClock, credentials: app.merchants.credentials });
  await devices.begin({ name: "laptop", environment: "sandbox" }, origin);
  await expect(app.people.signIn({ email: person.email, password: "wrong" }, origin)).rejects.toThrow();
  const tables = ["sessions", "sign_in_links", "passkey_challenges", "sign_in_failures", "device_codes"];
  const counts = (): Promise<number[]> =>
    asOwner(service.database, async (owner) => {
      const found: number[] = [];
      for (const table of tables) found.push((await owner.query(`select from ${table}`)).rowCount ?? 0);
      return found;
    });
  await sweep();
  // Nor by a clock that is far ahead.
  for (const statement of peopleExpiredAt(systemClock.now() + 30 * 86_400 * SECOND)) await database.query(statement);
  await database.end();
  expect(await counts()).toEqual([2, 1, 1, 3, 1]);
  await asOwner(service.database, async (owner) => {
    await owner.query(`with oldest as (select session_id from sessions limit 1)
      update sessions set created_at = now() - interval '9 days' where session_id in (select session_id from oldest)`);
    await owner.query(
      "update sign_in_links set created_at = now() - interval '3 days', expires_at = now() - interval '2 days'",
    );
    await owner.query("update passkey_challenges set expires_at = now() - interval '1 second'");
    await owner.query(
      "update device_codes set created_at = now() - interval '3 hours', expires_at = now() - interval '2 hours'",
    );
    await owner.query("update sign_in_failures set window_start = window_start - 7200");
  });
  await sweep();
  expect(await counts()).toEqual([1, 0, 0, 0, 0]);
});
