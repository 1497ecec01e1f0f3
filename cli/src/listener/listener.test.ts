// Goal: each event reaches the local program in order, whatever is away for a while, and the developer is told what waits.
// Method: a service and a receiver of a few lines each, on real sockets, that misbehave as a test says.
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { systemClock, wireTime } from "../../../gateway/src/ground/clock.ts";
import { newId } from "../../../gateway/src/ground/ids.ts";
import { sign, unwrap } from "../../../sdk/src/verify.ts";
import { plain } from "../output/color.ts";
import { Cursor } from "./cursor.ts";
import { Feed, pauseFor } from "./feed.ts";
import { Listener } from "./listener.ts";
import { listenerSecret } from "./own-signature.ts";
import { reasonOf } from "./reasons.ts";

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

class Peer {
  server: Server | undefined;
  port = 0;
  handle: Handler;

  constructor(handle: Handler) {
    this.handle = handle;
  }

  async open(): Promise<void> {
    const server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on("data", (part: Buffer) => parts.push(part));
      request.on("end", () => this.handle(request, response, Buffer.concat(parts).toString()));
    });
    server.listen(this.port, "127.0.0.1");
    await once(server, "listening");
    this.port = (server.address() as AddressInfo).port;
    this.server = server;
  }

  async close(): Promise<void> {
    const { server } = this;
    this.server = undefined;
    if (!server) return;
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  }
}

const START = newId("event", 1_000_000);
let directory: string;
let service: Peer;
let receiver: Peer;
/** What the service has, and what its answers begin with instead, if anything. */
let events: string[];
let answers: Handler[];
let asked: URL[];
let got: { id: string; body: string; headers: IncomingMessage["headers"] }[];
let printed: string[];
let said: string[];
let stop: AbortController;
let cut: AbortController;
let runs: Promise<number>[];

const json = (response: ServerResponse, status: number, value: unknown, headers = {}): void =>
  void response
    .writeHead(status, { "x-ratelimit-limit": "100", "x-ratelimit-remaining": "90", ...headers })
    .end(JSON.stringify(value));
const fault =
  (code: string, status: number, headers = {}): Handler =>
  (_request, response) =>
    json(response, status, { error: { code, message: "as said", request_id: "req_1" } }, headers);

/** A service whose watermark is always the newest event: `after` is all that matters. */
const serve: Handler = (request, response) => {
  const url = new URL(request.url ?? "", "http://x");
  asked.push(url);
  const instead = answers.shift();
  if (instead) return instead(request, response, "");
  const after = url.searchParams.get("after");
  if (after === null) return json(response, 200, { data: [], next_after: START, has_more: false, seen: [] });
  const found = events.filter((id) => id > after);
  const data = found
    .slice(0, 100)
    .map((id) => ({ id, type: "payment.created", body: `{"id":"${id}"}`, headers: { "x-id": id } }));
  // Not to wait long is its right: the listener asks again.
  setTimeout(
    () => json(response, 200, { data, next_after: data.at(-1)?.id ?? after, has_more: found.length > 100 }),
    found.length > 0 ? 0 : 50,
  );
};

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "gerbang-listener-"));
  [events, answers, asked, got, printed, said, runs] = [[], [], [], [], [], [], []];
  stop = new AbortController();
  cut = new AbortController();
  service = new Peer(serve);
  receiver = new Peer((request, response, body) => {
    got.push({ id: request.headers["x-id"] as string, body, headers: request.headers });
    response.writeHead(200).end("ok");
  });
  await Promise.all([service.open(), receiver.open()]);
});
afterEach(async () => {
  stop.abort();
  cut.abort();
  await Promise.all(runs);
  await Promise.all([service.close(), receiver.close()]);
  rmSync(directory, { recursive: true });
});

