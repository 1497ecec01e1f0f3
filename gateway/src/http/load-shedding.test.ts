// Goal: whatever comes at once, and whatever PostgreSQL does meanwhile, the process holds a bounded amount and says so in time.
// Method: a server with small limits and a door that the test keeps shut; a whole service whose PostgreSQL is stopped.
import { signalServer } from "../../test/postgres-server.ts";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { type IncomingMessage, request as httpRequest } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { Client } from "../../../e2e/kit/client.ts";
import { type TestService, paymentBody, startService } from "../../test/kit.ts";
import { bareServer } from "../../test/bare-server.ts";
import { slowness, waiting } from "../../test/slowness.ts";
import { type EmbeddedDatabase, startEmbedded } from "../store/embedded.ts";
import { migrate } from "../store/migrations.ts";
import { LOAD_LIMITS, LoadShedding } from "./load-shedding.ts";

interface Answer {
  status: number;
  headers: IncomingMessage["headers"];
  text: string;
}

function send(url: string, method: string, headers: Record<string, string>, body?: Buffer | string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, { method, headers, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part) => (text += String(part)));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

/** 503 with everything that every answer has, and when to come back. */
function expectUnavailable({ status, headers, text }: Answer): void {
  expect([status, headers["retry-after"]]).toEqual([503, "1"]);
  expect(JSON.parse(text)).toEqual({
    error: { code: "SERVICE_UNAVAILABLE", message: expect.any(String), request_id: headers["x-request-id"] },
  });
  for (const name of ["limit", "remaining", "reset"]) expect(headers[`x-ratelimit-${name}`]).toMatch(/^\d+$/);
}

describe("a server that takes in three requests and a thousand bytes", () => {
  let server: FastifyInstance;
  let load: LoadShedding;
  let url: string;
  let open: () => void;
  let arrived = 0;

  beforeEach(async () => {
    const room = { requests: 3, bytes: 1000 };
    load = new LoadShedding({ known: room, unauthenticated: room, address: room, connection: 2 });
    server = bareServer({ load });
    const door = new Promise<void>((resolve) => {
      open = resolve;
    });
    arrived = 0;
    server.post("/door", async (request, reply) => {
      arrived++;
      await door;
      return reply.send({ bytes: (request.body as Buffer | undefined)?.length ?? 0 });
    });
    await server.listen({ port: 0, host: "127.0.0.1" });
    url = `http://127.0.0.1:${(server.server.address() as AddressInfo).port}/door`;
  });
  afterEach(() => {
    open();
    return server.close();
  });

  const knock = (body: string): Promise<Answer> => send(url, "POST", { "content-length": String(body.length) }, body);
  const inside = (requests: number): Promise<void> => vi.waitFor(() => expect(arrived).toBe(requests), 30_000);
  const empty = (): Promise<void> => vi.waitFor(() => expect([load.requests, load.bytes]).toEqual([0, 0]), 30_000);

  test("a fourth is told to come back, an unknown path is not, and afterwards all is as before", async () => {
    const three = ["a", "b", "c"].map(knock);
    await inside(3);
    expectUnavailable(await knock("d"));
    expect((await send(`${url}/nowhere`, "POST", {}, "x")).status).toBe(404);
    open();
    for (const { status, text } of await Promise.all(three)) expect([status, text]).toEqual([200, '{"bytes":1}']);
    await empty();
    expect((await knock("e")).status).toBe(200);
    await empty();
  });

  test("a body that does not fit beside the others is told so when it is read, and what it held is given back", async () => {
    const two = [knock("x".repeat(400)), knock("x".repeat(500))];
    await inside(2);
    expect(load.bytes).toBe(900);
    expectUnavailable(await knock("x".repeat(200)));
    await vi.waitFor(() => expect([load.requests, load.bytes]).toEqual([2, 900]), 30_000);
    const third = knock("x".repeat(100));
    await inside(3);
    open();
    for (const { status } of await Promise.all([...two, third])) expect(status).toBe(200);
    await empty();
  });

  test("what was announced and has not come counts for nothing", async () => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.write("POST /door HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nxx");
    await vi.waitFor(() => expect([load.requests, load.bytes]).toEqual([1, 2]), 30_000);
    const other = knock("x".repeat(900));
    await inside(1);
    open();
    expect((await other).status).toBe(200);
    socket.destroy();
    await empty();
  });

  test.each(["/nowhere", "/%ff%zz", "/livez", "/door"])(
    "who sends a thousand requests for %s before it reads an answer is cut at the third, and the rest is not looked at",
    async (path) => {
      let parsed = 0;
      server.server.on("request", () => parsed++);
      const socket = connect(Number(new URL(url).port), "127.0.0.1");
      socket.on("error", () => undefined).resume();
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(1_000));
      await once(socket, "close");
      expect([parsed, load.cut]).toEqual([3, 1]);
      await empty();
    },
  );

  test("who hangs up is counted until the work for it has ended", async () => {
    const sockets = Array.from({ length: 3 }, () => connect(Number(new URL(url).port), "127.0.0.1"));
    for (const socket of sockets) socket.write("POST /door HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nxx");
    await inside(3);
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect([load.requests, load.bytes]).toEqual([3, 6]);
    expectUnavailable(await knock("d"));
    open();
    await empty();
  });
});

