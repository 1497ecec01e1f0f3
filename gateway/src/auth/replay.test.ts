// Goal: a write's signature is used up before its answer leaves, whatever the answer, for every process and across restarts; and what only
// needs a moment is forgotten when its moment is over. Method: captured requests sent again under other keys to services that come and go.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Answer, Client } from "../../../e2e/kit/client.ts";
import { failStatements } from "../../test/failing-statements.ts";
import { type TestService, asOwner, cloneDatabase, openDatabase, paymentBody, startService } from "../../test/kit.ts";
import { MINUTE, SECOND, systemClock } from "../ground/clock.ts";
import { uuidOf } from "../ground/ids.ts";
import { emptyDeadSlots } from "./nonces.ts";
import { SLOTS } from "./nonces.sql.ts";

let service: TestService;
beforeAll(async () => {
  service = await startService({ roles: ["api"] });
});
afterAll(() => service.stop());

const outcome = ({ status, json }: Answer): string => (status < 300 ? `${status}` : `${status} ${json.error.code}`);

/** A signed write that can be sent again, byte for byte, to any instance, path and key. */
function captured(by: Client, path: string, body: unknown): (to: TestService, key?: string) => Promise<string> {
  const text = JSON.stringify(body);
  const headers = { ...by.headers(text), "content-type": "application/json", "idempotency-key": crypto.randomUUID() };
  return async (to, key) =>
    outcome(
      await new Client({ ...by.credentials, base_url: `${to.origin}/v1` }).send("POST", path, text, {
        ...headers,
        ...(key === undefined ? {} : { "idempotency-key": key }),
      }),
    );
}

/** Another process on the same database, as after a restart: it remembers nothing by itself. */
async function restarted<T>(work: (next: TestService) => Promise<T>): Promise<T> {
  const next = await startService({ database: service.database, roles: ["api"] });
  try {
    return await work(next);
  } finally {
    await next.stop();
  }
}

test("a retry that was answered from its key uses its signature up: captured, it refunds nothing after a restart", async () => {
  const { client } = await service.merchant();
  for (let count = 0; count < 2; count++) {
    const { json } = await client.post("/v1/payments", paymentBody({ amount_minor: 1_000_000 }));
    await client.post(`/v1/sandbox/payments/${json.reference}/simulate`, { outcome: "succeeded" });
  }
  const { json: payment } = await client.get("/v1/payments?limit=1");
  const refund = { payment_reference: payment.data[0].reference, amount_minor: 1_000 };
  const key = crypto.randomUUID();
  expect(outcome(await client.post("/v1/refunds", refund, { key }))).toBe("201");
  const retry = captured(client, "/v1/refunds", refund);
  expect(await retry(service, key)).toBe("200");
  expect(await restarted((next) => retry(next, "the-key-of-a-thief"))).toBe("401 SIGNATURE_REPLAYED");
  const { json } = await client.get(`/v1/payments/${refund.payment_reference}`);
  expect(json.refunded_minor).toBe(1_000);
});

test.each<
  [string, number, (client: Client, merchantId: string) => Promise<(to: TestService, key?: string) => Promise<string>>]
>([
  ["422 VALIDATION_ERROR", 422, async (client) => captured(client, "/v1/payments", paymentBody({ nonsense: true }))],
  [
    "403 FORBIDDEN",
    403,
    async (_client, merchantId) =>
      captured(await service.client(merchantId, "sandbox", ["payments:read"]), "/v1/payments", paymentBody()),
  ],
  [
    "429 RATE_LIMITED",
    429,
    async (client, merchantId) => {
      await service.app.merchants.patch(merchantId, { rate_limit_per_minute: 1 });
      await client.get("/v1/balances");
      return captured(client, "/v1/payments", paymentBody());
    },
  ],
])(
  "a write that was answered %s has used its signature up, here and after a restart",
  async (answer, _status, make) => {
    const { client, merchantId } = await service.merchant();
    const send = await make(client, merchantId);
    expect(await send(service)).toBe(answer);
    expect(await send(service, "another-key")).toBe("401 SIGNATURE_REPLAYED");
    expect(await restarted((next) => send(next, "one-more-key"))).toBe("401 SIGNATURE_REPLAYED");
  },
);

test("a write that fails for a reason that nobody foresaw uses its signature up, too", async () => {
  const { client, merchantId } = await service.merchant();
  await asOwner(service.database, async (owner) => {
    await owner.query(`create function break_down() returns trigger language plpgsql as $$ begin raise exception 'broken' using errcode = 'XX000'; end $$;
create trigger broken before insert on payments for each row when (new.reference_id = 'broken-${merchantId}') execute function break_down()`);
  });
  const send = captured(client, "/v1/payments", paymentBody({ reference_id: `broken-${merchantId}` }));
  expect(await send(service)).toBe("500 INTERNAL_ERROR");
  expect(await send(service)).toBe("401 SIGNATURE_REPLAYED");
  expect(await restarted((next) => send(next, "another-key"))).toBe("401 SIGNATURE_REPLAYED");
});

test("a replayed signature costs the client none of its quota", async () => {
  const { client } = await service.merchant({ settings: { rate_limit_per_minute: 50 } });
  const send = captured(client, "/v1/payments", paymentBody());
  expect(await send(service)).toBe("201");
  for (let count = 0; count < 5; count++) expect(await send(service, `thief-${count}`)).toBe("401 SIGNATURE_REPLAYED");
  await client.get("/v1/balances"); // what was taken back is written with it
  const after = await client.get("/v1/balances");
  expect(Number(after.headers.get("x-ratelimit-remaining"))).toBe(50 - 3);
});