function run(now: () => number = Date.now, secret?: string, secondMs = 100): Promise<number> {
  const cursor = new Cursor(directory, "ak_test_1");
  const baseUrl = `http://127.0.0.1:${service.port}/v1`;
  const listener = new Listener({
    feed: new Feed({ baseUrl, clientId: "ak_test_1", secret: "sk_test_1", now }),
    cursor,
    now,
    secret,
    forwardTo: `http://127.0.0.1:${receiver.port}/hook`,
    print: (line) => void printed.push(line.toString()),
    say: (text) => void said.push(text.toString()),
    paint: plain,
    stop: stop.signal,
    cut: cut.signal,
    timing: { delayMs: 100, delayMaxMs: 3_000, restMs: 100, secondMs },
  });
  const running = listener.run().finally(() => cursor.release());
  runs.push(running);
  return running;
}

const newEvents = (many: number): string[] =>
  Array.from({ length: many }, (_, n) => newId("event", systemClock.now() + n * 1000));
const ready = (): Promise<void> => vi.waitFor(() => expect(said.join("\n")).toContain("Ready"), 30_000);
const arrived = (many: number, timeout = 10_000): Promise<void> =>
  vi.waitFor(() => expect(got.map(({ id }) => id)).toEqual(events.slice(0, many)), timeout);

test("it begins now, hands on bodies and headers as they are, and prints a line for each", async () => {
  const running = run();
  await ready();
  events = newEvents(3);
  await arrived(3);
  expect(got[0]?.body).toBe(`{"id":"${events[0]}"}`);
  expect(said).toEqual([expect.stringMatching(/^Ready: events from now on go to http:.*\/hook\. Ctrl-C ends it\.$/)]);
  for (const [at, line] of printed.entries()) {
    expect(line).toMatch(new RegExp(`^\\d\\d:\\d\\d:\\d\\dZ  payment\\.created     ${events[at]}  200  \\d+ ms$`));
  }
  stop.abort();
  expect(await running).toBe(0);
});

test("a redirect, and an answer after more than ten seconds, are said to be failures, which they are to the service", async () => {
  receiver.handle = (_request, response) => void response.writeHead(302).end();
  void run(Date.now, undefined, 30);
  await ready();
  events = newEvents(1);
  await vi.waitFor(
    () => expect(said.at(-1)).toMatch(/\/hook answered with a redirect: the service counts that as a failure/),
    5_000,
  );
  receiver.handle = (_request, response) => void response.writeHead(301, { Location: "/hook/" }).end();
  events = [...events, ...newEvents(2).slice(1)];
  await vi.waitFor(() => expect(said.at(-1)).toMatch(/\/hook redirected to \/hook\/: the service counts that /), 5_000);
  receiver.handle = (_request, response) => void setTimeout(() => response.writeHead(200).end(), 350);
  events = [...events, ...newEvents(3).slice(2)];
  await vi.waitFor(
    () => expect(said.at(-1)).toMatch(/\/hook took more than 10 seconds: the service counts that as a failure/),
    5_000,
  );
});

test("a second start goes on where the first stopped, and says what waits", async () => {
  void run();
  await ready();
  events = newEvents(2);
  await arrived(2);
  stop.abort();
  await Promise.all(runs);
  stop = new AbortController();
  events = [...events, ...newEvents(150)].sort();
  said = [];
  void run();
  await arrived(152);
  expect(said[0]).toMatch(new RegExp(`^Ready: resuming after ${events[1]} of \\S+Z, more than 100 events waiting\\.`));
});

test("deliveries are signed with the listener's own secret; where several signatures have room, the service's stays", async () => {
  const secret = listenerSecret("sk_test_1");
  expect(secret).toMatch(/^whsec_[\w+/]{43}=$/);
  expect(secret).not.toBe(listenerSecret("sk_test_2"));
  const event = { id: newEvents(1)[0] ?? "", type: "payment.created" };
  const signed = await sign({ secret: "whsec_c2VydmljZQ==", event, headerPrefix: "X-Toko-" });
  void run(Date.now, secret);
  await ready();
  answers = [
    (_request, response) =>
      json(response, 200, { data: [{ ...event, ...signed }], next_after: event.id, has_more: false }),
  ];
  await vi.waitFor(() => expect(got).toHaveLength(1), 30_000);
  const [{ body, headers }] = got as [(typeof got)[number]];
  for (const good of [secret, "whsec_c2VydmljZQ=="])
    expect(await unwrap(body, headers, good, { headerPrefix: "X-Toko-" })).toEqual(event);
  await expect(unwrap(body, headers, "whsec_b3RoZXI=", { headerPrefix: "X-Toko-" })).rejects.toThrow("does not fit");
  const alone = { "x-toko-timestamp": headers["x-toko-timestamp"], "x-toko-signature": headers["x-toko-signature"] };
  expect(await unwrap(body, alone, secret, { headerPrefix: "X-Toko-" })).toEqual(event);
});

