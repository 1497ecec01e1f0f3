// Goal: a merchant sees every event and every attempt of its own, and nobody else's. Method: a service with a TLS receiver
// for what is sent; one without a worker, where nothing moves by itself, for lists.
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Received } from "../../../e2e/kit/receiver.ts";
import { newId } from "../ground/ids.ts";
import {
  type Shop,
  answers,
  rig,
  shop,
  register,
  create,
  advance,
  simulate,
  list,
  events,
  ids,
  read,
  attempts,
  awaitAttempts,
  at,
  attemptOf,
  outcome,
  set,
  written,
  startRig,
  stopRig,
} from "../../test/event-rig.ts";

beforeAll(startRig);
afterAll(stopRig);

describe("lists", () => {
  test("events come newest first, each its envelope as it was sent, and where its delivery stands", async () => {
    const path = "/200/list";
    const of = await shop(rig.service, path);
    const reference = await create(of.client, { metadata: { table: "4" } });
    await simulate(of.client, reference);
    await vi.waitFor(() => expect(at(path)).toHaveLength(2), 30_000);
    const [newest] = await vi.waitFor(async () => {
      const found = await events(of, "?delivery=delivered");
      expect(found.map(({ type }) => type)).toEqual(["payment.succeeded", "payment.created"]);
      return found;
    }, 30_000);
    const { delivery, ...envelope } = newest;
    expect(envelope).toEqual(at(path).find(({ event }) => event.type === "payment.succeeded")?.event);
    expect(delivery).toEqual({
      state: "delivered",
      url: rig.receiver.url(path),
      attempts: 1,
      next_attempt_at: null,
    });
    expect(await read(of, newest.id)).toEqual(newest);
  });

  test("each filter finds what it says, and filters are combined", async () => {
    const of = await shop(rig.still);
    await create(of.client);
    await register(of, "/200/filters");
    const [silent] = (await ids(of)) as [string];
    const made: Record<string, string> = {};
    for (const state of ["delivered", "undelivered", "pending"]) {
      await advance(of.client, 3_600);
      await create(of.client);
      const [id] = (await ids(of)) as [string];
      await set(of, id, `state = '${state}'`);
      made[state] = id;
    }
    const { delivered, undelivered, pending } = made;
    for (const [state, id] of Object.entries(made)) expect(await ids(of, `?delivery=${state}`)).toEqual([id]);
    expect(await ids(of, "?delivery=none")).toEqual([silent]);
    const all = [pending, undelivered, delivered, silent];
    expect(await ids(of)).toEqual(all);
    const [, middle] = await events(of);
    const moment = encodeURIComponent(middle.created_at);
    expect(await ids(of, `?created_from=${moment}`)).toEqual(all.slice(0, 2));
    expect(await ids(of, `?created_to=${moment}`)).toEqual(all.slice(1));
    expect(await ids(of, `?created_from=${moment}&created_to=${moment}`)).toEqual([undelivered]);
    expect(await ids(of, `?created_to=${moment}&delivery=none`)).toEqual([silent]);
    expect(await ids(of, `?created_from=${moment}&delivery=undelivered`)).toEqual([undelivered]);
    const day = (middle.created_at as string).slice(0, 10);
    expect(await ids(of, `?created_from=${day}&created_to=${day}`)).toContain(undelivered);
    expect(await ids(of, "?created_to=2020-01-01")).toEqual([]);
    expect(await ids(of, "?type=payment.created")).toEqual(all);
    expect(await ids(of, "?type=refund.failed")).toEqual([]);
  });

  test("next_attempt_at is there while a delivery is pending, in the book's time", async () => {
    const of = await shop(rig.still, "/200/next");
    await create(of.client);
    const [event] = await events(of);
    expect(event.delivery).toMatchObject({ state: "pending", attempts: 0, next_attempt_at: event.created_at });
  });

  test("pages hold each event once, and the last one says so", async () => {
    const of = await shop(rig.still, "/200/pages");
    for (let count = 0; count < 5; count++) await create(of.client);
    const found: string[] = [];
    const sizes: number[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const { data, has_more, next_cursor } = await list(
        of,
        `?limit=2${cursor === "" ? "" : `&starting_after=${cursor}`}`,
      );
      expect(has_more).toBe(next_cursor !== null);
      sizes.push(data.length);
      found.push(...data.map(({ id }: { id: string }) => id));
      cursor = next_cursor;
    }
    expect(sizes).toEqual([2, 2, 1]);
    expect(found).toEqual(await ids(of));
    expect(await ids(of, `?delivery=pending&limit=1&starting_after=${found[0]}`)).toEqual([found[1]]);
  });

  test("what a list cannot mean is refused by name", async () => {
    const of = await shop(rig.still, "/200/refused");
    const other = await shop(rig.still, "/200/refused");
    await Promise.all([create(of.client), create(other.client)]);
    const [own] = await ids(of);
    const [foreign] = await ids(other);
    const [live] = await written(of, 1, "production");
    const unknown = newId("event", 1);
    const cases: [string, string][] = [
      ["limit=0", "limit"],
      ["limit=101", "limit"],
      ["limit=1&limit=2", "limit"],
      ["type=payment.paid", "type"],
      ["delivery=lost", "delivery"],
      ["created_from=yesterday", "created_from"],
      ["created_to=2026-02-30", "created_to"],
      ["status=pending", "status"],
      ["starting_after=evt_1", "starting_after"],
      [`starting_after=${own?.replace("evt_", "pay_")}`, "starting_after"],
      [`starting_after=${unknown}`, "starting_after"],
      [`starting_after=${foreign}`, "starting_after"],
      [`starting_after=${live}`, "starting_after"],
    ];
    for (const [query, field] of cases) {
      const answer = await of.client.get(`/v1/events?${query}`);
      expect(outcome(answer), query).toBe(`422 VALIDATION_ERROR ${field}`);
    }
    for (const [query, field] of [
      ["limit=0", "limit"],
      ["starting_after=0", "starting_after"],
      ["starting_after=1", "starting_after"],
      ["starting_after=x", "starting_after"],
      ["attempt=1", "attempt"],
    ]) {
      const answer = await of.client.get(`/v1/events/${own}/deliveries?${query}`);
      expect(outcome(answer), query).toBe(`422 VALIDATION_ERROR ${field}`);
    }
    expect(outcome(await of.client.get(`/v1/events/${own}?expand=1`))).toBe("422 VALIDATION_ERROR expand");
  });
});

