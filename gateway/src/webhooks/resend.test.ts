// Goal: any event can be had again, at the address of today, once for each time it is asked for. Method: a service with a
// TLS receiver for what is sent; one without a worker, where nothing moves by itself, for states and races.
import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Answer } from "../../../e2e/kit/client.ts";
import { type Received, isGenuine } from "../../../e2e/kit/receiver.ts";
import { cloneDatabase, startService } from "../../test/kit.ts";
import { newId } from "../ground/ids.ts";
import {
  answers,
  config,
  rig,
  shop,
  register,
  create,
  post,
  resend,
  resendMany,
  A_POLL_MS,
  advance,
  simulate,
  events,
  ids,
  read,
  attempts,
  awaitAttempts,
  at,
  attemptOf,
  pause,
  outcome,
  set,
  deliveryOf,
  written,
  startRig,
  stopRig,
  timing,
} from "../../test/event-rig.ts";

beforeAll(startRig);
afterAll(stopRig);

describe("one more try", () => {
  test("a delivered event is sent again: the same bytes, a fresh signature, the next number", async () => {
    const path = "/200/again";
    const of = await shop(rig.service, path);
    await create(of.client);
    const [id] = (await ids(of)) as [string];
    await awaitAttempts(of, id, "delivered", 1);
    const answer = await resend(of, id);
    expect(answer).toMatchObject({ id, delivery: { state: "pending", attempts: 1, url: rig.receiver.url(path) } });
    expect(answer.delivery.next_attempt_at).not.toBeNull();
    await awaitAttempts(of, id, "delivered", 2);
    await resend(of, id);
    await awaitAttempts(of, id, "delivered", 3);
    const sent = at(path);
    expect(sent.map(attemptOf)).toEqual([1, 2, 3]);
    expect(new Set(sent.map(({ body }) => body)).size).toBe(1);
    expect(new Set(sent.map(({ headers }) => headers["x-svc-event-id"]))).toEqual(new Set([id]));
    expect(sent.every((delivery) => isGenuine(delivery, of.secret))).toBe(true);
    const { data } = await attempts(of, id);
    expect(data.map(({ attempt }: { attempt: number }) => attempt)).toEqual([3, 2, 1]);
  });

  test("an undelivered event is tried once: taken, it is delivered", async () => {
    const path = "/500/undelivered";
    const of = await shop(rig.service, path);
    await create(of.client);
    const [id] = (await ids(of)) as [string];
    await awaitAttempts(of, id, "pending", 1);
    await set(of, id, "state = 'undelivered'");
    answers.set(path, (_delivery, response) => void response.writeHead(200).end());
    await resend(of, id);
    await awaitAttempts(of, id, "delivered", 2);
    expect(at(path).map(attemptOf)).toEqual([1, 2]);
  });

  test("a try that fails leaves the event what it was, and is not repeated", async () => {
    const path = "/200/return";
    const of = await shop(rig.service, path);
    await create(of.client);
    const [id] = (await ids(of)) as [string];
    await awaitAttempts(of, id, "delivered", 1);
    answers.set(path, (_delivery, response) => void response.writeHead(500).end());
    await resend(of, id);
    await awaitAttempts(of, id, "delivered", 2);
    await set(of, id, "state = 'undelivered'");
    await resend(of, id);
    await awaitAttempts(of, id, "undelivered", 3);
    await advance(of.client, 80_000);
    await pause(A_POLL_MS);
    expect(at(path).map(attemptOf)).toEqual([1, 2, 3]);
    expect(await deliveryOf(of, id)).toMatchObject({ state: "undelivered", resend_of: null });
  });

  test("a pending event is tried now, and its schedule goes on after it", async () => {
    const path = "/500/pending";
    const of = await shop(rig.service, path);
    await create(of.client);
    const [id] = (await ids(of)) as [string];
    await awaitAttempts(of, id, "pending", 1);
    expect((await resend(of, id)).delivery).toMatchObject({ state: "pending", attempts: 1 });
    const event = await awaitAttempts(of, id, "pending", 2);
    expect(Date.parse(event.delivery.next_attempt_at)).toBeGreaterThan(Date.now() + 20_000);
    await advance(of.client, 86_000);
    await awaitAttempts(of, id, "pending", 3);
    expect(at(path).map(attemptOf)).toEqual([1, 2, 3]);
  });

  test("what was overdue keeps its place in the line", async () => {
    const of = await shop(rig.still, "/200/line");
    await create(of.client);
    const [before] = await events(of);
    await advance(of.client, 600);
    expect((await resend(of, before.id)).delivery).toEqual(before.delivery);
  });

  test("a delivery that is being tried at this moment is left alone", async () => {
    const path = "/200/held";
    const held: ServerResponse[] = [];
    answers.set(path, (_delivery, response) => void held.push(response));
    const of = await shop(rig.service, path);
    await create(of.client);
    const [id] = (await ids(of)) as [string];
    await vi.waitFor(() => expect(at(path)).toHaveLength(1), 30_000);
    await register(of, "/200/held-moved");
    expect((await resend(of, id)).delivery).toMatchObject({
      state: "pending",
      attempts: 0,
      url: rig.receiver.url(path),
    });
    expect(await resendMany(of, { event_ids: [id] })).toEqual({ resent: 1, has_more: false, next_cursor: null });
    for (const response of held) response.end();
    await awaitAttempts(of, id, "delivered", 1);
    await pause(A_POLL_MS);
    expect(at(path)).toHaveLength(1);
    expect(at("/200/held-moved")).toHaveLength(0);
  });

  test("what is set aside, or whose worker is gone, goes to the address of today", async () => {
    const token = "lease_token = gen_random_uuid(), leased_until = now()";
    for (const [name, lease] of [
      ["aside", "lease_token = null, leased_until = now() + interval '1 minute'"],
      ["gone", `${token} - interval '1 second'`],
    ] as const) {
      const of = await shop(rig.still, `/200/${name}-before`);
      await create(of.client);
      const [id] = (await ids(of)) as [string];
      await set(of, id, lease);
      await register(of, `/200/${name}-after`);
      const url = rig.receiver.url(`/200/${name}-after`);
      expect((await resend(of, id)).delivery).toMatchObject({ state: "pending", url });
      expect(await deliveryOf(of, id)).toMatchObject({ url, due: true, leased: false });
    }
    const of = await shop(rig.still, "/200/tried-before");
    await create(of.client);
    const [id] = (await ids(of)) as [string];
    await set(of, id, `${token} + interval '1 minute'`);
    await register(of, "/200/tried-after");
    await resend(of, id);
    expect(await deliveryOf(of, id)).toMatchObject({ url: rig.receiver.url("/200/tried-before"), leased: true });
  });

  test("a try ahead of the schedule is no rung of it, and the history says where each one went", async () => {
    const [first, second] = ["/500/ladder", "/500/ladder-moved"];
    const of = await shop(rig.service, first);
    await create(of.client);
    const [id] = (await ids(of)) as [string];
    const { delivery } = await awaitAttempts(of, id, "pending", 1);
    const due = delivery.next_attempt_at as string;
    await register(of, second);
    for (const tries of [2, 3]) {
      await resend(of, id);
      expect((await awaitAttempts(of, id, "pending", tries)).delivery.next_attempt_at).toBe(due);
    }
    await advance(of.client, 31);
    const later = (await awaitAttempts(of, id, "pending", 4)).delivery.next_attempt_at as string;
    // The third rung, two minutes after the event; the second was half a minute after it.
    expect(Date.parse(later) - Date.parse(due)).toBe(90_000);
    const { data } = await attempts(of, id);
    expect(
      data.map(({ attempt, request }: Answer["json"]) => [attempt, new URL(request.url as string).pathname]),
    ).toEqual([
      [4, second],
      [3, second],
      [2, second],
      [1, first],
    ]);
  });

  test("without any address it is refused, and the refusal is kept; once there is one, the event goes out", async () => {
    const path = "/200/late";
    const of = await shop(rig.service);
    await create(of.client);
    const [id] = (await ids(of)) as [string];
    const refusals = [
      await of.client.post(`/v1/events/${id}/resend`, {}, { key: "no-address-1" }),
      await of.client.post("/v1/events/resend", { event_ids: [id] }),
      await of.client.post("/v1/events/resend", { since: "2020-01-01", state: "all" }),
    ];
    for (const refusal of refusals) {
      expect(outcome(refusal)).toBe("404 OBJECT_NOT_FOUND");
      expect(refusal.json.error.message).toContain("No webhook address is registered");
    }
    expect(await read(of, id)).toMatchObject({ delivery: null });
    const secret = await register(of, path);
    const replay = await of.client.post(`/v1/events/${id}/resend`, {}, { key: "no-address-1" });
    expect(outcome(replay)).toBe("404 OBJECT_NOT_FOUND");
    expect(replay.headers.get("x-idempotent-replay")).toBe("true");
    expect((await resend(of, id)).delivery).toMatchObject({
      state: "pending",
      attempts: 0,
      url: rig.receiver.url(path),
    });
    await awaitAttempts(of, id, "delivered", 1);
    expect(at(path)).toHaveLength(1);
    expect(isGenuine(at(path)[0] as Received, secret)).toBe(true);
  });

  test("it goes to the address of today", async () => {
    const of = await shop(rig.service, "/200/old");
    await create(of.client);
    const [id] = (await ids(of)) as [string];
    await awaitAttempts(of, id, "delivered", 1);
    const secret = await register(of, "/200/new");
    expect((await resend(of, id)).delivery.url).toBe(rig.receiver.url("/200/new"));
    await awaitAttempts(of, id, "delivered", 2);
    expect([at("/200/old").length, at("/200/new").length]).toEqual([1, 1]);
    expect(isGenuine(at("/200/new")[0] as Received, secret)).toBe(true);
  });

  test("a payment's callback_url stays the address of all that is about it: itself, its refunds, its disputes", async () => {
    const of = await shop(rig.still, "/200/registered");
    const callback = rig.receiver.url("/200/callback");
    const reference = await create(of.client, { amount_minor: 500_000, callback_url: callback });
    await simulate(of.client, reference);
    await create(of.client);
    const refund = await of.client.post("/v1/refunds", { payment_reference: reference, amount_minor: 1_000 });
    expect(refund.status, refund.text).toBe(201);
    const dispute = await of.client.post(`/v1/sandbox/payments/${reference}/dispute`, { reason: "duplicate" });
    expect(dispute.status, dispute.text).toBe(201);
    await post(of.client, "/v1/sandbox/settlements/run");
    for (const { id, delivery } of await events(of)) {
      await set(of, id, "state = 'delivered', url = 'https://localhost:1/'");
      expect((await resend(of, id)).delivery.url).toBe(delivery.url);
    }
    const urls = (await events(of)).map(({ type, delivery }) => [type, delivery.url] as const);
    expect(urls.filter(([, url]) => url === callback).map(([type]) => type)).toEqual([
      "dispute.opened",
      "refund.succeeded",
      "payment.succeeded",
      "payment.created",
    ]);
    expect(urls.filter(([, url]) => url === rig.receiver.url("/200/registered"))).toHaveLength(urls.length - 4);
    expect(urls.length).toBeGreaterThan(4);
  });

  test("the body is an empty object, and the key is required", async () => {
    const of = await shop(rig.still, "/200/body");
    await create(of.client);
    const path = `/v1/events/${(await ids(of))[0]}/resend`;
    expect(outcome(await of.client.post(path, { now: true }))).toBe("422 VALIDATION_ERROR now");
    expect(outcome(await of.client.post(path, "{"))).toBe("400 MALFORMED_JSON");
    expect(outcome(await of.client.post(path, {}, { key: null }))).toBe("422 IDEMPOTENCY_KEY_REQUIRED");
    expect(outcome(await of.client.post(`${path}?x=1`, {}))).toBe("422 VALIDATION_ERROR x");
  });

  test("so many attempts are kept, and no more are made", async () => {
    const of = await shop(rig.still, "/200/enough");
    await create(of.client);
    const [id] = (await ids(of)) as [string];
    await set(of, id, "state = 'delivered', attempts = 991");
    await resend(of, id);
    await set(of, id, "state = 'delivered', attempts = 1000");
    for (const [path, body] of [
      [`/v1/events/${id}/resend`, {}],
      ["/v1/events/resend", { event_ids: [id] }],
    ] as const) {
      expect(outcome(await of.client.post(path, body)), path).toBe("422 VALIDATION_ERROR event_id");
    }
    expect(await deliveryOf(of, id)).toMatchObject({ state: "delivered" });
  });
});

