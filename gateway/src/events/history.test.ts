// Goal: history is kept as long as it says, for what was tried late and for sandboxes whose clock was moved, and not longer; and
// the round that forgets costs little. Method: a service before a TLS receiver, and rounds of forgetting at chosen moments.
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type Shop,
  advance,
  attempts,
  create,
  events,
  ids,
  outcome,
  register,
  resend,
  rig,
  awaitAttempts,
  shop,
  startRig,
  stopRig,
  written,
} from "../../test/event-rig.ts";
import { allCounted } from "../../test/counted.ts";
import { asOwner, openDatabase } from "../../test/kit.ts";
import { SECOND, systemClock } from "../ground/clock.ts";
import { uuidOf } from "../ground/ids.ts";
import { verifyBook } from "../ledger/verify.ts";
import { Database, type Row, type Statement } from "../store/database.ts";
import { moveWatermarks } from "./history.sql.ts";
import { forgetHistory } from "./history.ts";

const DAY = 86_400;

let database: Database;
beforeAll(async () => {
  await startRig();
  database = openDatabase(rig.service.database);
});
afterAll(async () => {
  await database.end();
  await stopRig();
});

/** A round of forgetting so many days from now. */
async function after(days: number, by: Pick<Database, "query"> = database): Promise<number> {
  await allCounted(by instanceof Database ? by : database);
  return forgetHistory(by as Database, systemClock.now() + days * DAY * SECOND, 30);
}

/** As if the event's attempts had been made so many days from now. */
const attemptedAfter = (id: string, days: number): Promise<unknown> =>
  asOwner(rig.service.database, (owner) =>
    owner.query(
      "update delivery_attempts set started_at = now() + make_interval(days => $2) where event_id = $1::uuid",
      [uuidOf(id), days],
    ),
  );

async function delivered(of: Shop): Promise<string> {
  await create(of.client);
  const [id = ""] = await ids(of);
  await awaitAttempts(of, id, "delivered", 1);
  return id;
}

const verified = async ({ merchantId }: Shop): Promise<string | undefined> =>
  (await verifyBook(database, { merchantId, environment: "sandbox" })).wrong;

test("an event that was tried again on its 29th day is kept until 30 days after that, with all its attempts", async () => {
  const of = await shop(rig.service, "/200/late");
  const id = await delivered(of);
  const quiet = await delivered(of);
  await attemptedAfter(id, 29);
  // The first of them lies far back: the last one counts.
  await asOwner(rig.service.database, (owner) =>
    owner.query(
      `insert into delivery_attempts (merchant_id, environment, event_id, attempt, started_at, duration_ms, succeeded, request_headers)
select merchant_id, environment, event_id, attempt + 1, started_at, duration_ms, succeeded, request_headers
from delivery_attempts where event_id = $1::uuid`,
      [uuidOf(id)],
    ),
  );
  await asOwner(rig.service.database, (owner) =>
    owner.query(
      "update delivery_attempts set started_at = now() - interval '1 day' where event_id = $1::uuid and attempt = 1",
      [uuidOf(id)],
    ),
  );
  await after(31);
  expect(await ids(of)).toEqual([id]);
  await after(58);
  expect((await attempts(of, id)).data).toHaveLength(2);
  expect(await verified(of)).toBeUndefined();
  await after(60);
  expect(await ids(of)).toEqual([]);
  expect(quiet).not.toBe(id);
});

test("a sandbox's clock that is moved by 31 days takes no attempt away that was made just now", async () => {
  const of = await shop(rig.service, "/200/moved");
  const id = await delivered(of);
  await advance(of.client, 31 * DAY);
  await after(0);
  const kept = await events(of);
  expect(kept.map((event) => event.id)).toContain(id);
  expect((await attempts(of, id)).data).toHaveLength(1);
  await after(29);
  expect(await ids(of)).toContain(id);
  await after(31);
  expect(await ids(of)).not.toContain(id);
});

test("what waits for its delivery stays however old it is, and is kept for its time from its last attempt on", async () => {
  const of = await shop(rig.still, "/200/waiting");
  await create(of.client);
  const [id = ""] = await ids(of);
  await after(31);
  await after(90);
  expect((await events(of)).map(({ delivery }) => delivery.state)).toEqual(["pending"]);
  await asOwner(rig.still.database, async (owner) => {
    await owner.query("update deliveries set state = 'undelivered', attempts = 1 where event_id = $1::uuid", [
      uuidOf(id),
    ]);
    await owner.query(
      `insert into delivery_attempts (merchant_id, environment, event_id, attempt, started_at, duration_ms, succeeded, request_headers)
values ($1::uuid, 'sandbox', $2::uuid, 1, now() + interval '95 days', 0, false, '{}')`,
      [uuidOf(of.merchantId), uuidOf(id)],
    );
  });
  const here = openDatabase(rig.still.database);
  await after(96, here);
  await after(124, here);
  expect(await ids(of)).toEqual([id]);
  await after(126, here);
  expect(await ids(of)).toEqual([]);
  await here.end();
});

test("what is kept can be sent again, and what never had an address cannot once its time is over", async () => {
  const of = await shop(rig.service, "/200/again");
  const id = await delivered(of);
  await advance(of.client, 31 * DAY);
  await after(0);
  await resend(of, id);
  await awaitAttempts(of, id, "delivered", 2);
  expect((await attempts(of, id)).data.map(({ attempt }: { attempt: number }) => attempt)).toEqual([2, 1]);

  const bare = await shop(rig.service);
  await create(bare.client);
  const [untold = ""] = await ids(bare);
  await asOwner(rig.service.database, (owner) =>
    owner.query(
      "insert into retention_watermarks (merchant_id, environment, forgotten_before) values ($1::uuid, 'sandbox', now() + interval '1 minute')",
      [uuidOf(bare.merchantId)],
    ),
  );
  await register(bare, "/200/too-late");
  expect(outcome(await bare.client.post(`/v1/events/${untold}/resend`, {}))).toBe("404 OBJECT_NOT_FOUND");
});