describe("whose events", () => {
  test("another merchant's are not found, one's own of the other environment are named as such", async () => {
    const of = await shop(rig.still, "/200/whose");
    const other = await shop(rig.still, "/200/whose");
    await create(other.client);
    const [foreign] = await ids(other);
    const [live] = await written(of, 1, "production");
    for (const [id, expected] of [
      ["evt_1", "404 OBJECT_NOT_FOUND"],
      ["nonsense", "404 OBJECT_NOT_FOUND"],
      [newId("event", 1), "404 OBJECT_NOT_FOUND"],
      [newId("payment", 1), "404 OBJECT_NOT_FOUND"],
      [foreign, "404 OBJECT_NOT_FOUND"],
      [live, "403 ENVIRONMENT_MISMATCH"],
    ] as const) {
      expect(outcome(await of.client.get(`/v1/events/${id}`)), id).toBe(expected);
      expect(outcome(await of.client.get(`/v1/events/${id}/deliveries`)), id).toBe(expected);
      expect(outcome(await of.client.post(`/v1/events/${id}/resend`, {})), id).toBe(expected);
      expect(outcome(await of.client.post("/v1/events/resend", { event_ids: [id] })), id).toBe(expected);
    }
    expect(await ids(of)).toEqual([]);
    const liveClient = await rig.still.client(of.merchantId, "production");
    expect(await ids({ ...of, client: liveClient })).toEqual([live]);
    expect(outcome(await liveClient.get(`/v1/events/${live}`))).toBe("200");
  });

  test("a credential needs the scope of each call", async () => {
    const { merchantId, client } = await shop(rig.still, "/200/scopes");
    await create(client);
    const [id] = await ids({ client } as Shop);
    const reader = await rig.still.client(merchantId, "sandbox", ["events:read"]);
    const writer = await rig.still.client(merchantId, "sandbox", ["events:write"]);
    for (const path of ["/v1/events", `/v1/events/${id}`, `/v1/events/${id}/deliveries`]) {
      expect(outcome(await reader.get(path)), path).toBe("200");
      expect(outcome(await writer.get(path)), path).toBe("403 FORBIDDEN");
    }
    for (const [path, body] of [
      [`/v1/events/${id}/resend`, {}],
      ["/v1/events/resend", { event_ids: [id] }],
    ] as const) {
      expect(outcome(await writer.post(path, body)), path).toBe("200");
      expect(outcome(await reader.post(path, body)), path).toBe("403 FORBIDDEN");
    }
  });
});

