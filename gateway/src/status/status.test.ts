// Goal: everybody reads what works, cheaply, and what operators say about it, as text and nothing else. Method: a real service asked as browsers, feed
// readers and attackers do; incidents written by operators; and rows of deliveries and settlements looked at later than they were due.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type TestService, asOwner, openDatabase, paymentBody, startService } from "../../test/kit.ts";
import { operatorCaller, outcomeOf } from "../../test/operator.ts";
import { SECOND, rssTime, systemClock, wireTime } from "../ground/clock.ts";
import { uuidOf } from "../ground/ids.ts";
import { createLog } from "../ground/log.ts";
import { incidentEndpoints } from "../operator/incidents.routes.ts";
import type { Database } from "../store/database.ts";
import { Board } from "./board.ts";
import { UPDATES_MAX } from "./incident.ts";
import { Incidents } from "./incidents.ts";
import { Minutes } from "./minutes.ts";
import { statusSchema } from "./status.schema.ts";
import { type CountsRow, countBooksBySettlementDelay, countBooksByDeliveryDelay } from "./status.sql.ts";

const ATTACK = `<script>alert("1")</script> & ]]> <img src=x onerror='x'>`;
const HOUR = 3600 * SECOND;
const log = createLog("silent");

let service: TestService;
let database: Database;
const parts = { clock: systemClock } as Parameters<typeof incidentEndpoints>[0];
const ask = operatorCaller(() => service, incidentEndpoints(parts));

beforeAll(async () => {
  service = await startService({ roles: ["api"], config: { serviceName: "Bayar Kita" } });
  database = openDatabase(service.database);
});
afterAll(async () => {
  await database.end();
  await service.stop();
});

const get = (path: string, headers: Record<string, string> = {}) => fetch(service.origin + path, { headers });
const shown = async () => statusSchema.parse(await (await get("/status.json")).json());
/** A page is written once a second at most. */
const later = async <T>(look: () => Promise<T>): Promise<T> => vi.waitFor(look, { timeout: 30_000, interval: 100 });
const incident = (changes: Record<string, unknown> = {}) => ({
  title: "Card payments fail",
  impact: "major",
  components: ["card"],
  message: "We are looking into it.",
  ...changes,
});