describe.skipIf(process.platform !== "linux")("a service whose PostgreSQL hangs", () => {
  let folder: string;
  let embedded: EmbeddedDatabase;
  let service: TestService;
  let client: Client;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "gerbang-load-"));
    chmodSync(folder, 0o711);
    embedded = await startEmbedded(folder);
    await migrate(embedded.ownerUrl);
    const database = { url: embedded.url, ownerUrl: embedded.ownerUrl, name: "gerbang" };
    service = await startService({ database, roles: ["api"], config: { unauthenticatedLimitPerMinute: 1_000_000 } });
    ({ client } = await service.merchant());
  });
  afterEach(() => signal("SIGCONT"));
  afterAll(async () => {
    await service.stop();
    await embedded.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const signal = (name: "SIGSTOP" | "SIGCONT"): void => signalServer(join(embedded.directory, "cluster"), name);

  async function inFlight(): Promise<{ requests: number; bytes: number }> {
    const read = async (name: string): Promise<number> =>
      (await service.app.metrics.registry.getSingleMetric(name)?.get())?.values[0]?.value ?? Number.NaN;
    return {
      requests: await read("gerbang_http_requests_in_flight"),
      bytes: await read("gerbang_http_body_bytes_in_flight"),
    };
  }

  /** Requests of one connection, all sent before the first is answered; gives how many answers of each status came. */
  async function pipeline(count: number): Promise<Record<string, number>> {
    const { hostname, port } = new URL(service.origin);
    const socket = connect(Number(port), hostname);
    for (let index = 0; index < count; index++) {
      const headers = Object.entries(client.headers("")).map(([name, value]) => `${name}: ${value}\r\n`);
      const end = index === count - 1 ? "Connection: close\r\n" : "";
      socket.write(`GET /v1/balances?n=${index} HTTP/1.1\r\nHost: x\r\n${headers.join("")}${end}\r\n`);
    }
    let all = "";
    socket.setEncoding("utf8").on("data", (text) => (all += String(text)));
    await once(socket, "close");
    const statuses = [...all.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status ?? "");
    return Object.fromEntries([...new Set(statuses)].map((each) => [each, statuses.filter((s) => s === each).length]));
  }

  test("everybody hears 503 in time, memory stays bounded, and all works again", async () => {
    expect((await client.post("/v1/payments", paymentBody())).status).toBe(201);
    const large = Buffer.alloc(262_144, " ");
    const before = process.memoryUsage().rss;
    signal("SIGSTOP");
    await new Promise((resolve) => setTimeout(resolve, 800)); // what is cached is too old to rely on
    let most = { requests: 0, bytes: 0 };
    const watch = setInterval(() => {
      void inFlight().then(({ requests, bytes }) => {
        most = { requests: Math.max(most.requests, requests), bytes: Math.max(most.bytes, bytes) };
      });
    }, 20);
    const bodies = Array.from({ length: 500 }, () =>
      send(
        `${service.origin}/v1/payments`,
        "POST",
        { ...client.headers(large), "content-type": "application/json" },
        large,
      ),
    );
    const took = await waiting(async () => {
      const counts = Promise.all(Array.from({ length: 150 }, () => pipeline(32)));
      for (const answer of await Promise.all(bodies)) expectUnavailable(answer);
      for (const count of await counts) expect(count).toEqual({ 503: 32 });
    });
    clearInterval(watch);
    expect(took).toBeLessThan(20_000 * slowness());
    // As much as it may, and no more: both limits were met.
    expect(most.requests).toBe(LOAD_LIMITS.address.requests);
    expect(most.bytes).toBeGreaterThan(0.9 * LOAD_LIMITS.address.bytes);
    expect(most.bytes).toBeLessThanOrEqual(LOAD_LIMITS.address.bytes);
    expect(process.memoryUsage().rss - before).toBeLessThan(400 * 2 ** 20); // with the 650 clients in this process
    await vi.waitFor(async () => expect(await inFlight()).toEqual({ requests: 0, bytes: 0 }), 30_000);
    signal("SIGCONT");
    await vi.waitFor(async () => expect((await client.get("/v1/balances")).status).toBe(200), { timeout: 30_000 });
    expect((await client.post("/v1/payments", paymentBody())).status).toBe(201);
  });
});
