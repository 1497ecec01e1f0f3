// Goal: nobody without a key can take the room, the connections or the look-ups that merchants need.
// Method: attacks from other loopback addresses on a real socket, while a merchant pays from its own.
import { once } from "node:events";
import { type Socket, connect } from "node:net";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { bareServer } from "../../test/bare-server.ts";
import { type TestService, paymentBody, startService } from "../../test/kit.ts";
import { UnauthenticatedCallers } from "../auth/rate.ts";
import { systemClock } from "../ground/clock.ts";
import { LOAD_LIMITS, LoadShedding } from "./load-shedding.ts";

let service: TestService;
const attackers: Socket[] = [];
beforeAll(async () => {
  service = await startService({ roles: ["api"] });
});
afterEach(() => {
  for (const socket of attackers.splice(0)) socket.destroy();
});
afterAll(() => service.stop());

/** A connection from another address of this machine that sends something and reads nothing. */
async function attacker(
  localAddress: string,
  text: string,
  port = Number(new URL(service.origin).port),
): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", localAddress });
  socket.on("error", () => socket.destroy());
  socket.pause();
  attackers.push(socket);
  await Promise.race([once(socket, "connect"), once(socket, "close")]);
  socket.write(text);
  return socket;
}

/** Pays ten times, one after the other. */
async function pays(): Promise<void> {
  const { client } = await service.merchant();
  for (let n = 0; n < 10; n++) {
    const { json } = await client.post("/v1/payments", paymentBody());
    expect(
      (await client.post(`/v1/sandbox/payments/${json.reference}/simulate`, { outcome: "succeeded" })).status,
    ).toBe(200);
  }
}

const ask = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const body = (announced: number, sent: string): string =>
  `POST /v1/payments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ak_x\r\nContent-Length: ${announced}\r\n\r\n${sent}`;

test("connections that ask without end and never read are cut, and a merchant pays meanwhile", async () => {
  const cut = async (): Promise<number> =>
    (await service.app.metrics.registry.getSingleMetric("gerbang_http_cut_connections")?.get())?.values[0]?.value ?? 0;
  const before = await cut();
  await (await fetch(`${service.origin}/openapi.json`)).text(); // it is made at its first use, which takes a slow machine seconds
  const sockets = await Promise.all(
    Array.from({ length: 9 }, () => attacker("127.0.0.2", ask("/openapi.json").repeat(500))),
  );
  const paying = pays();
  await vi.waitFor(
    () => expect(sockets.filter((socket) => !socket.closed && !socket.destroyed).length).toBe(9),
    30_000,
  );
  await paying;
  const held = await service.app.metrics.registry.getSingleMetric("gerbang_http_requests_in_flight")?.get();
  expect(held?.values[0]?.value).toBeLessThanOrEqual(9 * LOAD_LIMITS.connection);
  // Each connection once, however many requests it had sent.
  expect((await cut()) - before).toBe(9);
});

test("4,200 bodies that never come take no room from a merchant", async () => {
  for (let round = 0; round < 6; round++) {
    await Promise.all(Array.from({ length: 700 }, () => attacker(`127.0.0.${10 + round}`, body(100, "{"))));
    await pays();
  }
  const held = await service.app.metrics.registry.getSingleMetric("gerbang_http_requests_in_flight")?.get();
  expect(held?.values[0]?.value).toBeLessThanOrEqual(LOAD_LIMITS.unauthenticated.requests);
  // The others are cut: to make room, or because their time was up.
  for (const socket of attackers) socket.resume();
  const open = () => attackers.filter((socket) => !socket.destroyed);
  await vi.waitFor(() => expect(open().length).toBeLessThanOrEqual(LOAD_LIMITS.unauthenticated.requests), 30_000);
  const cut = await service.app.metrics.registry.getSingleMetric("gerbang_http_cut_connections")?.get();
  expect(cut?.values[0]?.value).toBeGreaterThan(0);
});

test("large bodies that stay unfinished take no bytes from a merchant", async () => {
  for (const host of [2, 3, 4, 5])
    await Promise.all(
      Array.from({ length: 60 }, () => attacker(`127.0.0.${host}`, body(262_144, " ".repeat(200_000)))),
    );
  await pays();
  const held = await service.app.metrics.registry.getSingleMetric("gerbang_http_body_bytes_in_flight")?.get();
  expect(held?.values[0]?.value).toBeLessThanOrEqual(LOAD_LIMITS.unauthenticated.bytes);
});