test("what a receiver says to a delivery that it refuses is told, in one line and not all of it", async () => {
  receiver.handle = (request, response) => {
    got.push({ id: request.headers["x-id"] as string, body: "", headers: request.headers });
    response.writeHead(400).end(`The signature\n does not fit.\u001B[2J${"x".repeat(100_000)}`);
  };
  void run();
  await ready();
  events = newEvents(1);
  await arrived(1);
  await vi.waitFor(() => expect(said).toHaveLength(3), 30_000);
  expect(said[2]).toMatch(
    /^ {2}A refused event is not forwarded again. To forward it and all that came after it, start again with --from evt_\w{26}/,
  );
  expect(said[1]).toMatch(/^ {2}http:.*\/hook refused it: The signature does not fit\.\ufffd\[2Jx{250,300}…$/);
});

test("a receiver that answers 401 has another secret, most likely: where to find the right one is told once", async () => {
  receiver.handle = (request, response) => {
    got.push({ id: request.headers["x-id"] as string, body: "", headers: request.headers });
    response.writeHead(401).end();
  };
  void run();
  await ready();
  events = newEvents(3);
  await arrived(3);
  await vi.waitFor(() => expect(printed).toHaveLength(3), 30_000);
  expect(said.filter((line) => line.startsWith("  401"))).toEqual([
    `  401: does it verify with the secret named in the first line above, and the body as it arrived, before it is parsed? A refused event is not forwarded again. To forward it and all that came after it, start again with --from ${got[0]?.id}.`,
  ]);
});

test("a value of the service's is text and nothing else, and begins no line of its own", async () => {
  const dirty = "a\u001B[2J\u009B1m\u202E\nb";
  void run();
  await ready();
  events = newEvents(1);
  const data = [{ id: events[0], type: dirty, body: "{}", headers: { "x-id": events[0] } }];
  answers = [
    (_request, response) =>
      json(response, 200, { data, next_after: events[0], has_more: false, forgotten_before: dirty }),
    (_request, response) => json(response, 422, { error: { code: "VALIDATION_ERROR", message: dirty } }),
  ];
  await Promise.all(runs);
  const told = [...printed, ...said];
  expect(told).toHaveLength(4);
  expect(told.filter((line) => line.includes("a\ufffd[2J\ufffd1m\ufffd\ufffdb"))).toHaveLength(3);
  for (const line of told) expect(line).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
});

test.each([
  ["nothing", {}],
  ["a place that is no event", { data: [], next_after: "later", has_more: false }],
  ["ids that are none", { data: [], next_after: START, has_more: false, seen: ["later"] }],
  [
    "more ids than a place has room for",
    { data: [], next_after: START, has_more: false, seen: Array(1_001).fill(START) },
  ],
  ["an event that is none", { data: [{ id: START }], next_after: START, has_more: false }],
  ["events without a next place", { data: [], has_more: false }],
])("an answer in another form ends it with a sentence, and leaves the place as it was: %s", async (_what, body) => {
  const headers = { "x-request-id": "req_1", "content-type": "application/json" };
  answers = [(_request, response) => json(response, 200, body, headers)];
  expect(await run()).toBe(1);
  expect(said).toEqual([
    expect.stringMatching(/^The service answered in a form that this version does not know: .*\nRequest: req_1$/),
  ]);
  const cursor = new Cursor(directory, "ak_test_1");
  expect(cursor.position).toBeUndefined();
  cursor.release();
});

test("a delivery that cannot be sent is not tried for ever", async () => {
  const running = run();
  await ready();
  events = newEvents(1);
  const data = [{ id: events[0], type: "payment.created", body: "{}", headers: { "a header": "x" } }];
  answers = [(_request, response) => json(response, 200, { data, next_after: events[0], has_more: false })];
  runs = [];
  await expect(running).rejects.toThrow(`${events[0]} cannot be handed on`);
});

test("any answer counts, also a redirect, which is not followed", async () => {
  const statuses = [500, 301, 404];
  receiver.handle = (request, response) => {
    got.push({ id: request.headers["x-id"] as string, body: "", headers: request.headers });
    response.writeHead(statuses[got.length - 1] ?? 200, { location: "/elsewhere" }).end("x".repeat(100_000));
  };
  void run();
  await ready();
  events = newEvents(3);
  await arrived(3);
  await vi.waitFor(() => expect(printed.map((line) => line.split("  ")[3] ?? "")).toHaveLength(3), 30_000);
  expect(printed.map((line) => /  (\d{3})  /.exec(line)?.[1])).toEqual(["500", "301", "404"]);
});

test("a receiver that is away is waited for, in order, and nothing is skipped", async () => {
  await receiver.close();
  void run();
  await ready();
  events = newEvents(4);
  await vi.waitFor(() => expect(said).toHaveLength(2), 30_000);
  expect(said[1]).toMatch(
    new RegExp(
      `^payment\\.created ${events[0]} waits: http:.*: nothing accepts connections there\\. Trying again, up to 3 s apart, until it answers …$`,
    ),
  );
  const before = asked.length;
  // Asked for anew each time, so that its signature is fresh.
  await vi.waitFor(() => expect(asked.length).toBeGreaterThan(before), 30_000);
  await receiver.open();
  await arrived(4);
  expect(said).toHaveLength(2); // said once
});

test.each([
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "NODE_EXTRA_CA_CERTS"],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "forward to its http:// address"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "its certificate is for another host name"],
  ["CERT_HAS_EXPIRED", "its certificate has expired"],
])("a receiver whose certificate is not trusted is told of with what to do: %s", (code, said) => {
  const failed = new TypeError("fetch failed", { cause: Object.assign(new Error("no"), { code }) });
  expect(reasonOf(failed)).toContain(said);
});

