// Goal: an open wall hears within seconds that an acquirer fails, that something waits and that there are new figures, for as long as its operator is let in,
// and nobody keeps more streams open than there is room for. Method: listeners with limits of milliseconds; and revoked tokens over a real socket.
import type { Readable } from "node:stream";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type TestService, openDatabase, paymentBody, startService } from "../../test/kit.ts";
import { type Browser, operates } from "../../test/portal.ts";
import { systemClock } from "../ground/clock.ts";
import { createLog } from "../ground/log.ts";
import type { Database } from "../store/database.ts";
import { type OperatorStreamLimits, OperatorStreams, operatorStreamLimits } from "./stream.ts";
import { slowness, waiting } from "../../test/slowness.ts";

let service: TestService;
let database: Database;
const made: OperatorStreams[] = [];
beforeAll(async () => {
  service = await startService({ roles: ["api"] });
  database = openDatabase(service.database);
});
afterAll(async () => {
  for (const streams of made) streams.open.stop();
  await database.end();
  await service.stop();
});

function streamsWith(limits: Partial<OperatorStreamLimits> = {}): OperatorStreams {
  const quick = { ...operatorStreamLimits, pollMs: 10, waitingMs: 20, heartbeatMs: 30, permissionsMs: 10, ...limits };
  const lanes = { quarantine: new Map() } as never;
  const streams = new OperatorStreams({ database, lanes, clock: systemClock, log: createLog("silent"), limits: quick });
  made.push(streams);
  return streams;
}

interface Heard {
  text: string;
  ended: boolean;
}

function hear(stream: Readable): Heard {
  const heard = { text: "", ended: false };
  stream.on("data", (bytes) => (heard.text += String(bytes)));
  stream.on("close", () => (heard.ended = true));
  return heard;
}

const always = { name: "sari", mayStill: () => Promise.resolve(true) };
const until = (what: () => boolean): Promise<void> => vi.waitFor(() => expect(what()).toBe(true), 30_000);

async function circuit(state: string, failures: number): Promise<void> {
  await database.query({
    text: `insert into telemetry_circuits (process_id, gateway_code, method, state, calls, failures, changed_at)
select process_id, 'nusantara', 'qris', $1, 6, $2, now() from telemetry_processes where ended_at is null
on conflict (process_id, gateway_code, method) do update set state = excluded.state, failures = excluded.failures`,
    values: [state, failures],
  });
}

test("a listener is told to ask for everything, then of what changes, and pinged while nothing does", async () => {
  const heard = hear(await streamsWith().listen(always));
  await until(() => heard.text.includes(": still here"));
  expect(heard.text.startsWith("event: begin\ndata: {}\n\n")).toBe(true);
  await circuit("closed", 2);
  await until(() => heard.text.includes('"state":"closed","calls":6,"failures":2'));
  await circuit("open", 6);
  await until(() =>
    heard.text.includes('event: acquirer\ndata: {"gateway_code":"nusantara","payment_method":"qris","state":"open"'),
  );
  const { client } = await service.merchant();
  await client.post("/v1/payments", paymentBody({ customer: { email: "a@review.test" } }));
  await until(() => heard.text.includes('event: waiting\ndata: {"kind":"review","count":1,"is_more":false}'));
  await until(() => heard.text.includes('event: sample\ndata: {"processes":1}'));
  // What stays as it is, is not told again.
  expect(heard.text.match(/"failures":6/g)).toHaveLength(1);
  expect(heard.text).not.toContain("review.test");
});

test("a stream ends when its operator may not listen any more, and when that is unknown for too long", async () => {
  let may = true;
  const streams = streamsWith({ unknownMs: 60 });
  const [revoked, unknown, stays] = [
    hear(await streams.listen({ name: "a", mayStill: () => Promise.resolve(may) })),
    hear(await streams.listen({ name: "b", mayStill: () => Promise.reject(new Error("the database is away")) })),
    hear(await streams.listen(always)),
  ];
  await until(() => unknown.ended);
  expect(revoked.ended).toBe(false);
  may = false;
  await until(() => revoked.ended);
  expect(stays.ended).toBe(false);
  expect(streams.open.size).toBe(1);
});

test("one operator has so many streams, and all together have so many", async () => {
  const streams = streamsWith({ perOperator: 2, inAll: 3 });
  const first = await streams.listen(always);
  await streams.listen(always);
  await expect(streams.listen(always)).rejects.toMatchObject({ code: "RATE_LIMITED" });
  await streams.listen({ ...always, name: "other" });
  await expect(streams.listen({ ...always, name: "third" })).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
  first.destroy();
  await until(() => streams.open.size === 2);
  await streams.listen(always);
  streams.open.stop();
  expect(streams.open.size).toBe(0);
  await expect(streams.listen(always)).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
});

test("who reads too slowly is cut, and nobody else is", async () => {
  const streams = streamsWith({ unreadBytes: 200 });
  const slow = await streams.listen(always);
  const quick = hear(await streams.listen({ ...always, name: "quick" }));
  await until(() => slow.destroyed);
  expect(quick.ended).toBe(false);
});

test("over a socket a token that is revoked hears the end within seconds", async () => {
  const made = await service.operate("POST", "/tokens", { name: "wall-screen", role: "viewer" });
  const answer = await fetch(`${service.operatorOrigin}/ops/v1/stream`, {
    headers: { authorization: `Bearer ${made.token}` },
  });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  expect(new TextDecoder().decode((await reader.read()).value)).toContain("event: begin");
  const took = await waiting(async () => {
    await service.operate("DELETE", "/tokens/wall-screen");
    while (!(await reader.read()).done);
  });
  expect(took).toBeLessThan(8_000 * slowness());
});

test("over a socket a person who signs out, and one who is no operator any more, hear the end within seconds", async () => {
  const ends: ((operator: Browser) => Promise<unknown>)[] = [
    (operator) => operator.send("DELETE", "/ops/v1/session"),
    async (operator) => {
      const session = await operator.get("/ops/v1/session");
      await service.app.consolePeople.operators.remove(session.json.person.person_id as string);
    },
  ];
  for (const end of ends) {
    const operator = await operates(service, "viewer");
    const answer = await fetch(`${service.operatorOrigin}/ops/v1/stream`, {
      headers: { cookie: operator.cookie ?? "" },
    });
    expect(answer.status).toBe(200);
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    const took = await waiting(async () => {
      await end(operator);
      while (!(await reader.read()).done);
    });
    expect(took).toBeLessThan(8_000 * slowness());
  }
});