test("replays in bursts, more than the quota at once, leave the client its quota", async () => {
  const { client } = await service.merchant({ settings: { rate_limit_per_minute: 100 } });
  const send = captured(client, "/v1/payments", paymentBody());
  expect(await send(service)).toBe("201");
  const burst = (): Promise<string[]> => Promise.all(Array.from({ length: 150 }, async () => send(service)));
  const bursts = Promise.all([burst(), burst().then(burst)]);
  const reads = new Set<string>();
  for (let limit = 1; limit <= 60; limit++) reads.add(outcome(await client.get(`/v1/payments?limit=${limit}`)));
  expect(reads).toEqual(new Set(["200"]));
  expect(new Set((await bursts).flat())).toEqual(new Set(["401 SIGNATURE_REPLAYED"]));
});

test("a request that failed before its signature was used up may come again as it was, a write and a read", async () => {
  const { client } = await service.merchant();
  const write = captured(client, "/v1/payments", paymentBody());
  const headers = client.headers("");
  const read = async (): Promise<string> => outcome(await client.send("GET", "/v1/balances", undefined, headers));
  const broken = failStatements(service.app.database.pool, "53100", (text) => /used_(read_)?nonces/.test(text));
  expect(await write(service)).toBe("503 SERVICE_UNAVAILABLE");
  expect(await read()).toBe("503 SERVICE_UNAVAILABLE");
  broken.restore();
  expect(await write(service)).toBe("201");
  expect(await read()).toBe("200");
  expect([await write(service), await read()]).toEqual(["401 SIGNATURE_REPLAYED", "401 SIGNATURE_REPLAYED"]);
});

test("slots are emptied when their minutes are over, and not before", async () => {
  const { merchantId } = await service.merchant();
  const now = Math.floor(Date.now() / 1_000);
  const ages = [-660, -300, 0, 60, 119, 250, 400, 1_000_000];
  await asOwner(service.database, async (owner) => {
    for (const table of ["used_nonces", "used_read_nonces"]) {
      for (const age of ages)
        await owner.query(`insert into ${table} values (($2::bigint / 60) % ${SLOTS}, $1, $2, gen_random_uuid())`, [
          uuidOf(merchantId),
          now - age,
        ]);
    }
  });
  const database = openDatabase(service.database);
  await emptyDeadSlots(database, systemClock);
  await database.end();
  const left = await asOwner(service.database, async (owner) => {
    const { rows } = await owner.query<{ age: number }>(
      "select ($2::bigint - valid_until)::int as age from used_nonces where merchant_id = $1 order by age",
      [uuidOf(merchantId), now],
    );
    return rows.map(({ age }) => age);
  });
  // What is a million seconds old lies wherever it lies: it is emptied when its slot is dead again.
  expect(left.filter((age) => age < 1_000_000)).toEqual([-660, -300, 0, 60, 119]);
});

test("a process that was paused between its look and its deletion keeps a slot that is in use again", async () => {
  const { merchantId } = await service.merchant();
  const ended = Math.floor(systemClock.now() / SECOND) - 300;
  const rows = `used_nonces where merchant_id = '${uuidOf(merchantId)}' and valid_until = ${ended}`;
  await asOwner(service.database, (owner) =>
    owner.query(`insert into used_nonces values ((${ended} / 60) % ${SLOTS}, $1, ${ended}, gen_random_uuid())`, [
      uuidOf(merchantId),
    ]),
  );
  const count = async (): Promise<number | null> =>
    asOwner(service.database, async (owner) => (await owner.query(`select from ${rows}`)).rowCount);
  const database = openDatabase(service.database);
  let looks = 0;
  await emptyDeadSlots(database, { now: () => systemClock.now() + (looks++ === 0 ? 0 : 20 * MINUTE) });
  expect(await count()).toBe(1);
  await emptyDeadSlots(database, systemClock);
  expect(await count()).toBe(0);
  await database.end();
});

test.each(["1 hour", "-1 hour", "30 minutes", "3 days 13 hours"])(
  "while the database's clock is wrong by %s no signature that counts is forgotten",
  async (jump) => {
    const place = await cloneDatabase();
    const merchantId = crypto.randomUUID();
    const now = Math.floor(systemClock.now() / 1e6);
    await asOwner(place, async (owner) => {
      // A signature of each minute in which one can end.
      await owner.query(
        `insert into used_nonces select (ends / 60) % ${SLOTS}, $1, ends, gen_random_uuid()
         from generate_series($2::bigint, $2::bigint + 600, 60) as ends`,
        [merchantId, now],
      );
      await owner.query("create schema wrong");
      await owner.query(`create function wrong.clock_timestamp() returns timestamptz stable language sql
        return pg_catalog.clock_timestamp() + interval '${jump}'`);
      await owner.query("grant usage on schema wrong to public");
      await owner.query(`alter database ${place.name} set search_path = wrong, pg_catalog, public`);
    });
    const database = openDatabase(place);
    const [clock] = await database.query<{ ahead: boolean }>({
      text: "select clock_timestamp() <> pg_catalog.clock_timestamp() as ahead",
    });
    expect(clock?.ahead).toBe(true);
    await emptyDeadSlots(database, systemClock);
    await database.end();
    const { rowCount } = await asOwner(place, (owner) => owner.query("select from used_nonces"));
    expect(rowCount).toBe(11);
  },
);