describe("the history of a delivery", () => {
  test("a receiver that fails and then takes it: each attempt as it went, newest first", async () => {
    const path = "/500/history";
    const of = await shop(rig.service, path);
    answers.set(path, (delivery, response) => {
      if (attemptOf(delivery) === 1) return void response.writeHead(500, { "x-shop": "kopi" }).end("closed");
      if (attemptOf(delivery) === 2) return void response.socket?.destroy();
      response.writeHead(202).end(Buffer.from([0xff, 0xfe, 0x00]));
    });
    await create(of.client);
    const [id] = (await ids(of)) as [string];
    const first = await awaitAttempts(of, id, "pending", 1);
    expect(Date.parse(first.delivery.next_attempt_at) - Date.parse(first.created_at)).toBe(30_000);
    await advance(of.client, 31);
    await awaitAttempts(of, id, "pending", 2);
    await advance(of.client, 90);
    await awaitAttempts(of, id, "delivered", 3);

    const { data, has_more, next_cursor } = await attempts(of, id);
    expect({ has_more, next_cursor }).toEqual({ has_more: false, next_cursor: null });
    const sent = at(path);
    expect(data.map(({ attempt }: { attempt: number }) => attempt)).toEqual([3, 2, 1]);
    for (const { attempt, request, address, started_at } of data) {
      const delivery = sent[attempt - 1] as Received;
      expect(request.url).toBe(rig.receiver.url(path));
      expect(request.body).toBe(delivery.body);
      expect(request.headers["X-SVC-Signature"]).toBe(delivery.headers["x-svc-signature"]);
      expect(request.headers["X-SVC-Delivery-Attempt"]).toBe(String(attempt));
      expect(address).toBe("127.0.0.1");
      expect(Math.abs(Date.parse(started_at) - delivery.at)).toBeLessThan(5_000); // real time, whatever the book's clock says
    }
    const [third, second, one] = data;
    expect(one).toMatchObject({
      succeeded: false,
      status: 500,
      reason: expect.stringContaining("500"),
      response: { headers: { "x-shop": "kopi" }, body: "closed", base64: false },
    });
    expect(second).toMatchObject({ succeeded: false, status: null, reason: expect.any(String), response: null });
    expect(third).toMatchObject({ succeeded: true, status: 202, reason: null });
    expect(third.response).toMatchObject({ body: Buffer.from([0xff, 0xfe, 0x00]).toString("base64"), base64: true });

    const page = await attempts(of, id, "?limit=2");
    expect(page).toMatchObject({ has_more: true, next_cursor: "2" });
    const rest = await attempts(of, id, "?limit=2&starting_after=2");
    expect(rest).toMatchObject({ has_more: false, next_cursor: null });
    expect([...page.data, ...rest.data]).toEqual(data);
    expect(outcome(await of.client.get(`/v1/events/${id}/deliveries?starting_after=4`))).toBe(
      "422 VALIDATION_ERROR starting_after",
    );
  });

  test("a long answer that was cut inside a character is still text", async () => {
    const path = "/200/long";
    answers.set(path, (_delivery, response) => void response.writeHead(200).end(`x${"é".repeat(20_000)}`));
    const of = await shop(rig.service, path);
    await create(of.client);
    const [id] = (await ids(of)) as [string];
    await awaitAttempts(of, id, "delivered", 1);
    const [only] = (await attempts(of, id)).data;
    expect(only.response).toMatchObject({ base64: false, body: `x${"é".repeat(8_191)}` });
  });

  test("an event that had nowhere to go has no attempts", async () => {
    const of = await shop(rig.still);
    await create(of.client);
    const [id] = (await ids(of)) as [string];
    expect(await attempts(of, id)).toEqual({ data: [], has_more: false, next_cursor: null });
  });
});
