// Goal: whoever comes too often is seen by each contact, whatever else changes. Method: payments through the API, with one
// contact kept and the other one varied, one after another and all at once; a merchant's minute beside plain counting, by property, with
// others and alone; the plan of the statement over many payments.
import fc from "fast-check";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { Client } from "../../../e2e/kit/client.ts";
import { type TestService, asOwner, paymentBody, startService } from "../../test/kit.ts";
import { SECOND, systemClock } from "../ground/clock.ts";
import { uuidOf } from "../ground/ids.ts";
import type { Statement } from "../store/database.ts";
import { paymentMade, paymentUnknown } from "./minutes.ts";
import { type VelocityKey, contactKeysOf, customerVelocity, merchantVelocity } from "./velocity.sql.ts";

const PER_HOUR = 4;
let service: TestService;

beforeAll(async () => {
  service = await startService({ roles: ["api"] });
});
afterAll(() => service.stop());

let number = 0;
const email = (): string => `someone${++number}@pelanggan.id`;
const phone = (): string => `+62812000${String(++number).padStart(5, "0")}`;

const merchant = (): Promise<{ client: Client; merchantId: string }> =>
  service.merchant({ settings: { risk: { customer_per_hour: PER_HOUR } } });

/** Whether the customer's velocity speaks against a payment. */
async function suspected(client: Client, customer: Record<string, string>): Promise<boolean> {
  const { status, json } = await client.post("/v1/payments", paymentBody({ customer }));
  expect([201, 202]).toContain(status);
  return status === 202 || json.risk.score > 0;
}

test.each<[string, () => Record<string, string>]>([
  ["one telephone under ever new addresses", () => ({ email: email(), phone: "+628110000001" })],
  ["one address under ever new telephones", () => ({ email: "same@pelanggan.id", phone: phone() })],
  ["one address alone", () => ({ email: "alone@pelanggan.id" })],
  ["one telephone alone", () => ({ phone: "+628110000002" })],
  [
    "one telephone, now with and now without an address",
    () => ({
      phone: "+628110000003",
      ...(number++ % 2 ? { email: email() } : {}),
    }),
  ],
])("%s is one customer, one after another and all at once", async (_name, customer) => {
  const { client } = await merchant();
  for (let count = 0; count < PER_HOUR; count++) expect(await suspected(client, customer())).toBe(false);
  const more = await Promise.all(Array.from({ length: 3 }, () => suspected(client, customer())));
  expect(more).toEqual([true, true, true]);
});

test("customers who share nothing are not counted together", async () => {
  const { client } = await merchant();
  for (let count = 0; count < PER_HOUR + 2; count++) {
    expect(await suspected(client, { email: email(), phone: phone() })).toBe(false);
  }
});

test("a busy merchant is counted exactly: within its minute, after it, and under another threshold", async () => {
  const { client, merchantId } = await service.merchant({ settings: { risk: { merchant_per_minute: 3 } } });
  const several = async (count: number): Promise<boolean[]> => {
    const seen: boolean[] = [];
    for (let one = 0; one < count; one++) seen.push(await suspected(client, { email: email() }));
    return seen;
  };
  expect(await several(6)).toEqual([false, false, false, true, true, true]);
  expect((await client.post("/v1/sandbox/clock/advance", { seconds: 61 })).status).toBe(200);
  expect(await several(5)).toEqual([false, false, false, true, true]);
  await service.operate("PATCH", `/merchants/${merchantId}`, { risk: { merchant_per_minute: 7 } });
  expect(await several(4)).toEqual([false, false, true, true]);
});

test("a lone payment sees what another process did to the clock and the count that it takes for granted", async () => {
  const beside = await startService({ database: service.database, roles: ["api"] });
  onTestFinished(() => beside.stop());
  const { client, merchantId } = await service.merchant({ settings: { risk: { merchant_per_minute: 3 } } });
  const id = uuidOf(merchantId);
  const pay = async (): Promise<{ score: number; createdAt: number }> => {
    const { json } = await client.post("/v1/payments", paymentBody());
    return { score: json.risk.score, createdAt: Date.parse(json.created_at) };
  };
  const { score: calm } = await pay();
  expect((await pay()).score).toBe(calm);
  const move =
    "update books set clock_offset_seconds = clock_offset_seconds + 7200 where merchant_id = $1::uuid and environment = 'sandbox'";
  await asOwner(service.database, (owner) => owner.query(move, [id]));
  const later = await pay();
  expect(later.createdAt - Date.now()).toBeGreaterThan(7_000_000);
  expect(later.score).toBe(calm);
  await payTwiceBeside(id);
  expect((await pay()).score).toBeGreaterThan(calm);
  expect((await pay()).score).toBeGreaterThan(calm);
});