describe("the page", () => {
  test("tells everybody what works, without a sign-in, and may be kept for a moment", async () => {
    const told = await later(async () => {
      const status = await shown();
      expect(status.components.find(({ component }) => component === "api")?.state).toBe("operational");
      return status;
    });
    expect(told).toMatchObject({ service: "Bayar Kita", from_memory: false });
    expect(told.components.map(({ component }) => component)).toEqual([
      "api",
      "qris",
      "va",
      "card",
      "ewallet",
      "bank_transfer",
      "webhooks",
      "settlements",
    ]);
    for (const component of told.components) expect(component.days).toHaveLength(90);
    expect(told.components[0]?.days.at(-1)?.day).toBe(wireTime(systemClock.now()).slice(0, 10));
    for (const [path, type] of [
      ["/status", "text/html; charset=utf-8"],
      ["/status.json", "application/json; charset=utf-8"],
      ["/status.rss", "application/rss+xml; charset=utf-8"],
    ] as const) {
      const answer = await get(path);
      expect([answer.status, answer.headers.get("content-type")]).toEqual([200, type]);
      expect(answer.headers.get("cache-control")).toBe("public, max-age=10");
      expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
      expect(answer.headers.get("x-ratelimit-remaining")).toMatch(/^\d+$/);
      expect(answer.headers.get("set-cookie")).toBeNull();
      expect(answer.headers.get("content-encoding")).toBe("gzip");
      expect((await get(path, { "accept-encoding": "gzip;q=0" })).headers.get("content-encoding")).toBeNull();
      expect((await fetch(service.origin + path, { method: "HEAD" })).status).toBe(200);
      expect((await fetch(service.origin + path, { method: "POST" })).status).toBe(405);
    }
  });

  test("speaks Indonesian or English, and its style and script are kept for good", async () => {
    const english = await (await get("/status")).text();
    expect(english).toContain('<html lang="en">');
    expect(english).toContain("Bayar Kita");
    const indonesian = await get("/status", { "accept-language": "id-ID,en;q=0.5" });
    expect(indonesian.headers.get("vary")).toContain("accept-language");
    expect(await indonesian.text()).toContain("Dompet digital");
    expect(await (await get("/status?lang=id")).text()).toContain("Dompet digital");
    const files = [...english.matchAll(/(?:href|src)="(\/status\/[^"]+)"/g)].map(([, path]) => path ?? "");
    expect(files).toHaveLength(2);
    for (const path of files) {
      const file = await get(path);
      expect([file.status, file.headers.get("cache-control")]).toEqual([200, "public, max-age=31536000, immutable"]);
    }
    expect((await get("/status/other.css")).status).toBe(404);
    expect(english).not.toMatch(/<script(?! type="module" src=)|\sstyle="|\son\w+=/);
  });

  test("is read from the database once, however many look", async () => {
    const spy = vi.spyOn(service.app.database, "pipeline");
    await Promise.all(
      Array.from({ length: 200 }, (_, at) => get(["/status", "/status.json", "/status.rss"][at % 3] ?? "")),
    );
    expect(spy.mock.calls.length).toBeLessThanOrEqual(2);
    spy.mockRestore();
  });

  test("holds whoever asks too often to the limit of their address", async () => {
    const limited = await startService({ roles: ["api"], config: { unauthenticatedLimitPerMinute: 20 } });
    const statuses: number[] = [];
    // A window may end in between: more than two of them hold.
    for (let at = 0; at < 45; at++) statuses.push((await fetch(`${limited.origin}/status`)).status);
    await limited.stop();
    expect(statuses.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 200));
    expect(statuses).toContain(429);
  });

  test("is where answers of 5xx point to, unless another address is configured", async () => {
    const fail = vi.spyOn(service.app.database, "query").mockRejectedValue(new Error("planted"));
    const { client } = await service.merchant().catch(async () => {
      fail.mockRestore();
      const made = await service.merchant();
      vi.spyOn(service.app.database, "query").mockRejectedValue(new Error("planted"));
      return made;
    });
    const answer = await client.get("/v1/balances");
    vi.restoreAllMocks();
    expect(answer.status).toBe(500);
    expect(answer.headers.get("link")).toBe(`<${service.origin}/status>; rel="status"`);
    expect((await fetch(`${service.origin}/status`)).status).toBe(200);
  });

  test("tells nothing of merchants, of amounts or of acquirers", async () => {
    const { client } = await service.merchant({ name: "Kopi Rahasia" });
    await client.post("/v1/payments", paymentBody({ amount_minor: 123_456_789 }));
    const all = await Promise.all(
      ["/status", "/status.json", "/status.rss"].map(async (path) => (await get(path)).text()),
    );
    for (const text of all) expect(text).not.toMatch(/Rahasia|123456789|mer_|nusantara|samudra|merapi|cendana|op_|sk_/);
  });
});

test("requests that were signed rightly count, nobody else's do, and a stop writes them", async () => {
  const other = await startService({ roles: ["api"] });
  const { client } = await other.merchant();
  for (let at = 0; at < 7; at++) expect((await client.get("/v1/balances")).status).toBe(200);
  expect((await client.get("/v1/payments/pay_x")).status).toBe(404); // well answered
  for (let at = 0; at < 9; at++) expect((await fetch(`${other.origin}/v1/balances`)).status).toBe(401);
  await other.stop();
  const rows = await asOwner(other.database, async (owner) => {
    const text =
      "select sum(good + slow)::int as well, sum(bad)::int as bad from status_minutes where component = 'api'";
    return (await owner.query(text)).rows as unknown[];
  });
  expect(rows).toEqual([{ well: 8 + 1, bad: 0 }]); // and the probe at the start
});

