// Goal: a request with much to carry has the time that it names, and no other one has; a no that may pass is no definite one. Method: a server
// that answers late, and refusals made by hand.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AcquirerRefused } from "../acquirers/acquirer.ts";
import { NoAnswer, exchange, newAgent } from "../acquirers/remote-http.ts";
import { Caller, definiteOnly } from "./caller.ts";

const LATE_MS = 400;
const LONG = JSON.stringify({ here: "x".repeat(100_000) });
/** The paths of the requests that reached the server. */
const arrived: (string | undefined)[] = [];
const server = createServer(({ url }, response) => {
  arrived.push(url);
  if (url === "/list") response.end(LONG);
  else if (url === "/slept") setTimeout(() => (response.end("{}"), sleepFor(LATE_MS)));
  else setTimeout(() => response.end('{"here":true}'), LATE_MS);
});
/** Stops the whole process for so long, as a machine that sleeps. */
const sleepFor = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
const never = { signal: new AbortController().signal, record: undefined };
const originOf = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
let caller: Caller;
beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  caller = new Caller({ code: "late", baseUrl: originOf(), deadlineMs: LATE_MS / 2, connections: 4 });
});
afterAll(async () => {
  await caller.close();
  server.closeAllConnections();
  server.close();
});

test("its own deadline takes the place of the caller's", async () => {
  const request = { method: "POST", path: "/files", headers: {}, body: "x" } as const;
  const usual = caller.call(request, never);
  const longer = caller.call({ ...request, deadlineMs: 20_000 }, never);
  await expect(usual).rejects.toBeInstanceOf(NoAnswer);
  expect((await longer).body).toEqual({ here: true });
});

test("an answer that a process finds when it wakes after the deadline is none: a worker may have asked meanwhile", async () => {
  const slept = caller.call({ method: "GET", path: "/slept", headers: {} }, never);
  await expect(slept).rejects.toBeInstanceOf(NoAnswer);
});

test("a request whose connection a process finds when it wakes after the deadline is not sent: a worker may have asked meanwhile", async () => {
  const agent = newAgent(1, LATE_MS / 2);
  // The connection is there, the timers of the deadline have not run, and the process sleeps.
  const sleepy = agent.compose((dispatch) => (options, handler) => {
    const onRequestStart: typeof handler.onRequestStart = (...started) => {
      sleepFor(LATE_MS);
      handler.onRequestStart?.(...started);
    };
    return dispatch(options, { ...handler, onRequestStart });
  });
  const order = { origin: originOf(), path: "/order", method: "POST", headers: {}, body: "x" } as const;
  await expect(exchange(sleepy, order, LATE_MS / 2, never.signal)).rejects.toMatchObject({ sent: false });
  await agent.close();
  expect(arrived).not.toContain("/order");
});

test("an answer of more than 64 KiB is read only where a request expects one", async () => {
  const request = { method: "GET", path: "/list", headers: {}, deadlineMs: 20_000 } as const;
  await expect(caller.call(request, never)).rejects.toThrow("more than 65536 bytes");
  const call = (answerMaxBytes: number) => caller.call({ ...request, answerMaxBytes }, never);
  await expect(call(LONG.length - 1)).rejects.toThrow(`more than ${LONG.length - 1} bytes`);
  expect((await call(LONG.length)).body).toEqual(JSON.parse(LONG));
});

test("that a provider is not to be had is no word about whether it can end a payment", async () => {
  const busy = definiteOnly(Promise.reject(new AcquirerRefused("it is busy", { unavailable: true })));
  await expect(busy).rejects.not.toBeInstanceOf(AcquirerRefused);
  await expect(busy).rejects.toThrow("it is busy");
  await expect(definiteOnly(Promise.reject(new AcquirerRefused("never")))).rejects.toBeInstanceOf(AcquirerRefused);
  await expect(definiteOnly(Promise.reject(new TypeError("ours")))).rejects.toBeInstanceOf(TypeError);
  expect(await definiteOnly(Promise.resolve(7))).toBe(7);
});