test("a receiver that hangs up without an answer has not got it", async () => {
  let hangUps = 2;
  const usual = receiver.handle;
  receiver.handle = (request, response, body) =>
    hangUps-- > 0 ? request.socket.destroy() : usual(request, response, body);
  void run();
  await ready();
  events = newEvents(2);
  await arrived(2);
});

test("a service that is away is said so once; when it is back, where it goes on, and how many wait", async () => {
  void run();
  await ready();
  await service.close();
  await vi.waitFor(() => expect(said).toHaveLength(2), 30_000);
  expect(said[1]).toMatch(/^Lost the service: .*\. Trying again, up to 3 s apart, until it is back …$/);
  events = newEvents(2);
  await new Promise((resolve) => setTimeout(resolve, 350));
  answers = [fault("SERVICE_UNAVAILABLE", 503)];
  await service.open();
  await arrived(2, 30_000);
  const begun = wireTime(1_000_000);
  expect(said.slice(2)).toEqual([`The service is back: going on after ${START} of ${begun}, 2 events waiting.`]);
  await service.close();
  await vi.waitFor(() => expect(said).toHaveLength(4), 30_000);
  await service.open();
  await vi.waitFor(() => expect(said).toHaveLength(5), 30_000);
  expect(said[4]).toMatch(
    new RegExp(`^The service is back: going on after ${events[1]} of \\S+Z, 0 events waiting\\.$`),
  );
});

test("a page that answers in the service's place is told of in one sentence, and waited out", async () => {
  answers = [(_request, response) => response.writeHead(200, { "content-type": "text/html" }).end("<title>Sign in")];
  void run();
  await ready();
  expect(said[0]).toMatch(/^Lost the service: The answer .* \(text\/html\)\. Trying again, up to 3 s apart/);
});