describe("an incident", () => {
  test("is told at once, goes on, is corrected and ends; its texts are text everywhere", async () => {
    const { status, json: made } = await ask("POST", "/incidents", {
      body: incident({ title: ATTACK, message: `${ATTACK}\nsecond line` }),
    });
    expect(status).toBe(201);
    expect(made).toMatchObject({ status: "investigating", phase: "open", created_by: "environment", ends_at: null });
    const path = `/incidents/${made.incident_id}`;
    const card = () =>
      later(async () => {
        const found = await shown();
        expect(found.incidents.map(({ incident_id }) => incident_id)).toContain(made.incident_id);
        return found;
      });
    const told = await card();
    expect(told.components.find(({ component }) => component === "card")?.state).toBe("degraded");
    expect(told.state).toBe("degraded");
    const page = await later(async () => {
      const text = await (await get("/status")).text();
      expect(text).toContain(made.incident_id);
      return text;
    });
    expect(page).not.toContain("<script>alert");
    expect(page).not.toContain("<img");
    expect(page).toContain("&#60;script&#62;alert");
    expect(page).not.toContain("environment");
    const feed = await later(async () => {
      const text = await (await get("/status.rss")).text();
      expect(text).toContain(made.incident_id);
      return text;
    });
    expect(feed).not.toContain("<script");
    expect(feed).not.toContain("]]>");

    const { json: gone } = await ask("POST", `${path}/updates`, {
      body: { status: "identified", message: "Foudn it." },
    });
    expect(gone.updates.map(({ status: one }: { status: string }) => one)).toEqual(["investigating", "identified"]);
    const { update_id: update } = gone.updates[1];
    const { json: corrected } = await ask("PATCH", `${path}/updates/${update}`, { body: { message: "Found it." } });
    expect(corrected.updates[1]).toMatchObject({ update_id: update, message: "Found it.", status: "identified" });
    expect(corrected.updates[1].corrected_at).not.toBeNull();
    expect(corrected.updates).toHaveLength(2);
    const { json: edited } = await ask("PATCH", path, { body: { title: "Cards fail", impact: "critical" } });
    expect(edited).toMatchObject({ title: "Cards fail", impact: "critical", components: ["card"] });
    await later(async () => {
      const { components, incidents } = await shown();
      expect(components.find(({ component }) => component === "card")).toMatchObject({
        state: "outage",
        measured: "operational",
      });
      expect(incidents[0]?.updates.map(({ message }) => message)).toEqual(["Found it.", `${ATTACK}\nsecond line`]);
      expect(incidents[0]?.updates[0]).not.toHaveProperty("by");
    });
    const { json: done } = await ask("POST", `${path}/updates`, {
      body: { status: "resolved", message: "All is well." },
    });
    expect(done).toMatchObject({ phase: "over", status: "resolved" });
    await later(async () => {
      const { components, incidents, past } = await shown();
      expect(components.find(({ component }) => component === "card")?.state).toBe("operational");
      expect(incidents).toEqual([]);
      expect(past.map(({ incident_id }) => incident_id)).toContain(made.incident_id);
    });
    const { json: again } = await ask("POST", `${path}/updates`, {
      body: { status: "monitoring", message: "Not quite." },
    });
    expect(again).toMatchObject({ phase: "open", resolved_at: null });
    await ask("POST", `${path}/updates`, { body: { status: "resolved", message: "Now it is." } });
    const kept = await asOwner(service.database, async (owner) =>
      (await owner.query<{ message: string }>("select message from incident_updates order by update_id")).rows.map(
        ({ message }) => message,
      ),
    );
    expect(kept).toContain("Foudn it.");
  });

  test("planned work is told before, shown as such while it runs, and ends by itself", async () => {
    const now = systemClock.now();
    const times = { starts_at: wireTime(now + HOUR), ends_at: wireTime(now + 2 * HOUR) };
    const { json: made } = await ask("POST", "/incidents", {
      body: incident({ title: "New server", impact: "maintenance", components: ["webhooks"], ...times }),
    });
    expect(made).toMatchObject({ status: "scheduled", phase: "planned" });
    const told = await later(async () => {
      const found = await shown();
      expect(found.maintenance.map(({ title }) => title)).toEqual(["New server"]);
      return found;
    });
    expect(told.components.find(({ component }) => component === "webhooks")?.state).not.toBe("maintenance");
    // Whoever reads the feed alone has to learn when it will be.
    const [from, until] = Object.values(times).map((text) => new Date(text).toUTCString());
    expect(await (await get("/status.rss")).text()).toContain(`From ${from} · Until ${until}`);
    const at = (moment: number) =>
      new Board({ database, clock: { now: () => moment }, log, minutes: new Minutes(), hears: () => true });
    const { statusView } = await import("./view.ts");
    const during = statusView(await at(now + 1.5 * HOUR).read(), new Set());
    expect(during.components.find(({ component }) => component === "webhooks")?.state).toBe("maintenance");
    expect(during.incidents.open.map(({ title }) => title)).toEqual(["New server"]);
    const after = statusView(await at(now + 3 * HOUR).read(), new Set());
    expect(after.components.find(({ component }) => component === "webhooks")?.state).toBe("no_data");
    expect(after.incidents.over.map(({ title }) => title)).toContain("New server");
    const { json: cancelled } = await ask("POST", `/incidents/${made.incident_id}/updates`, {
      body: { status: "resolved", message: "Not today." },
    });
    expect(cancelled.phase).toBe("over");
    expect(outcomeOf(await ask("PATCH", `/incidents/${made.incident_id}`, { body: { impact: "minor" } }))).toBe(
      "422 VALIDATION_ERROR impact",
    );
  });

  const soon = (hours: number) => wireTime(systemClock.now() + hours * HOUR);
  test.each([
    ["no title", { title: "" }, "title"],
    ["a title of spaces", { title: "   " }, "title"],
    ["a long title", { title: "x".repeat(121) }, "title"],
    ["a title of two lines", { title: "a\nb" }, "title"],
    ["a title that reads backwards", { title: "a\u202Eb" }, "title"],
    ["NUL", { message: "a\0b" }, "message"],
    ["half a character", { message: "a\uD800b" }, "message"],
    ["what XML forbids", { message: "a\u000Bb" }, "message"],
    ["a long message", { message: "x".repeat(2_001) }, "message"],
    ["an unknown component", { components: ["ledger"] }, "components.0"],
    ["a component twice", { components: ["api", "api"] }, "components"],
    ["an unknown impact", { impact: "huge" }, "impact"],
    ["a time that is none", { starts_at: "2026-02-31T00:00:00Z" }, "starts_at"],
    ["an incident of tomorrow", { starts_at: soon(24) }, "starts_at"],
    ["an incident of long ago", { starts_at: soon(-24 * 31) }, "starts_at"],
    ["an incident with an end", { ends_at: soon(1) }, "ends_at"],
    ["planned work without an end", { impact: "maintenance" }, "ends_at"],
    [
      "planned work that ends before it starts",
      { impact: "maintenance", starts_at: soon(2), ends_at: soon(1) },
      "ends_at",
    ],
    ["planned work that is over", { impact: "maintenance", starts_at: soon(-2), ends_at: soon(-1) }, "ends_at"],
    ["planned work of a month", { impact: "maintenance", starts_at: soon(2), ends_at: soon(720) }, "ends_at"],
    [
      "planned work of the year after next",
      { impact: "maintenance", starts_at: soon(24 * 367), ends_at: soon(24 * 367 + 1) },
      "starts_at",
    ],
    ["another field", { html: "x" }, "html"],
  ])("with %s is refused", async (_what, changes, field) => {
    expect(outcomeOf(await ask("POST", "/incidents", { body: incident(changes) }))).toBe(
      `422 VALIDATION_ERROR ${field}`,
    );
  });

  test("planned work that runs cannot have ended before now, and one that is over keeps its end and can be put right", async () => {
    let now = systemClock.now() - 4 * HOUR;
    const incidents = new Incidents(database, { now: () => now });
    const [startsAt, endsAt] = [now, now + 3 * HOUR];
    const planned = {
      title: "Work",
      impact: "maintenance",
      components: [],
      message: "We work.",
      startsAt,
      endsAt,
    } as const;
    const { incidentId } = await incidents.create(planned, "sari");
    now += 2 * HOUR;
    await expect(incidents.edit(incidentId, { endsAt: now - HOUR })).rejects.toThrow("It must end in the future.");
    expect((await incidents.edit(incidentId, { endsAt: now + HOUR / 2 })).endsAt).toBe(now + HOUR / 2);
    now += HOUR;
    for (const change of [{ title: "It was short" }, { title: "It was shorter", endsAt: now - HOUR / 2 }])
      expect(await incidents.edit(incidentId, change)).toMatchObject({ ...change, endsAt: now - HOUR / 2 });
    const corrected = { endsAt: now - (3 * HOUR) / 4 };
    expect(await incidents.edit(incidentId, corrected)).toMatchObject(corrected);
  });

  test("ends when that is first said, and is shown for two weeks more; its texts and its start can be put right", async () => {
    let now = systemClock.now() - 10 * HOUR;
    const incidents = new Incidents(database, { now: () => now });
    const told = { title: "Slow", impact: "minor", components: [], message: "It is slow.", endsAt: undefined } as const;
    const { incidentId, updates } = await incidents.create({ ...told, startsAt: undefined }, "sari");
    const updateId = updates[0]?.updateId ?? "";
    for (const message of ["It is slwo.", "It is very slow."])
      expect((await incidents.correct(incidentId, updateId, message, "sari")).updates).toMatchObject([{ message }]);
    now += 2 * HOUR;
    expect(await incidents.edit(incidentId, { startsAt: now - HOUR })).toMatchObject({ startsAt: now - HOUR });
    await expect(incidents.edit(incidentId, { startsAt: now + HOUR })).rejects.toThrow("An incident has begun");
    const say = (status: "monitoring" | "resolved") => incidents.update(incidentId, status, "x", "sari");
    const over = now;
    expect((await say("resolved")).resolvedAt).toBe(over);
    now += HOUR;
    expect((await say("resolved")).resolvedAt).toBe(over);
    expect((await say("monitoring")).resolvedAt).toBeUndefined();
    expect((await say("resolved")).resolvedAt).toBe(now);
    const isShown = async (days: number) => {
      const clock = { now: () => now + days * 24 * HOUR };
      const { snapshot } = await new Board({ database, clock, log, minutes: new Minutes(), hears: () => true }).read();
      return snapshot?.incidents.some((one) => one.incidentId === incidentId);
    };
    expect([await isShown(14), await isShown(15)]).toEqual([true, false]);
    for (let said = 5; said < UPDATES_MAX; said++) await say("resolved");
    await expect(say("resolved")).rejects.toThrow("There are 100 updates.");
  });

  test("that is not there is not found, and lists are pages", async () => {
    const unknown = "inc_01kan5h3c8m2xw6tq9z4yb7vne";
    const update = { status: "resolved", message: "x" };
    for (const id of [unknown, "inc_x", "pay_01kan3t5q8e4vs0x7ybd2m9fjh"]) {
      expect(outcomeOf(await ask("GET", `/incidents/${id}`))).toBe("404 OBJECT_NOT_FOUND");
      expect(outcomeOf(await ask("PATCH", `/incidents/${id}`, { body: {} }))).toBe("404 OBJECT_NOT_FOUND");
      expect(outcomeOf(await ask("POST", `/incidents/${id}/updates`, { body: update }))).toBe("404 OBJECT_NOT_FOUND");
    }
    const { json: made } = await ask("POST", "/incidents", { body: incident({ impact: "none", components: [] }) });
    const wrong = `/incidents/${made.incident_id}/updates/inu_01kan5h3d4q7vz9nb2e6tx8mwc`;
    expect(outcomeOf(await ask("PATCH", wrong, { body: { message: "x" } }))).toBe("404 OBJECT_NOT_FOUND");
    expect(outcomeOf(await ask("GET", `/incidents?starting_after=${unknown}`))).toBe(
      "422 VALIDATION_ERROR starting_after",
    );
    const { json: first } = await ask("GET", "/incidents?limit=1");
    expect(first).toMatchObject({ has_more: true, next_cursor: made.incident_id });
    const { json: second } = await ask("GET", `/incidents?limit=1&starting_after=${first.next_cursor}`);
    expect(second.data[0].incident_id).not.toBe(made.incident_id);
    const { json: open } = await ask("GET", "/incidents?open=true");
    expect(open.data.map(({ incident_id }: { incident_id: string }) => incident_id)).toEqual([made.incident_id]);
    const { json: status } = await ask("GET", "/status");
    expect(status).toMatchObject({ public_url: `${service.origin}/status`, status: { service: "Bayar Kita" } });
    await ask("POST", `/incidents/${made.incident_id}/updates`, { body: update });
  });

  test("is one of thirty that are open at most, also when many are written at once", async () => {
    const statuses = await Promise.all(
      Array.from({ length: 34 }, async () => outcomeOf(await ask("POST", "/incidents", { body: incident() }))),
    );
    expect(statuses.filter((status) => status === "201")).toHaveLength(30);
    expect(new Set(statuses)).toEqual(new Set(["201", "422 VALIDATION_ERROR title"]));
    const incidents = new Incidents(database, systemClock);
    const open = await incidents.list({ open: true, after: undefined, count: 100 });
    await Promise.all(open.map(({ incidentId }) => incidents.update(incidentId, "resolved", "x", "sari")));
    expect(await incidents.list({ open: true, after: undefined, count: 100 })).toEqual([]);
  });

  test("what was said about it stays, whoever tries", async () => {
    for (const text of [
      "update incident_updates set message = 'x'",
      "delete from incident_updates",
      "truncate incident_updates",
      "delete from incidents",
      "truncate incidents cascade",
      "update incidents set created_by = 'x'",
      "update incidents set impact = 'maintenance', ends_at = starts_at + interval '1 hour' where impact = 'major'",
    ])
      await asOwner(service.database, (owner) =>
        expect(owner.query(text), text).rejects.toMatchObject({ code: "GB005" }),
      );
  });
});

