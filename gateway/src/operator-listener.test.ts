// Goal: operators have a listener of their own. Nothing of theirs is on the public one, and no flood there keeps them out; nor does one
// on theirs. Method: services on real sockets, attacked from other loopback addresses.
import { once } from "node:events";
import { type Socket, connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { type Answer, readAnswer } from "../../e2e/kit/client.ts";
import { OPERATOR_TOKEN, type TestService, startService } from "../test/kit.ts";
import { SECOND } from "./ground/clock.ts";
import { LOAD_LIMITS } from "./http/load-shedding.ts";

let service: TestService;
const sockets: Socket[] = [];
/** It stands, so that no window ends during a test. */
const clock = { now: () => 1_900_000_000 * SECOND };
beforeAll(async () => {
  // One wrong token a minute, and fifty unauthenticated requests to merchants' API.
  service = await startService({ roles: ["api"], clock, config: { unauthenticatedLimitPerMinute: 50 } });
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(() => service.stop());

const outcome = ({ status, json }: Answer): string => (status < 300 ? String(status) : `${status} ${json.error.code}`);

async function ask(origin: string, path: string, token: string | undefined = OPERATOR_TOKEN): Promise<Answer> {
  return readAnswer(await fetch(origin + path, { headers: { authorization: `Bearer ${token}` } }));
}

/** A connection from another address of this machine. */
async function connected(origin: string, localAddress: string): Promise<Socket> {
  const socket = connect({ port: Number(new URL(origin).port), host: "127.0.0.1", localAddress });
  socket.on("error", () => socket.destroy());
  sockets.push(socket);
  await Promise.race([once(socket, "connect"), once(socket, "close")]);
  return socket;
}

const unfinished = (path: string, head = ""): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\n${head}Content-Length: 100\r\n\r\n{`;

test("the public listener knows no path of the operators, with a good token or without", async () => {
  for (const path of ["/ops/v1/merchants", "/ops/v1/acquirers", "/ops/v1/openapi.json", "/ops/v1"])
    expect(outcome(await ask(service.origin, path)), path).toBe("404 ROUTE_NOT_FOUND");
});

test("the operators' listener knows their paths alone, and answers like every other", async () => {
  const answer = await ask(service.operatorOrigin, "/ops/v1/acquirers");
  expect(answer.status).toBe(200);
  expect(answer.headers.get("x-request-id")).toMatch(/^req_/);
  expect(answer.headers.get("x-ratelimit-limit")).toBe("5");
  expect(outcome(await ask(service.operatorOrigin, "/v1/balances"))).toBe("404 ROUTE_NOT_FOUND");
  const contract = await ask(service.operatorOrigin, "/ops/v1/openapi.json");
  expect(contract.text).toBe(service.app.contracts.operator());
});

test("a full public listener, and an address that has used it up, keep no operator out", async () => {
  for (let n = 0; n < 50; n++) await (await fetch(`${service.origin}/v1/nothing-here`)).text();
  expect((await fetch(`${service.origin}/openapi.json`)).status).toBe(429);
  for (const address of ["127.0.0.2", "127.0.0.3", "127.0.0.4"])
    await Promise.all(
      Array.from({ length: 400 }, async () =>
        (await connected(service.origin, address)).write(unfinished("/v1/payments", "Authorization: Bearer ak_x\r\n")),
      ),
    );
  const held = service.app.metrics.registry.getSingleMetric("gerbang_http_requests_in_flight");
  await vi.waitFor(
    async () =>
      expect((await held?.get())?.values[0]?.value).toBeGreaterThanOrEqual(LOAD_LIMITS.unauthenticated.requests),
    30_000,
  );
  for (let n = 0; n < 20; n++) expect((await ask(service.operatorOrigin, "/ops/v1/acquirers")).status).toBe(200);
});

test("wrong tokens are slowed down by address, while a good one from the same address passes", async () => {
  const wrong = (): Promise<string> => ask(service.operatorOrigin, "/ops/v1/acquirers", "op_wrong").then(outcome);
  for (let n = 0; n < 6; n++) await wrong();
  expect(await wrong()).toBe("429 RATE_LIMITED");
  expect((await ask(service.operatorOrigin, "/ops/v1/acquirers")).status).toBe(200);
});

test("a body is read from nobody without a token: the answer comes before it", async () => {
  const socket = await connected(service.operatorOrigin, "127.0.0.9");
  socket.write(unfinished("/ops/v1/merchants", "Authorization: Bearer op_wrong\r\nConnection: close\r\n"));
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 401 /);
});

test("requests without a token that never end take no room from an operator", async () => {
  for (const address of ["127.0.0.5", "127.0.0.6", "127.0.0.7"])
    await Promise.all(
      Array.from({ length: 200 }, async () => {
        const socket = await connected(service.operatorOrigin, address);
        socket.write("POST /ops/v1/merchants HTTP/1.1\r\nHost: x\r\nContent-Le");
      }),
    );
  for (let n = 0; n < 20; n++) expect((await ask(service.operatorOrigin, "/ops/v1/acquirers")).status).toBe(200);
});

test("a stop closes both listeners", async () => {
  const other = await startService({ database: service.database });
  await other.stop();
  for (const origin of [other.origin, other.operatorOrigin])
    await expect(fetch(origin)).rejects.toThrow("fetch failed");
});