test("an event that somebody is just sending again is not forgotten under his hands", async () => {
  const of = await shop(rig.service, "/200/held");
  const id = await delivered(of);
  await attemptedAfter(id, -40);
  await advance(of.client, 31 * DAY);
  await asOwner(rig.service.database, async (owner) => {
    await owner.query("begin");
    await owner.query("select from deliveries where event_id = $1::uuid for update", [uuidOf(id)]);
    await after(0);
    expect(await ids(of)).toContain(id);
    await owner.query("rollback");
  });
  await after(2);
  expect(await ids(of)).not.toContain(id);
});

test("what is kept is not looked at in every round, and a backlog goes in steps", async () => {
  const of = await shop(rig.service, "/200/many");
  const kept = await delivered(of);
  await advance(of.client, 31 * DAY);
  await written(of, 2_500, "sandbox", "delivered");
  await after(0);
  const counting = (asked: string[]): Pick<Database, "query"> => ({
    query: <R extends Row>(statement: Statement): Promise<R[]> => {
      asked.push(statement.name ?? "");
      return database.query<R>(statement);
    },
  });
  const left = await ids(of); // what the clock's moving told of is young
  expect([left.length, left.at(-1)]).toEqual([2, kept]);
  const second: string[] = [];
  await after(0, counting(second));
  expect(second).toEqual(["books with old events"]);
});

test("what a failed round could neither delete nor note is decided by the next one", async () => {
  const of = await shop(rig.still);
  const here = openDatabase(rig.still.database);
  const [kept = ""] = await written(of, 1, "sandbox", "pending");
  await after(0, here);
  await asOwner(rig.still.database, (owner) =>
    owner.query("update deliveries set state = 'delivered' where event_id = $1::uuid", [uuidOf(kept)]),
  );
  const old = (await written(of, 4, "sandbox", "delivered")).slice(1); // the first may lie before the one that was kept
  const failing: Pick<Database, "query"> = {
    query: <R extends Row>(statement: Statement): Promise<R[]> =>
      statement.name === "forget events" && String(statement.values?.[2]).includes(uuidOf(old[0] ?? ""))
        ? Promise.reject(new Error("canceling statement"))
        : here.query<R>(statement),
  };
  await allCounted(here);
  await expect(forgetHistory(failing as Database, systemClock.now() + 2 * DAY * SECOND, 30)).rejects.toThrow(
    "canceling",
  );
  const left = async (): Promise<string[]> => {
    const text = "select event_id from events where event_id = any($1::uuid[])";
    const { rows } = await asOwner(rig.still.database, (owner) => owner.query(text, [[kept, ...old].map(uuidOf)]));
    return rows.map(({ event_id: id }) => id as string).toSorted();
  };
  expect(await left()).toEqual(old.map(uuidOf).toSorted());
  await after(2, here);
  expect(await left()).toEqual([]);
  await here.end();
});

test("the newest event that is forgotten is on record", async () => {
  const of = await shop(rig.service);
  const made = (await written(of, 3, "sandbox")).toSorted();
  await after(0);
  const { rows } = await asOwner(rig.service.database, (owner) =>
    owner.query("select last_forgotten, swept_to from retention_watermarks where merchant_id = $1::uuid", [
      uuidOf(of.merchantId),
    ]),
  );
  expect(rows).toEqual([{ last_forgotten: uuidOf(made[2] ?? ""), swept_to: uuidOf(made[2] ?? "") }]);
  expect(await verified(of)).toBeUndefined();
});

test("the watermark never goes back: an event that was told as deleted stays so", async () => {
  const { merchantId } = await shop(rig.service);
  const now = systemClock.now();
  for (const before of [now, now - DAY * SECOND])
    await database.query(moveWatermarks([{ merchantId, environment: "sandbox" }], [before]));
  const text = "select forgotten_before from retention_watermarks where merchant_id = $1::uuid";
  expect(await database.query({ text, values: [uuidOf(merchantId)] })).toEqual([{ forgotten_before: now }]);
});

test("what the roll-up has not counted yet is kept, and goes once it has", async () => {
  // Nothing counts by itself there.
  const here = openDatabase(rig.still.database);
  const one = await shop(rig.still);
  await create(one.client);
  await allCounted(here);
  const [row] = await here.query<{ to: string }>({ text: "select counted_to::text as to from roll_ups", values: [] });
  const countedTo = (position: string): Promise<unknown> =>
    asOwner(rig.still.database, (owner) => owner.query("update roll_ups set counted_to = $1::text::xid8", [position]));
  // Readers are told of it no more in either case.
  const kept = (): Promise<number | null> =>
    asOwner(rig.still.database, async (owner) => {
      const found = await owner.query("select from events where merchant_id = $1::uuid", [uuidOf(one.merchantId)]);
      return found.rowCount;
    });
  await countedTo("3");
  await forgetHistory(here, systemClock.now() + 40 * DAY * SECOND, 30);
  expect(await kept()).toBe(1);
  await countedTo(row?.to ?? "");
  await forgetHistory(here, systemClock.now() + 42 * DAY * SECOND, 30);
  expect(await kept()).toBe(0);
  await here.end();
});