describe("deliveries and settlements", () => {
  const condition = async (statement: typeof countBooksByDeliveryDelay, laterBy: number) => {
    const [row] = await database.query<CountsRow>(statement(systemClock.now() + laterBy * SECOND));
    return [Number(row?.good), Number(row?.slow), Number(row?.bad)];
  };

  test("a first attempt that no worker looks at is ours; one whose receiver takes no more is not", async () => {
    expect(await condition(countBooksByDeliveryDelay, 0)).toEqual([1, 0, 0]);
    const { client, merchantId } = await service.merchant();
    await service.operate("PUT", `/merchants/${merchantId}/webhook`, {
      environment: "sandbox",
      url: "https://shop.example.com/hook",
    });
    await client.post("/v1/payments", paymentBody());
    expect(await condition(countBooksByDeliveryDelay, 30)).toEqual([1, 0, 0]);
    expect(await condition(countBooksByDeliveryDelay, 100)).toEqual([0, 1, 0]);
    expect(await condition(countBooksByDeliveryDelay, 200)).toEqual([0, 0, 1]);
    const set = (text: string) =>
      asOwner(service.database, (owner) => owner.query(`update deliveries set url = url, ${text}`));
    await set("leased_until = now() + interval '190 seconds'"); // set aside a moment ago
    expect(await condition(countBooksByDeliveryDelay, 200)).toEqual([1, 0, 0]);
    await set("leased_until = now()"); // nobody came back to it
    expect(await condition(countBooksByDeliveryDelay, 200)).toEqual([0, 0, 1]);
    await set("attempts = 1"); // the receiver has failed: its own affair
    expect(await condition(countBooksByDeliveryDelay, 200)).toEqual([1, 0, 0]);
    // By the clock of its sandbox.
    await set("attempts = 0, next_attempt_at = next_attempt_at + interval '1 day'");
    expect(await condition(countBooksByDeliveryDelay, 200)).toEqual([1, 0, 0]);
    await asOwner(service.database, (owner) =>
      owner.query("update books set clock_offset_seconds = 86400 where environment = 'sandbox' and merchant_id = $1", [
        uuidOf(merchantId),
      ]),
    );
    expect(await condition(countBooksByDeliveryDelay, 30)).toEqual([1, 0, 0]);
    expect(await condition(countBooksByDeliveryDelay, 200)).toEqual([0, 0, 1]);
    // By the oldest of them.
    await client.post("/v1/payments", paymentBody());
    const newest = "(select event_id from deliveries order by event_id desc limit 1)";
    await set(`next_attempt_at = next_attempt_at + (event_id = ${newest})::integer * interval '170 seconds'`);
    expect(await condition(countBooksByDeliveryDelay, 200)).toEqual([0, 0, 1]);
    await set("attempts = 1");
  });

  test("a settlement run that is overdue is ours", async () => {
    const { merchantId } = await service.merchant();
    const books = (await condition(countBooksBySettlementDelay, 0)).reduce((a, b) => a + b);
    await asOwner(service.database, (owner) =>
      owner.query(
        `insert into settlement_clocks values ('${uuidOf(merchantId)}', 'sandbox', now()) on conflict (merchant_id, environment) do update set next_run_at = now()`,
      ),
    );
    expect(await condition(countBooksBySettlementDelay, 60)).toEqual([books, 0, 0]);
    expect(await condition(countBooksBySettlementDelay, 180)).toEqual([books - 1, 1, 0]);
    expect(await condition(countBooksBySettlementDelay, 1_000)).toEqual([books - 1, 0, 1]);
    // By the clock of its sandbox.
    await asOwner(service.database, async (owner) => {
      await owner.query(
        "update settlement_clocks set next_run_at = next_run_at + interval '1 day' where merchant_id = $1",
        [uuidOf(merchantId)],
      );
      await owner.query(
        "update books set clock_offset_seconds = 86400 where environment = 'sandbox' and merchant_id = $1",
        [uuidOf(merchantId)],
      );
    });
    expect(await condition(countBooksBySettlementDelay, 180)).toEqual([books - 1, 1, 0]);
  });

  test("so is a payout that nobody records, in production after a day, and not while its wallet is frozen", async () => {
    const { merchantId } = await service.merchant();
    const change = (...texts: string[]) =>
      asOwner(service.database, async (owner) => {
        await owner.query("set session_replication_role = replica"); // no triggers: the batch has no journals
        for (const text of texts) await owner.query(text);
      });
    await change(
      "delete from settlement_clocks",
      "delete from settlements",
      `insert into settlements (merchant_id, environment, settlement_id, status, currency, period_start, period_end, gross_minor, fee_minor,
  refund_minor, net_minor, payment_count, created_at, pay_due_at, payout_date)
values ('${uuidOf(merchantId)}', 'sandbox', gen_random_uuid(), 'processing', 'IDR', now(), now(), 1, 0, 0, 1, 1, now(), now(), now())`,
    );
    const late = (laterBy: number) => condition(countBooksBySettlementDelay, laterBy);
    const books = (await late(60))[0] ?? 0;
    const [none, slow, bad] = [
      [books, 0, 0],
      [books - 1, 1, 0],
      [books - 1, 0, 1],
    ];
    expect([await late(60), await late(180), await late(1_000)]).toEqual([none, slow, bad]);
    const setClock = (seconds: number) =>
      `update books set clock_offset_seconds = ${seconds} where environment = 'sandbox' and merchant_id = '${uuidOf(merchantId)}'`;
    await change(setClock(940));
    expect(await late(60)).toEqual(bad);
    await change(setClock(0), "update settlements set environment = 'production'");
    expect(await late(1_000)).toEqual(none);
    await change("update settlements set pay_due_at = pay_due_at - interval '1 day'");
    expect([await late(60), await late(180), await late(1_000)]).toEqual([none, slow, bad]);
    await service.operate("PATCH", `/merchants/${merchantId}`, { wallet_frozen: { IDR: true } });
    expect(await late(1_000)).toEqual(none);
    await service.operate("PATCH", `/merchants/${merchantId}`, { wallet_frozen: { IDR: false } });
    expect(await late(1_000)).toEqual(bad);
    await change("update settlements set status = 'paid', paid_at = now(), bank_reference = 'x'");
    expect(await late(1_000)).toEqual(none);
  });
});

