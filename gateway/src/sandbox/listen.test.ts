// Goal: a listener gets every event of its sandbox, each once, whatever overlaps, and nobody waits for free. Method: a model of
// transactions that commit out of order while the clock is moved, listened to by generated polls; then a service on a socket.
import { createHmac, randomUUID } from "node:crypto";
import fc from "fast-check";
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type Answer, Client } from "../../../e2e/kit/client.ts";
import { type TestService, asOwner, openDatabase, paymentBody, startService } from "../../test/kit.ts";
import { allCounted } from "../../test/counted.ts";
import { forgetHistory } from "../events/history.ts";
import { SECOND, sqlTime, systemClock } from "../ground/clock.ts";
import { newId, uuidOf } from "../ground/ids.ts";
import { type Position, finished, handedOn } from "../../../cli/src/listener/cursor.ts";
import type { Book } from "../merchants/books.ts";
import { PAGE_MAX, SEEN_MAX, beginBehind, pageFor } from "./listen-page.ts";
import { CommitWatermarks, lowestId } from "./watermark.ts";
import { slowness, waiting as waitingFor } from "../../test/slowness.ts";

describe("the cursor, in a model", () => {
  const book: Book = { merchantId: "mer_model", environment: "sandbox" };
  const T0 = 1_767_225_600 * SECOND;
  const ms = (most: number): fc.Arbitrary<number> => fc.integer({ min: 0, max: most });

  interface Move {
    /** Real milliseconds at which a new offset is committed, and by how much it grows. */
    at: number;
    bySeconds: number;
  }
  const moves: fc.Arbitrary<Move[]> = fc.array(
    fc.record({ at: ms(90_000), bySeconds: fc.constantFrom(1, 29, 31, 3_600, 2_592_000) }),
    { maxLength: 4 },
  );
  /** When it begins, how long it thinks, writes, and by how much its machine's clock differs: under 30 s together. */
  const transactions = fc.array(
    fc.record({
      at: ms(90_000),
      thinks: fc.oneof(ms(50), ms(9_000)),
      writes: fc.oneof(ms(50), ms(15_000)),
      skew: fc.integer({ min: -2_000, max: 2_000 }),
    }),
    { minLength: 1, maxLength: 450, size: "max" },
  );
  /** How long after the last one the listener asks again, how much of the answer it hands on, and whether the service is new. */
  const polls = fc.array(
    fc.record({ later: fc.oneof(ms(300), ms(20_000)), takes: ms(PAGE_MAX), restarted: fc.boolean() }),
    { minLength: 5, maxLength: 60, size: "max" },
  );

  test("of any history each event is handed on exactly once", () => {
    fc.assert(
      fc.property(transactions, moves, polls, (begun, moved, asked) => {
        const offsetAt = (at: number): number =>
          moved.filter((move) => move.at <= at).reduce((sum, { bySeconds }) => sum + bySeconds, 0);
        const events = begun.map(({ at, thinks, writes, skew }) => ({
          eventId: newId("event", T0 + (at + thinks + skew) * 1000 + offsetAt(at) * SECOND),
          visibleAt: at + thinks + writes,
        }));
        events.sort((a, b) => (a.eventId < b.eventId ? -1 : 1));
        const got: string[] = [];
        let watermarks = new CommitWatermarks();
        let position: Position = { after: lowestId(0), seen: [] };
        const poll = (at: number, takes: number): void => {
          const watermark = watermarks.upTo(book, T0 + at * 1000);
          const seen = new Set(position.seen);
          const found = events
            .filter(({ eventId, visibleAt }) => visibleAt <= at && eventId > position.after && !seen.has(eventId))
            .slice(0, PAGE_MAX + 1);
          watermarks.observe(book, offsetAt(at), T0 + at * 1000);
          const page = pageFor(position, found, watermark);
          for (const { eventId } of page.events.slice(0, takes)) {
            got.push(eventId);
            position = handedOn(position, eventId, page.nextAfter);
            expect(position.seen.length).toBeLessThanOrEqual(SEEN_MAX);
          }
          if (takes >= page.events.length) position = finished(position, page.nextAfter);
        };
        let at = 0;
        for (const { later, takes, restarted } of asked) {
          at += later;
          if (restarted) watermarks = new CommitWatermarks();
          poll(at, takes);
        }
        // Then it is let run: every half second, until half a minute after the last commit and a little more.
        for (const end = Math.max(at, 115_000) + 60_000; at < end; at += 500) poll(at, PAGE_MAX);
        expect(got.length).toBe(new Set(got).size);
        expect(new Set(got)).toEqual(new Set(events.map(({ eventId }) => eventId)));
        expect(position.seen).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });

  test("an identity made at a moment or later lies behind the lowest of that moment", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 9e15 }), fc.integer({ min: 0, max: 1e9 }), (at, later) => {
        expect(newId("event", at + later) > lowestId(at)).toBe(true);
        expect(newId("event", at) < lowestId(at + 1_000)).toBe(true);
      }),
    );
  });

  test("a backlog below the watermark goes at full speed: nothing of it needs to be named", () => {
    const events = Array.from({ length: 1_000 }, (_, n) => ({ eventId: newId("event", T0 + n * 1000) }));
    const watermark = lowestId(T0 + 3_600 * SECOND);
    let position: Position = { after: lowestId(0), seen: [] };
    for (let round = 1; round <= 10; round++) {
      const found = events.filter(({ eventId }) => eventId > position.after).slice(0, PAGE_MAX + 1);
      const page = pageFor(position, found, watermark);
      expect([page.events.length, page.more]).toEqual([PAGE_MAX, round < 10]);
      position = finished(position, page.nextAfter);
      expect(position.after).toBe(events[round * PAGE_MAX - 1]?.eventId);
    }
  });

  test("it begins behind what is visible, and names what of it lies above the watermark", () => {
    const newest = Array.from({ length: 201 }, (_, n) => newId("event", T0 - n * SECOND));
    const [first, second] = newest as [string, string];
    expect(beginBehind([], lowestId(T0))).toEqual({ after: lowestId(T0), seen: [] });
    expect(beginBehind(newest, lowestId(T0 + SECOND))).toEqual({ after: first, seen: [] });
    expect(beginBehind(newest, lowestId(T0 - 1))).toEqual({ after: second, seen: [first] });
    // More than can be named: then as much as can be.
    expect(beginBehind(newest, lowestId(0))).toEqual({ after: newest[200], seen: newest.slice(0, 200) });
    expect(beginBehind([first], lowestId(0))).toEqual({ after: lowestId(0), seen: [first] });
  });

  test("of a burst as much is given at once as can be named, and the rest when it lies below the watermark", () => {
    const events = Array.from({ length: 500 }, (_, n) => ({ eventId: newId("event", T0 + n) }));
    let position: Position = { after: lowestId(0), seen: [] };
    const counts: number[] = [];
    const poll = (watermark: string): void => {
      const named = new Set(position.seen);
      const found = events
        .filter(({ eventId }) => eventId > position.after && !named.has(eventId))
        .slice(0, PAGE_MAX + 1);
      const page = pageFor(position, found, watermark);
      counts.push(page.events.length);
      for (const { eventId } of page.events) position = handedOn(position, eventId, page.nextAfter);
    };
    for (let n = 0; n < 3; n++) poll(lowestId(T0 - 1));
    for (let n = 0; n < 4; n++) poll(lowestId(T0 + SECOND));
    expect(counts).toEqual([100, 100, 0, 100, 100, 100, 0]);
  });
});