test("alone a process knows a minute by what it made itself; in company it looks", async () => {
  let ahead = 0;
  const clock = { now: () => systemClock.now() + ahead };
  const alone = await startService({ roles: ["api"], clock });
  onTestFinished(() => alone.stop());
  const { client, merchantId } = await alone.merchant({ settings: { risk: { merchant_per_minute: 3 } } });
  const score = async (): Promise<number> => (await client.post("/v1/payments", paymentBody())).json.risk.score;
  const calm = await score();
  ahead += 65 * SECOND; // who was taken for gone may have paid within ten seconds after
  expect(await score()).toBe(calm);
  await payTwiceBeside(uuidOf(merchantId), alone.database);
  expect(await score()).toBeGreaterThan(calm);
  ahead += 73 * SECOND; // nothing of before it was surely alone is of its minute
  expect([await score(), await score()]).toEqual([calm, calm]);
  await payTwiceBeside(uuidOf(merchantId), alone.database);
  expect(await score()).toBe(calm);
  expect(await score()).toBeGreaterThan(calm);
  ahead += 63 * SECOND;
  expect(await score()).toBe(calm);
  await payTwiceBeside(uuidOf(merchantId), alone.database);
  const other = await startService({ database: alone.database, roles: ["api"], clock });
  onTestFinished(() => other.stop());
  expect(await score()).toBeGreaterThan(calm);
});

/** Two more of this minute, written by somebody else. */
async function payTwiceBeside(merchant: string, database = service.database): Promise<void> {
  await asOwner(database, async (owner) => {
    const { rows } = await owner.query(
      "select * from payments where merchant_id = $1::uuid order by payment_id desc limit 1",
      [merchant],
    );
    const last = (rows[0] as { payment_id: string }).payment_id;
    for (const end of ["000000000001", "000000000002"]) {
      await owner.query(
        `insert into payments select (jsonb_populate_record(p, jsonb_build_object('payment_id', $3::text, 'reference_id', $4::text))).*
from payments p where merchant_id = $1::uuid and payment_id = $2::uuid`,
        [merchant, last, last.slice(0, -12) + end, `beside-${last}-${end}`],
      );
    }
  });
}

