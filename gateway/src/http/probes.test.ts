// Goal: probes say how the process is, whatever the load is, and nobody can hold the service through them.
// Method: a bare server whose readiness is set by hand; an address that has used up everything; a connection that asks and never reads.
import { once } from "node:events";
import { type AddressInfo, type Socket, connect } from "node:net";
import type { FastifyInstance } from "fastify";
import { pino } from "pino";
import { afterEach, expect, test, vi } from "vitest";
import { bareServer } from "../../test/bare-server.ts";
import { UnauthenticatedCallers } from "../auth/rate.ts";
import { systemClock } from "../ground/clock.ts";
import { createLog } from "../ground/log.ts";
import type { Database } from "../store/database.ts";
import { DatabaseClock } from "../store/database-clock.ts";
import { LoadShedding } from "./load-shedding.ts";
import { openProbes } from "./probes.ts";
import { Readiness } from "./readiness.ts";
import type { ServerParts } from "./server.ts";

const state = { hears: true, mayServe: true };
let server: FastifyInstance | undefined;
afterEach(async () => {
  vi.useRealTimers();
  Object.assign(state, { hears: true, mayServe: true });
  await server?.close();
});

function open(parts: Partial<ServerParts> = {}): { server: FastifyInstance; readiness: Readiness } {
  const readiness = new Readiness({ hears: () => state.hears, mayServe: () => state.mayServe });
  server = bareServer({ readiness, ...parts });
  openProbes(server, readiness);
  server.get("/work", async () => "done");
  return { server, readiness };
}

test("/readyz says why the process should be sent nothing, and /livez only that it lives", async () => {
  const { server, readiness } = open();
  const asked = async (): Promise<[number, unknown]> => {
    const answer = await server.inject("/readyz?verbose");
    const { status, reasons, ...more } = answer.json<{
      status: string;
      reasons?: string[];
      error?: { code: string };
    }>();
    expect(status).toBe(answer.statusCode === 200 ? "ok" : "unavailable");
    if (answer.statusCode === 503) {
      expect(more.error).toMatchObject({ code: "SERVICE_UNAVAILABLE", request_id: answer.headers["x-request-id"] });
      expect(answer.headers["retry-after"]).toBe("1");
    } else expect(more).toEqual({});
    return [answer.statusCode, reasons];
  };
  expect(await asked()).toEqual([503, ["starting"]]);
  readiness.open();
  expect(await asked()).toEqual([200, undefined]);
  state.hears = false;
  expect(await asked()).toEqual([503, ["database"]]);
  state.mayServe = false;
  expect(await asked()).toEqual([503, ["database", "clock"]]);
  Object.assign(state, { hears: true, mayServe: true });
  readiness.leave();
  expect(await asked()).toEqual([503, ["draining"]]);
  const alive = await server.inject("/livez?verbose");
  expect([alive.statusCode, alive.body]).toEqual([200, '{"status":"ok"}']);
});

test("the database counts as heard of for five seconds after its last answer", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const query = vi.fn(async () => [{ at: systemClock.now() }]);
  const clock = new DatabaseClock(systemClock, { query } as unknown as Database, createLog("silent"));
  expect(clock.hears).toBe(false);
  await clock.compare();
  vi.advanceTimersByTime(4_900);
  expect(clock.hears).toBe(true);
  query.mockRejectedValueOnce(new Error("it hangs"));
  await clock.compare().catch(() => undefined);
  vi.advanceTimersByTime(200);
  expect(clock.hears).toBe(false);
  await clock.compare();
  expect(clock.hears).toBe(true);
});

test("probes are answered where nothing else is: no room, no quota left", async () => {
  const unauthenticated = new UnauthenticatedCallers(1, systemClock);
  const none = { requests: 0, bytes: 0 };
  const { server, readiness } = open({
    unauthenticated,
    load: new LoadShedding({ known: none, unauthenticated: none, address: none, connection: 1 }),
  });
  readiness.open();
  expect((await server.inject("/work")).statusCode).toBe(503);
  for (let n = 0; n < 5; n++) unauthenticated.count("127.0.0.1");
  expect((await server.inject("/work")).statusCode).toBe(429);
  for (const url of ["/livez", "/readyz", "/livez?verbose"]) {
    const before = unauthenticated.rate("127.0.0.1").remaining;
    expect((await server.inject(url)).statusCode).toBe(200);
    expect(unauthenticated.rate("127.0.0.1").remaining).toBe(before);
  }
  // What only looks like one is no probe.
  for (const [method, url] of [
    ["POST", "/livez"],
    ["GET", "/livezz"],
    ["GET", "/readyz/x"],
  ] as const)
    expect((await server.inject({ method, url })).statusCode).toBe(429);
});

test("a probe writes no line into the log, and another request does", async () => {
  const lines: string[] = [];
  const { server } = open({ log: pino({ level: "info" }, { write: (line) => void lines.push(line) }) });
  await server.listen({ port: 0, host: "127.0.0.1" });
  const { port } = server.server.address() as AddressInfo;
  for (const path of ["/livez", "/readyz", "/livez?verbose", "/work"])
    await (await fetch(`http://127.0.0.1:${port}${path}`)).text();
  await vi.waitFor(() => expect(lines.join("")).toContain('"path":"/work"'), 30_000);
  expect(lines.filter((line) => /livez|readyz/.test(line))).toEqual([]);
});

test("who asks for probes without end and never reads is read no further", async () => {
  const { server } = open();
  await server.listen({ port: 0, host: "127.0.0.1" });
  const { port } = server.server.address() as AddressInfo;
  const arrived = once(server.server, "connection") as Promise<[Socket]>;
  const attacker = connect({ port, host: "127.0.0.1" });
  attacker.pause();
  attacker.on("error", () => undefined);
  const [held] = await arrived;
  attacker.write("GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n".repeat(400_000));
  let last = -1;
  await vi.waitFor(
    () => {
      const before = last;
      last = held.bytesRead;
      expect(last > 0 && last === before).toBe(true);
    },
    { interval: 250, timeout: 30_000 },
  );
  expect(last).toBeLessThan(8_000_000); // of 14,000,000
  expect(held.writableLength).toBeLessThan(4_000_000);
  expect((await fetch(`http://127.0.0.1:${port}/livez`)).status).toBe(200);
  attacker.destroy();
});