describe("over a socket", () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({ roles: ["api"], config: { webhookHeaderPrefix: "X-Acme-" } });
  });
  afterAll(() => service.stop());

  const path = "/v1/sandbox/events/listen";
  const listen = (by: Client, query: Record<string, string> = {}): Promise<Answer> =>
    by.get(`${path}?${new URLSearchParams(query).toString()}`);
  const begin = async (by: Client): Promise<string> => (await listen(by)).json.next_after as string;
  const idsOf = (answer: Answer): string[] => (answer.json.data as { id: string }[]).map(({ id }) => id);
  const create = async (by: Client): Promise<string> =>
    (await by.post("/v1/payments", paymentBody())).json.reference as string;

  /** An event as another transaction would write it. */
  const insert = (owner: pg.Client, merchantId: string, eventId: string): Promise<unknown> =>
    owner.query(
      `insert into events (merchant_id, environment, event_id, type, created_at, body)
values ($1, 'sandbox', $2, 'payment.created', $3, '{}')`,
      [uuidOf(merchantId), uuidOf(eventId), sqlTime(Date.now() * 1000)],
    );

  test("it begins now: what was before is not told, and what comes is told as it would be delivered", async () => {
    const { client, webhookSecret } = await service.merchant();
    await create(client);
    const first = await listen(client);
    expect(first.json).toEqual({
      data: [],
      next_after: expect.stringMatching(/^evt_/),
      forgotten_before: null,
      has_more: false,
      seen: [expect.stringMatching(/^evt_/)],
    });
    const { next_after: after, seen } = first.json as { next_after: string; seen: string[] };
    const reference = await create(client);
    const { json } = await listen(client, { after, seen: seen.join() });
    expect(json.data).toHaveLength(1);
    const [{ id, type, created_at: createdAt, body, headers }] = json.data;
    const envelope = JSON.parse(body as string);
    expect([envelope.id, envelope.type, envelope.created_at]).toEqual([id, type, createdAt]);
    expect(envelope.data.reference).toBe(reference);
    const timestamp = headers["X-Acme-Timestamp"] as string;
    expect(Math.abs(Number(timestamp) - Date.now() / 1000)).toBeLessThan(5);
    expect(headers).toEqual({
      "content-type": "application/json; charset=utf-8",
      "user-agent": "gerbang-webhooks/1",
      "X-Acme-Event-Id": id,
      "X-Acme-Event-Type": "payment.created",
      "X-Acme-Timestamp": timestamp,
      "X-Acme-Signature": createHmac("sha256", webhookSecret).update(`${timestamp}.${body}`).digest("hex"),
      "X-Acme-Delivery-Attempt": "1",
      "webhook-id": id,
      "webhook-timestamp": timestamp,
      "webhook-signature": `v1,${createHmac("sha256", Buffer.from(webhookSecret.slice(6), "base64"))
        .update(`${id}.${timestamp}.${body}`)
        .digest("base64")}`,
    });
    // It is above the watermark: a listener that has it names it.
    expect(json.next_after).toBe(after);
    expect(idsOf(await listen(client, { after, seen: seen.join(), wait: "0" }))).toEqual([id]);
    expect(idsOf(await listen(client, { after, seen: [...seen, id].join(), wait: "0" }))).toEqual([]);
  });

  test("it waits for what comes, no longer than asked", async () => {
    const { client } = await service.merchant();
    const after = await begin(client);
    const begun = performance.now();
    const took = await waitingFor(async () => {
      const waiting = listen(client, { after, wait: "20" });
      setTimeout(() => void create(client), 700);
      expect(idsOf(await waiting)).toHaveLength(1);
    });
    expect(performance.now() - begun).toBeGreaterThan(600);
    expect(took).toBeLessThan(10_000);
    const { client: silent } = await service.merchant();
    const from = await begin(silent);
    const tookSilent = await waitingFor(async () => {
      expect((await listen(silent, { after: from, wait: "1" })).json).toEqual({
        data: [],
        next_after: from,
        forgotten_before: null,
        has_more: false,
      });
    });
    expect(tookSilent).toBeLessThan(2_500 * slowness());
    expect((await listen(silent, { after: from, wait: "0" })).json.data).toEqual([]);
  });

  test("an event that becomes visible behind one that was told already is told", async () => {
    const { client, merchantId } = await service.merchant();
    const after = await begin(client);
    await asOwner(service.database, async (owner) => {
      await owner.query("begin");
      const late = newId("event", Date.now() * 1000);
      await insert(owner, merchantId, late);
      await new Promise((resolve) => setTimeout(resolve, 5));
      await create(client);
      const told = await listen(client, { after });
      const [young] = idsOf(told) as [string];
      expect(young > late).toBe(true);
      await owner.query("commit");
      expect(idsOf(await listen(client, { after: told.json.next_after, seen: young }))).toEqual([late]);
      const both = { after: told.json.next_after, seen: `${young},${late}`, wait: "0" };
      expect(idsOf(await listen(client, both))).toEqual([]);
    });
  });

  test("also when the sandbox's clock was moved forward in between", async () => {
    const { client, merchantId } = await service.merchant();
    const after = await begin(client);
    await asOwner(service.database, async (owner) => {
      await owner.query("begin");
      const late = newId("event", Date.now() * 1000);
      await insert(owner, merchantId, late);
      await client.post("/v1/sandbox/clock/advance", { seconds: 86_400 });
      await create(client);
      const told = await listen(client, { after });
      const [young] = idsOf(told) as [string];
      await owner.query("commit");
      expect(idsOf(await listen(client, { after: told.json.next_after, seen: young }))).toEqual([late]);
    });
  });

  test("old events are told oldest first, a hundred at a time, and need not be named", async () => {
    const { client, merchantId } = await service.merchant();
    const after = lowestId(0);
    const hourAgo = (Date.now() - 3_600_000) * 1000;
    const old = Array.from({ length: 150 }, (_, n) => newId("event", hourAgo + n * 1000));
    await asOwner(service.database, async (owner) => {
      for (const id of old.toReversed()) await insert(owner, merchantId, id);
    });
    const first = await listen(client, { after });
    expect([idsOf(first), first.json.next_after, first.json.has_more]).toEqual([old.slice(0, 100), old[99], true]);
    const second = await listen(client, { after: first.json.next_after });
    expect([idsOf(second), second.json.next_after, second.json.has_more]).toEqual([old.slice(100), old[149], false]);
  });

  test("what is forgotten before it was told is said to be, once; who has heard of it all is told nothing", async () => {
    const { client } = await service.merchant();
    const from = await begin(client);
    const one = await create(client);
    const [heard = ""] = idsOf(await listen(client, { after: from }));
    const other = await create(client);
    // A payment that expired while the clock moves would be told of, too.
    for (const reference of [one, other]) await client.post(`/v1/payments/${reference}/cancel`, {});
    const later = idsOf(await listen(client, { after: from, seen: heard }));
    expect(later).toHaveLength(3);
    await client.post("/v1/sandbox/clock/advance", { seconds: 31 * 86_400 });
    await create(client);
    const database = openDatabase(service.database);
    await allCounted(database);
    await forgetHistory(database, systemClock.now(), 30);
    await database.end();

    const all = await listen(client, { after: from, seen: [heard, ...later].join(), wait: "0" });
    expect(all.json.forgotten_before).toBeNull();
    const first = await listen(client, { after: heard, wait: "20" });
    expect(first.json.forgotten_before).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    const young = idsOf(first); // of the payment that was created afterwards
    expect(young).toHaveLength(1);
    expect(young).not.toContain(later[0]);
    expect(first.json.next_after >= (later[0] ?? "")).toBe(true);
    const next = await listen(client, { after: first.json.next_after, seen: young.join(), wait: "0" });
    expect([idsOf(next), next.json.forgotten_before]).toEqual([[], null]);
  });

  test("it is for sandbox keys with the scope, of their own events, by the rules of the query", async () => {
    const { client, merchantId } = await service.merchant();
    const live = await service.client(merchantId, "production");
    expect((await listen(live)).json.error.code).toBe("ENVIRONMENT_MISMATCH");
    const reader = await service.client(merchantId, "sandbox", ["payments:read"]);
    expect((await listen(reader)).json.error.code).toBe("FORBIDDEN");
    await create(live);
    await create((await service.merchant()).client);
    expect((await listen(client, { after: lowestId(0), wait: "0" })).json.data).toEqual([]);
    const id = newId("event", 0);
    const wrong: [Record<string, string>, string][] = [
      [{ after: "evt_x" }, "after"],
      [{ after: id.replace("evt_", "pay_") }, "after"],
      [{ after: id, seen: "evt_x" }, "seen"],
      [{ after: id, seen: `${id},` }, "seen"],
      [{ after: id, seen: Array.from({ length: 201 }, () => id).join(",") }, "seen"],
      [{ after: id, wait: "26" }, "wait"],
      [{ after: id, wait: "-1" }, "wait"],
      [{ after: id, wait: "1.5" }, "wait"],
      [{ after: id, other: "1" }, "other"],
    ];
    for (const [query, field] of wrong) {
      const { status, json } = await listen(client, query);
      expect([status, json.error.code, json.error.details.field], JSON.stringify(query).slice(0, 80)).toEqual([
        422,
        "VALIDATION_ERROR",
        field,
      ]);
    }
    const seen = Array.from({ length: 200 }, () => newId("event", 0)).join(",");
    expect((await listen(client, { after: id, seen, wait: "0" })).status).toBe(200);
  });

  test("a key without the scope hears of no events, and one without settlements:read of no settlements", async () => {
    const { client, merchantId } = await service.merchant();
    const deaf = await service.client(merchantId, "sandbox", ["sandbox:write"]);
    for (const query of [{}, { after: lowestId(0) }]) {
      const { status, json } = await listen(deaf, query);
      expect([status, json.error.code, json.error.details]).toEqual([403, "FORBIDDEN", { scope: "events:read" }]);
    }
    const narrow = await service.client(merchantId, "sandbox", ["sandbox:write", "events:read"]);
    const reference = await create(client);
    await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
    const [batch] = (await client.post("/v1/sandbox/settlements/run", {})).json.data as { uuid: string }[];
    expect((await client.post(`/v1/sandbox/settlements/${batch?.uuid}/pay`, {})).status).toBe(200);
    const typesOf = ({ json }: Answer): string[] => (json.data as { type: string }[]).map(({ type }) => type);
    const ofPayment = ["payment.created", "payment.succeeded"];
    const after = lowestId(0);
    expect(typesOf(await listen(client, { after }))).toEqual([...ofPayment, "settlement.created", "settlement.paid"]);
    const told = await listen(narrow, { after });
    expect(typesOf(told)).toEqual(ofPayment);
    // What it may not hear does not end its wait either, and is not named where it begins.
    const begun = performance.now();
    const silent = await listen(narrow, { after: told.json.next_after, seen: idsOf(told).join(), wait: "1" });
    expect(typesOf(silent)).toEqual([]);
    expect(performance.now() - begun).toBeGreaterThan(400);
    expect((await listen(narrow)).json.seen.toSorted()).toEqual(idsOf(told).toSorted());
  });

  test("a client waits four times at once; who hangs up makes room", async () => {
    const { client } = await service.merchant();
    const after = await begin(client);
    const hangUp = new AbortController();
    const waits = Array.from({ length: 4 }, (_, n) => {
      const target = `${path}?after=${after}&wait=2${n}`;
      return fetch(client.origin + target, { headers: client.headers(""), signal: hangUp.signal }).catch(
        () => undefined,
      );
    });
    await vi.waitFor(async () => {
      const refused = await listen(client, { after, wait: "1" });
      expect([refused.status, refused.json.error?.code]).toEqual([429, "RATE_LIMITED"]);
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    }, 30_000);
    const { client: other } = await service.merchant();
    expect((await listen(other, { after, wait: "0" })).status).toBe(200);
    hangUp.abort();
    await Promise.all(waits);
    await vi.waitFor(async () => expect((await listen(client, { after, wait: "0" })).status).toBe(200), 30_000);
  });

  test("a key that is revoked while it waits hears nothing more", async () => {
    const { client, merchantId } = await service.merchant();
    const second = await service.client(merchantId);
    const waiting = listen(second, { after: await begin(client), wait: "20" });
    await new Promise((resolve) => setTimeout(resolve, 300));
    await service.app.merchants.credentials.end(merchantId, second.credentials.client_id);
    const took = await waitingFor(async () => {
      await create(client);
      expect((await waiting).json.error.code).toBe("CLIENT_NOT_FOUND");
    });
    // It would wait for twenty seconds.
    expect(took).toBeLessThan(5_000 * slowness());
  });

  test.each<[string, string, string]>([
    ["has expired", "expires_at = now() - interval '1 second'", "401 CLIENT_NOT_FOUND"],
    ["may be used from other addresses alone", "allowed_addresses = '{203.0.113.7/32}'", "403 FORBIDDEN"],
  ])("a key that %s while it waits hears nothing more", async (_what, change, refusal) => {
    const { client, merchantId } = await service.merchant();
    const second = await service.client(merchantId);
    const waiting = listen(second, { after: await begin(client), wait: "20" });
    await new Promise((resolve) => setTimeout(resolve, 300));
    await asOwner(service.database, async (owner) => {
      const id = second.credentials.client_id;
      await owner.query(`update credentials set ${change} where client_id = $1`, [id]);
      // Together, as every change is: a process that saw the epoch alone would not look again.
      await owner.query(
        "with moved as (update settings_epoch set epoch = epoch + 1 returning epoch) update merchants set epoch = (select epoch from moved)",
      );
    });
    const { status, json } = await waiting;
    expect(`${status} ${json.error?.code}`).toBe(refusal);
  });

  test("two hundred wait in all, without a connection of the database each, and a stop lets them go", async () => {
    const busy = await startService({ roles: ["api"], database: service.database });
    // One after another: each waits for the settings epoch, and nobody waits for a connection of the pool for more than five seconds.
    const merchants: Awaited<ReturnType<typeof busy.merchant>>[] = [];
    while (merchants.length < 50) merchants.push(await busy.merchant({ name: randomUUID() }));
    const after = lowestId(0);
    // A seat may be taken for a moment by whoever asks whether all are taken: who was refused for that asks again.
    const hold = async (by: Client, wait: string): Promise<Answer> => {
      for (;;) {
        const answer = await listen(by, { after, wait });
        if (answer.status !== 503) return answer;
      }
    };
    const waits = merchants.flatMap(({ client }) => ["22", "23", "24", "25"].map((wait) => hold(client, wait)));
    const { client: late } = await busy.merchant();
    await vi.waitFor(async () => {
      const refused = await listen(late, { after, wait: "0" });
      expect([refused.status, refused.json.error?.code]).toEqual([503, "SERVICE_UNAVAILABLE"]);
    }, 30_000);
    expect((await late.post("/v1/payments", paymentBody())).status).toBe(201);
    expect(await waitingFor(() => busy.stop())).toBeLessThan(10_000 * slowness());
    for (const answer of await Promise.all(waits)) expect([answer.status, answer.json.data]).toEqual([200, []]);
  });
});