test("what is forgotten is said, once, instead of that nothing waits; then it goes on behind it", async () => {
  void run();
  await ready();
  stop.abort();
  await Promise.all(runs);
  stop = new AbortController();
  said = [];
  const forgotten = newId("event", 2_000_000);
  const missed: Handler = (_request, response) =>
    json(response, 200, { data: [], next_after: START, has_more: true, forgotten_before: "2026-10-22T00:00:00Z" });
  answers = [
    missed,
    missed,
    (_request, response) =>
      json(response, 200, {
        data: [],
        next_after: forgotten,
        has_more: false,
        forgotten_before: "2026-10-22T00:00:00Z",
      }),
  ];
  events = newEvents(1);
  void run();
  await arrived(1);
  expect(said).toEqual([
    expect.stringMatching(new RegExp(`^Ready: resuming after ${START} of \\S+Z, more than 0 events waiting\\.`)),
    expect.stringMatching(
      new RegExp(`^Missed: events after ${START} of \\S+Z were deleted .* from before 2026-10-22T00:00:00Z `),
    ),
  ]);
  expect(asked.map((url) => url.searchParams.get("after"))).toContain(forgotten);
});

test("a place at which nothing had happened is told by its time alone", async () => {
  answers = [
    (_request, response) =>
      json(response, 200, {
        data: [],
        next_after: `${START.slice(0, 17)}${"0".repeat(13)}`,
        has_more: false,
        seen: [],
      }),
  ];
  void run();
  await ready();
  await service.close();
  await vi.waitFor(() => expect(said).toHaveLength(2), 30_000);
  await service.open();
  await vi.waitFor(() => expect(said).toHaveLength(3), 30_000);
  expect(said[2]).toMatch(/^The service is back: going on from 1970-01-01T00:00:0\dZ on, 0 events waiting\.$/);
});

test("it is patient when told to be, and gives up when asking again would not help", async () => {
  answers = [
    fault("RATE_LIMITED", 429, { "retry-after": "1" }),
    fault("SIGNATURE_REPLAYED", 401),
    fault("CLIENT_NOT_FOUND", 401),
  ];
  expect(await run()).toBe(1);
  expect(asked).toHaveLength(3);
  expect(said).toEqual(["CLIENT_NOT_FOUND: as said"]);
});

test("what was signed too long ago is asked for again instead of handed on", async () => {
  let ahead = 0;
  const now = (): number => Date.now() + ahead;
  receiver.handle = (request, response) => {
    got.push({ id: request.headers["x-id"] as string, body: "", headers: request.headers });
    if (got.length === 2) ahead += 120_000; // the machine slept here
    response.writeHead(200).end();
  };
  void run(now);
  await ready();
  events = newEvents(4);
  await arrived(4);
  const afters = asked.map((url) => url.searchParams.get("after"));
  expect(afters).toContain(events[1]);
});

test("a stop lets a delivery that is under way be answered, and no other begins", async () => {
  const open: ServerResponse[] = [];
  receiver.handle = (request, response) => {
    got.push({ id: request.headers["x-id"] as string, body: "", headers: request.headers });
    open.push(response);
  };
  const running = run();
  await ready();
  events = newEvents(3);
  await vi.waitFor(() => expect(open).toHaveLength(1), 30_000);
  stop.abort();
  setTimeout(() => open[0]?.writeHead(200).end(), 300);
  expect(await running).toBe(0);
  expect([got.length, printed.length]).toEqual([1, 1]);
  const cursor = new Cursor(directory, "ak_test_1");
  expect(cursor.newest).toBe(events[0]);
  cursor.release();
});

test("most of the quota is left to the developer's own program", () => {
  const inAMinute = (limit: number): number => {
    let used = 0;
    for (let ms = 0; ms < 60_000; ms += 50 + pauseFor(limit, Math.max(0, limit - used))) used++;
    return used;
  };
  expect(inAMinute(100)).toBeLessThan(75);
  expect(pauseFor(undefined, undefined)).toBe(1_000);
  expect(pauseFor(100_000, 99_000)).toBe(200);
});