test("whatever is known of a merchant already, each of two batches at once counts its minute exactly", async () => {
  const moments = (maxLength: number): fc.Arbitrary<number[]> => fc.array(fc.nat(1_800), { maxLength, size: "max" });
  const waited = fc.oneof(fc.constant(0), fc.nat(10_000));
  const payment = fc.constantFrom("own", "own", "own, unknown", "lost, unknown", "another's");
  const step = fc.record({
    passed: fc.oneof(fc.nat(2_000), fc.nat(8_000), fc.nat(90_000)),
    /** Whether this process takes requests alone: then the payments are its own. */
    alone: fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, fc.boolean()),
    /** What is paid before each of the two counts, so many milliseconds ago. */
    paid: fc.tuple(moments(80), moments(20)),
    whose: payment,
    waited: fc.tuple(waited, waited),
    /** Between the two, in seconds. */
    clockMoved: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.nat(100)),
    swapped: fc.boolean(),
  });
  type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;
  const calm = {
    alone: false,
    paid: [[], []],
    whose: "another's",
    waited: [0, 0],
    clockMoved: 0,
    swapped: false,
  } as const;
  // Its minute begins before the one that was counted last.
  const aRequestThatWaited = [
    { ...calm, passed: 0, paid: [[0, 0, 0], []] },
    { ...calm, passed: 60_500 },
    { ...calm, passed: 0, waited: [1_000, 0] },
  ];
  const own = { ...calm, passed: 2_500, alone: true, paid: [[0], [0, 0]], whose: "own" };
  const others = { ...calm, passed: 1_000, paid: [[0, 500, 1_000], [0]] };
  const leftAlone = [others, own, own, own, { ...own, clockMoved: 30 }, own, { ...own, passed: 80_000 }, own];
  const aloneAgain = [own, own, { ...others, passed: 70_000 }, own, own];
  const aloneAndWaited = [others, { ...own, passed: 60_500 }, own, own, { ...own, passed: 0, waited: [9_000, 0] }];
  const asked = { "by reading": 0, "of the clock only": 0, "of nothing": 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 2, maxLength: 14 }),
      fc.integer({ min: 1, max: 400 }),
      async (steps, most) => {
        const { merchantId } = await service.merchant();
        const book = { merchantId, environment: "sandbox" } as const;
        const made: number[] = [];
        let aloneSince: number | undefined;
        let [nowMs, offsetMs] = [1_800_000_000_000, 0];
        const count = (since: number, known = made.length): number =>
          Math.min(most, made.slice(0, known).filter((at) => at >= since).length);
        const pay = async (moments: number[], whose: string): Promise<void> => {
          const isMade = whose !== "lost, unknown";
          if (isMade) made.push(...moments);
          if (isMade) await payAt(merchantId, moments);
          for (const at of moments) {
            if (whose === "own") paymentMade(book, at * 1_000, offsetMs / 1_000, most);
            else if (whose !== "another's") paymentUnknown(book, at * 1_000, offsetMs / 1_000);
          }
        };
        for (const { passed, alone, paid, whose, waited: waits, clockMoved, swapped } of steps) {
          nowMs += passed;
          aloneSince = alone ? (aloneSince ?? nowMs * 1_000) : undefined;
          const windows = waits.map((wait) => nowMs - wait - 60_000);
          const keys = windows.map((since) => minuteOf(book, since, most, () => aloneSince));
          const presumed = merchantVelocity.presume?.(keys[0] as VelocityKey);
          if (presumed && (await holds(presumed.check))) {
            asked["of nothing"]++;
            expect(presumed.value.count >= most).toBe(count((windows[0] as number) + offsetMs) >= most);
          }
          const before = made.length;
          const loads = keys.map(
            (key) => merchantVelocity.load?.([key], nowMs * 1_000) ?? expect.unreachable("velocities are loaded"),
          );
          const answers: (() => void)[] = [];
          for (const [index, { name, text, values, parse }] of loads.entries()) {
            if (index === 1 && clockMoved > 0) {
              offsetMs += clockMoved * 1_000;
              await moveClock(merchantId, clockMoved);
            }
            const paidAt = (paid[index] ?? []).map((ago) => nowMs + offsetMs - ago);
            await pay(paidAt, alone && whose === "another's" ? "own" : whose);
            const [row] = await asOwner(service.database, async (owner) => (await owner.query(text, values)).rows);
            const since = (windows[index] as number) + offsetMs;
            const counted = count(since);
            const isRead = name === "count merchant velocity";
            asked[isRead ? "by reading" : "of the clock only"]++;
            answers.push(() => {
              const answer = parse?.(row as Record<string, unknown>).count;
              if (isRead) return expect(answer).toBe(counted);
              // What is paid meanwhile may be counted.
              expect(answer).toBeGreaterThanOrEqual(count(since, before));
              expect(answer).toBeLessThanOrEqual(count(since));
            });
          }
          for (const answer of swapped ? answers.toReversed() : answers) answer();
        }
      },
    ),
    {
      numRuns: 20,
      interruptAfterTimeLimit: 20_000, // a failure is told as it is by then
      examples: [aRequestThatWaited, leftAlone, aloneAgain, aloneAndWaited].map((steps) => [
        steps as unknown as Step[],
        400,
      ]),
    },
  );
  expect(Math.min(...Object.values(asked)), JSON.stringify(asked)).toBeGreaterThan(10);
});

const minuteOf = (
  book: VelocityKey["book"],
  sinceMs: number,
  most: number,
  aloneSince: () => number | undefined,
): VelocityKey => ({ book, contactKey: null, realSince: sinceMs * 1_000, most, aloneSince });