test("a feed's times are those of RFC 822", () => {
  expect(rssTime(Date.parse("2026-09-06T00:05:09Z") * 1_000)).toBe("Sun, 06 Sep 2026 00:05:09 GMT");
});

const python = spawnSync("python3", ["--version"]).status === 0;
test.skipIf(!python)("the feed is XML, by a parser that is not ours", async () => {
  const feed = await (await get("/status.rss")).text();
  const program = `import sys, json, xml.etree.ElementTree as x
root = x.fromstring(sys.stdin.buffer.read())
print(json.dumps([root.tag, root.get("version"), [[i.findtext(n) for n in ("title", "guid", "pubDate", "description", "link")] for i in root.iter("item")]]))`;
  const parsed = JSON.parse(spawnSync("python3", ["-c", program], { input: feed, encoding: "utf8" }).stdout) as [
    string,
    string,
    string[][],
  ];
  expect(parsed.slice(0, 2)).toEqual(["rss", "2.0"]);
  expect(parsed[2].length).toBeGreaterThan(3);
  const attacked = parsed[2].find(([, , , description = ""]) => description.includes("&#60;script"));
  expect(attacked?.[0]).toBe("Cards fail: investigating");
  for (const item of parsed[2]) for (const part of item) expect(part).toBeTruthy();
});

test("the guide's example has the shape of the page's data", () => {
  const guide = readFileSync(new URL("../../../docs/guides/status.md", import.meta.url), "utf8");
  const [, example = ""] = /```json\n([\s\S]*?)```/.exec(guide) ?? [];
  expect(statusSchema.parse(JSON.parse(example)).components.length).toBeGreaterThan(0);
});