describe("the same request again", () => {
  test("a replay has the same answer and sends nothing", async () => {
    const path = "/200/replay";
    const of = await shop(rig.service, path);
    await create(of.client);
    const [id] = (await ids(of)) as [string];
    await awaitAttempts(of, id, "delivered", 1);
    const resendPath = `/v1/events/${id}/resend`;
    const first = await post(of.client, resendPath, {}, "resend-once");
    await awaitAttempts(of, id, "delivered", 2);
    const second = await post(of.client, resendPath, {}, "resend-once");
    expect(second.text).toBe(first.text);
    expect(second.headers.get("x-idempotent-replay")).toBe("true");
    const many = await post(of.client, "/v1/events/resend", { event_ids: [id] }, "resend-many-once");
    await awaitAttempts(of, id, "delivered", 3);
    const again = await post(of.client, "/v1/events/resend", { event_ids: [id] }, "resend-many-once");
    expect(again.text).toBe(many.text);
    expect(again.headers.get("x-idempotent-replay")).toBe("true");
    await pause(A_POLL_MS);
    expect(at(path).map(attemptOf)).toEqual([1, 2, 3]);
  });

  test("many at once, under keys of their own and from two processes, leave numbers without gaps", async () => {
    const database = await cloneDatabase();
    const [left, right] = [
      await startService({ config, timing, database }),
      await startService({ config, timing, database }),
    ];
    try {
      const path = "/200/crowd";
      const of = await shop(left, path);
      const other = { ...of, client: await right.client(of.merchantId) };
      await create(of.client);
      const [id] = (await ids(of)) as [string];
      await awaitAttempts(of, id, "delivered", 1);
      await Promise.all(
        Array.from({ length: 40 }, async (_, number) => {
          await pause(number * 10);
          return number % 4 === 3 ? resendMany(other, { event_ids: [id] }) : resend(number % 2 === 0 ? of : other, id);
        }),
      );
      await vi.waitFor(async () => expect((await read(of, id)).delivery.state).toBe("delivered"), 30_000);
      const { delivery } = await read(of, id);
      expect(delivery.attempts).toBeGreaterThan(1);
      const numbers = Array.from({ length: delivery.attempts }, (_, at) => at + 1);
      expect(at(path).map(attemptOf)).toEqual(numbers);
      const { data } = await attempts(of, id, "?limit=100");
      expect(data.map(({ attempt }: { attempt: number }) => attempt)).toEqual(numbers.toReversed());
    } finally {
      await Promise.all([left.stop(), right.stop()]);
    }
  });

  test("an event that had no address gets one delivery, however many ask at once in two processes", async () => {
    const of = await shop(rig.still);
    for (let round = 0; round < 5; round++) await create(of.client);
    await register(of, "/200/first");
    // Started now, it knows of the registration.
    const second = await startService({ config, roles: ["api"], database: rig.still.database });
    try {
      const other = { ...of, client: await second.client(of.merchantId) };
      const all = await ids(of);
      const answers = await Promise.all(
        all.flatMap((id) => [resend(of, id), resend(other, id), resend(of, id), resend(other, id)]),
      );
      for (const { delivery } of answers) expect(delivery).toMatchObject({ state: "pending", attempts: 0 });
      expect(await ids(of, "?delivery=pending")).toEqual(all);
    } finally {
      await second.stop();
    }
  });
});