test("a clock that went back with its database is not known any more, and the minute is read again", async () => {
  const { merchantId } = await service.merchant();
  const book = { merchantId, environment: "sandbox" } as const;
  const nowMs = 1_800_000_000_000;
  await moveClock(merchantId, 100);
  paymentMade(book, (nowMs + 37_000) * 1_000, 100, 600);
  const look = async (): Promise<[name: string | undefined, count: number | undefined]> => {
    const key = minuteOf(book, nowMs, 600, () => 0);
    const { name, text, values, parse } = merchantVelocity.load?.([key], nowMs * 1_000) ?? expect.unreachable();
    const [row] = await asOwner(service.database, async (owner) => (await owner.query(text, values)).rows);
    return [name, parse?.(row as Record<string, unknown>).count];
  };
  expect(await look()).toEqual(["clocks for merchant velocity", 0]);
  await asOwner(service.database, async (owner) => {
    await owner.query("set session_replication_role = replica"); // as a failover that loses the last second does
    await owner.query("update books set clock_offset_seconds = 0 where merchant_id = $1::uuid", [uuidOf(merchantId)]);
  });
  await payAt(merchantId, [nowMs + 1, nowMs + 2]);
  await look();
  expect(await look()).toEqual(["count merchant velocity", 2]);
});

/** Whether what was presumed is so. */
async function holds({ text, values }: Statement): Promise<boolean> {
  return asOwner(service.database, (owner) => owner.query(text, values)).then(
    () => true,
    (error: Error) => {
      expect(error.message).toBe("a row is not what it was taken to be");
      return false;
    },
  );
}

async function moveClock(merchantId: string, seconds: number): Promise<void> {
  await asOwner(service.database, (owner) =>
    owner.query(
      "update books set clock_offset_seconds = clock_offset_seconds + $2 where merchant_id = $1::uuid and environment = 'sandbox'",
      [uuidOf(merchantId), seconds],
    ),
  );
}

/** Payments that somebody made at these milliseconds. */
async function payAt(merchantId: string, moments: number[]): Promise<void> {
  await asOwner(service.database, (owner) =>
    owner.query(
      `insert into payments (merchant_id, environment, payment_id, status, amount_minor, fee_minor, created_at, updated_at, expires_at,
  payment_method, risk_score, currency, reference_id, risk_decision, risk_reasons, routing)
select $1::uuid, 'sandbox', (lpad(to_hex(ms), 12, '0') || right(replace(gen_random_uuid()::text, '-', ''), 20))::uuid, 'pending', 1, 0, now(), now(), now(),
  'qris', 0, 'IDR', gen_random_uuid()::text, 'approve', '[]', '{}'
from unnest($2::bigint[]) as ms`,
      [uuidOf(merchantId), moments],
    ),
  );
}

test("both contacts are counted in one statement, and each through an index of its own", async () => {
  const { merchantId } = await merchant();
  const book = { merchantId, environment: "sandbox" } as const;
  const { customerKey, phoneKey } = contactKeysOf({ email: "a@b.id", phone: "+628110000009" });
  const keys = [customerKey, phoneKey].map((contactKey) => ({
    book,
    contactKey,
    realSince: Date.now() * 1000 - SECOND,
    most: PER_HOUR,
  }));
  const statement = customerVelocity.load?.(keys, Date.now() * 1000) ?? expect.unreachable("velocities are loaded");
  const plan = await asOwner(service.database, async (owner) => {
    await owner.query("begin");
    await owner.query(
      `insert into payments (merchant_id, environment, payment_id, status, amount_minor, fee_minor, created_at, updated_at, expires_at,
  payment_method, risk_score, currency, reference_id, risk_decision, risk_reasons, routing, customer_key, phone_key)
select $1::uuid, 'sandbox', gen_random_uuid(), 'pending', 1, 0, now(), now(), now(), 'qris', 0, 'IDR', 'order-' || n, 'approve', '[]', '{}',
  decode(md5(n::text), 'hex'), decode(md5('p' || n), 'hex')
from generate_series(1, 20000) n`,
      [uuidOf(merchantId)],
    );
    await owner.query("analyze payments");
    const { rows } = await owner.query<Record<string, string>>(`explain ${statement.text}`, statement.values);
    await owner.query("rollback");
    return rows.map((row) => row["QUERY PLAN"]).join("\n");
  });
  expect(plan).toMatch(/Index (Only )?Scan using payments_customer/);
  expect(plan).toMatch(/Index (Only )?Scan using payments_phone/);
  expect(plan).not.toContain("Seq Scan on payments");
});