test("one address has so many connections and no more; others have theirs", async () => {
  const server = bareServer({ connectionsPerAddress: 5 });
  server.get("/", async () => "here");
  await server.listen({ port: 0, host: "127.0.0.1" });
  const { port } = server.server.address() as { port: number };
  const sockets = await Promise.all(Array.from({ length: 8 }, () => attacker("127.0.0.2", ask("/"), port)));
  for (const socket of sockets) socket.resume();
  await vi.waitFor(() => expect(sockets.filter((socket) => socket.closed)).toHaveLength(3), 30_000);
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200);
  // Who leaves makes room.
  for (const socket of sockets) socket.destroy();
  await vi.waitFor(async () => {
    const next = await attacker("127.0.0.2", ask("/"), port);
    next.resume();
    const heard = once(next, "data").then(() => true);
    expect(await Promise.race([heard, once(next, "close").then(() => false)])).toBe(true);
  }, 30_000);
  for (const socket of attackers) socket.destroy();
  await server.close();
});

test("whoever shares an address with idle connections gets in, and whoever has proved themselves is not cut", async () => {
  const server = bareServer({ connectionsPerAddress: 5 });
  server.get("/", async (_request, reply) => {
    reply.proven();
    return "here";
  });
  await server.listen({ port: 0, host: "127.0.0.1" });
  const { port } = server.server.address() as { port: number };
  const say = async (socket: Socket): Promise<string> => {
    socket.write(ask("/"));
    const said = once(socket, "data").then(([data]) => String(data).split("\r\n")[0]);
    return (await Promise.race([said, once(socket, "close").then(() => "cut")])) ?? "";
  };
  const kept = await attacker("127.0.0.2", "", port);
  expect(await say(kept.resume())).toBe("HTTP/1.1 200 OK");
  for (let round = 0; round < 3; round++) {
    const idle = await Promise.all(Array.from({ length: 10 }, () => attacker("127.0.0.2", "", port)));
    for (const socket of idle) socket.resume();
    await vi.waitFor(() => expect(idle.filter((socket) => socket.closed)).toHaveLength(6), 30_000);
    const honest = await attacker("127.0.0.2", "", port);
    expect(await say(honest.resume())).toBe("HTTP/1.1 200 OK");
    honest.destroy();
    expect(await say(kept)).toBe("HTTP/1.1 200 OK");
  }
  // Where all have proved themselves, there is no room for one more.
  const proven = await Promise.all(Array.from({ length: 4 }, () => attacker("127.0.0.2", "", port)));
  for (const socket of proven) expect(await say(socket.resume())).toBe("HTTP/1.1 200 OK");
  const late = await attacker("127.0.0.2", "", port);
  expect(await say(late.resume())).toBe("cut");
  for (const socket of attackers) socket.destroy();
  await server.close();
});

test("everything at once, from other addresses and from the merchant's own: each of its requests is answered", async () => {
  const { client } = await service.merchant();
  const seen = client.headers("");
  expect((await fetch(`${service.origin}/v1/balances`, { headers: seen })).status).toBe(200);
  const signed = (headers: Record<string, string>): string =>
    `GET /v1/balances HTTP/1.1\r\nHost: x\r\n${Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join("")}\r\n`;
  const wrongKey = signed({ ...seen, authorization: "Bearer ak_test_of_nobody" });
  const wrongSignature = signed({ ...seen, "x-signature": "0".repeat(64) });
  for (const address of ["127.0.0.2", "127.0.0.3", "127.0.0.1"]) {
    const unfinished = body(100, "{").replace("ak_x", client.credentials.client_id);
    await Promise.all([
      ...Array.from({ length: 9 }, () => attacker(address, ask("/openapi.json").repeat(500))),
      ...Array.from({ length: 200 }, () => attacker(address, unfinished)),
      ...[signed(seen), wrongKey, wrongSignature].map((one) => attacker(address, one.repeat(30))),
    ]);
    for (let n = 0; n < 3; n++) {
      const { status, json } = await client.post("/v1/payments", paymentBody());
      expect(status).toBe(201);
      const paid = await client.post(`/v1/sandbox/payments/${json.reference}/simulate`, { outcome: "succeeded" });
      expect([paid.status, (await client.get("/v1/balances")).status]).toEqual([200, 200]);
    }
  }
});