describe("many at once", () => {
  test("named events, each once; those since a moment, in the state that is asked for", async () => {
    const of = await shop(rig.still, "/200/many");
    for (let count = 0; count < 4; count++) {
      await create(of.client);
      await advance(of.client, 60);
    }
    const [pending, delivered, younger, older] = (await ids(of)) as [string, string, string, string];
    const reset = async (): Promise<void> => {
      await set(of, delivered, "state = 'delivered', resend_of = null");
      for (const id of [younger, older]) await set(of, id, "state = 'undelivered', resend_of = null");
    };
    const stands = async (): Promise<(string | null | undefined)[][]> =>
      Promise.all(
        [pending, delivered, younger, older].map(async (id) => {
          const row = await deliveryOf(of, id);
          return [row?.state, row?.resend_of];
        }),
      );
    const none = { has_more: false, next_cursor: null };
    await reset();
    expect(await resendMany(of, { event_ids: [delivered, older, delivered] })).toEqual({ resent: 2, ...none });
    expect(await stands()).toEqual([
      ["pending", null],
      ["pending", "delivered"],
      ["undelivered", null],
      ["pending", "undelivered"],
    ]);
    await reset();
    expect(await resendMany(of, { since: "2020-01-01" })).toEqual({ resent: 2, ...none });
    expect(await stands()).toEqual([
      ["pending", null],
      ["delivered", null],
      ["pending", "undelivered"],
      ["pending", "undelivered"],
    ]);
    expect(await resendMany(of, { since: "2020-01-01" })).toEqual({ resent: 0, ...none });
    await reset();
    const { created_at: since } = await read(of, younger);
    expect(await resendMany(of, { since })).toEqual({ resent: 1, ...none });
    expect((await deliveryOf(of, older))?.state).toBe("undelivered");
    await reset();
    expect(await resendMany(of, { since: "2020-01-01", state: "delivered" })).toEqual({ resent: 1, ...none });
    expect((await stands())[1]).toEqual(["pending", "delivered"]);
    await reset();
    expect(await resendMany(of, { since: "2020-01-01", state: "all" })).toEqual({ resent: 4, ...none });
    expect((await stands()).map(([state]) => state)).toEqual(["pending", "pending", "pending", "pending"]);
    expect(await resendMany(of, { since: "2199-01-01", state: "all" })).toEqual({ resent: 0, ...none });
    for (const id of [pending, delivered, younger, older]) expect((await deliveryOf(of, id))?.due).toBe(true);
  });

  test("they are sent", async () => {
    const path = "/200/sent";
    const of = await shop(rig.service, path);
    for (let count = 0; count < 3; count++) await create(of.client);
    await vi.waitFor(async () => expect(await ids(of, "?delivery=delivered")).toHaveLength(3), 30_000);
    expect(await resendMany(of, { since: "2020-01-01", state: "delivered" })).toMatchObject({ resent: 3 });
    await vi.waitFor(() => expect(at(path)).toHaveLength(6), 30_000);
    expect(
      at(path)
        .map(attemptOf)
        .toSorted((a, b) => a - b),
    ).toEqual([1, 1, 1, 2, 2, 2]);
  });

  test("one that is not the merchant's refuses the whole call", async () => {
    const of = await shop(rig.still, "/200/whole");
    const other = await shop(rig.still, "/200/whole");
    await Promise.all([create(of.client), create(other.client)]);
    const [own] = (await ids(of)) as [string];
    const [foreign] = (await ids(other)) as [string];
    const [live] = (await written(of, 1, "production")) as [string];
    await set(of, own, "state = 'delivered'");
    for (const [bad, expected] of [
      [foreign, "404 OBJECT_NOT_FOUND"],
      ["evt_1", "404 OBJECT_NOT_FOUND"],
      [live, "403 ENVIRONMENT_MISMATCH"],
    ] as const) {
      const answer = await of.client.post("/v1/events/resend", { event_ids: [own, bad] });
      expect(outcome(answer)).toBe(expected);
      expect(answer.json.error.details.event_id).toBe(bad);
    }
    expect(await deliveryOf(of, own)).toMatchObject({ state: "delivered", resend_of: null });
  });

  test("a body must say which, in one way", async () => {
    const of = await shop(rig.still, "/200/which");
    await create(of.client);
    const [id] = (await ids(of)) as [string];
    const cases: [unknown, string][] = [
      [{}, "event_ids"],
      [{ event_ids: [] }, "event_ids"],
      [{ event_ids: Array.from({ length: 101 }, () => id) }, "event_ids"],
      [{ event_ids: id }, "event_ids"],
      [{ event_ids: [1] }, "event_ids.0"],
      [{ event_ids: [id], since: "2026-01-01" }, "since"],
      [{ event_ids: [id], state: "all" }, "state"],
      [{ event_ids: [id], starting_after: id }, "starting_after"],
      [{ state: "all" }, "event_ids"],
      [{ since: "yesterday" }, "since"],
      [{ since: 1_750_000_000 }, "since"],
      [{ since: "2026-01-01", state: "pending" }, "state"],
      [{ since: "2026-01-01", starting_after: "evt_1" }, "starting_after"],
      [{ since: "2026-01-01", starting_after: newId("event", 1) }, "starting_after"],
      [{ since: "2026-01-01", until: "2026-01-02" }, "until"],
    ];
    for (const [body, field] of cases) {
      const answer = await of.client.post("/v1/events/resend", body);
      expect(outcome(answer), JSON.stringify(body)).toBe(`422 VALIDATION_ERROR ${field}`);
    }
  });

  test("a call takes a thousand, oldest first, and says where the next one goes on", async () => {
    const of = await shop(rig.still, "/200/thousand");
    const made = await written(of, 2_001, "sandbox", "delivered");
    const body = { since: "2025-01-01", state: "delivered" };
    const first = await resendMany(of, body);
    expect(first).toEqual({ resent: 1_000, has_more: true, next_cursor: made[999] });
    expect((await deliveryOf(of, made[999] as string))?.state).toBe("pending");
    expect((await deliveryOf(of, made[1_000] as string))?.state).toBe("delivered");
    const second = await resendMany(of, { ...body, starting_after: first.next_cursor });
    expect(second).toEqual({ resent: 1_000, has_more: true, next_cursor: made[1_999] });
    const last = await resendMany(of, { ...body, starting_after: second.next_cursor });
    expect(last).toEqual({ resent: 1, has_more: false, next_cursor: null });
    expect(await ids(of, "?delivery=delivered")).toEqual([]);
  });

  test("two calls at once count an event once", async () => {
    const of = await shop(rig.still, "/200/twice");
    await written(of, 50, "sandbox", "undelivered");
    const counts = await Promise.all(Array.from({ length: 4 }, () => resendMany(of, { since: "2025-01-01" })));
    expect(counts.reduce((sum, { resent }) => sum + (resent as number), 0)).toBe(50);
  });
});