test("who is over the limit is refused on arrival: no handler runs, no body is read", async () => {
  const unauthenticated = new UnauthenticatedCallers(3, systemClock);
  const known = "ak_test_known";
  const server = bareServer({ unauthenticated, isKnown: (clientId) => clientId === known });
  let handled = 0;
  for (const url of ["/open", "/v1/health"])
    server.all(url, async () => {
      handled++;
      return "ok";
    });
  const origin = await server.listen({ port: 0, host: "127.0.0.1" });
  const send = async (path: string, headers: Record<string, string> = {}): Promise<number> =>
    (await fetch(origin + path, { headers })).status;
  // Good answers count as well.
  expect([await send("/open"), await send("/open"), await send("/nowhere")]).toEqual([200, 200, 404]);
  handled = 0;
  for (let n = 0; n < 10; n++) expect(await send("/open")).toBe(429);
  expect(handled).toBe(0);
  expect(await send("/v1/health")).toBe(200);
  // What claims a key is let in until twice the limit is used up, then only a key that is known.
  const claims = { authorization: "Bearer ak_test_unknown" };
  expect([await send("/open", claims), await send("/open", claims), await send("/open", claims)]).toEqual([
    200, 200, 200,
  ]);
  expect(await send("/open", claims)).toBe(429);
  expect(await send("/open", { cookie: "session=x" })).toBe(429);
  expect(await send("/open", { authorization: `Bearer ${known}` })).toBe(200);
  await server.close();
});

test("more addresses than are counted one by one are counted all the same", () => {
  const callers = new UnauthenticatedCallers(10, systemClock);
  for (let n = 0; n < 100_000; n++) callers.count(`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`);
  const late = "203.0.113.7";
  for (let n = 0; n < 10; n++) callers.count(late);
  expect(callers.count(late)).toBe(false);
  expect(callers.allowed(late)).toBe("claims");
  expect(callers.allowed("10.0.0.1")).toBe("all");
});

test("a whole /64 of IPv6 is one caller", () => {
  const callers = new UnauthenticatedCallers(2, systemClock);
  callers.count("2001:db8:1:2::1");
  callers.count("2001:db8:1:2:ffff::9");
  expect(callers.allowed("2001:db8:1:2:abcd::5")).toBe("claims");
  expect(callers.allowed("2001:db8:1:3::1")).toBe("all");
});

test("the room of those who are known has an end, too", () => {
  const one = { requests: 1, bytes: 10 };
  const load = new LoadShedding({
    known: one,
    unauthenticated: { requests: 5, bytes: 10 },
    address: { requests: 5, bytes: 10 },
    connection: 5,
  });
  const request = (): never => ({ socket: { destroy: vi.fn() } }) as never;
  const [first, second] = [request(), request()];
  load.enter(first, "192.0.2.1");
  load.enter(second, "192.0.2.1");
  load.prove(first);
  expect(() => load.prove(second)).toThrow("cannot answer now");
  load.close(first);
  load.prove(second);
  expect([load.requests, load.bytes]).toEqual([1, 0]);
  load.close(second);
  expect(load.requests).toBe(0);
});

test.each([
  ["at the portal's door", "/portal/v1/session", 16_384, 422],
  ["at the door for programs", "/portal/v1/device-codes", 16_384, 422],
  ["as an acquirer", "/acquirers/nusantara/callbacks", 65_536, 404],
])("of who is not known %s no large body is parsed", async (_where, path, most, read) => {
  const { origin } = service;
  const headers: HeadersInit = path.endsWith("session") ? { origin, "sec-fetch-site": "same-origin" } : {};
  const statusOf = async (size: number): Promise<number> => {
    const body = `{"x":"${"y".repeat(size - 8)}"}`;
    const answer = await fetch(service.origin + path, { method: "POST", body, headers });
    await answer.text();
    return answer.status;
  };
  expect(await statusOf(most)).toBe(read);
  expect(await statusOf(most + 1)).toBe(413);
});
