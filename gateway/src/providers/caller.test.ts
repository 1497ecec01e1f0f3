// Goal: a request with much to carry has the time that it names, and no other one has. Method: a server that answers late.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { NoAnswer } from "../acquirers/remote-http.ts";
import { Caller } from "./caller.ts";

const LATE_MS = 400;
const server = createServer((_request, response) => void setTimeout(() => response.end('{"here":true}'), LATE_MS));
let caller: Caller;
beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  caller = new Caller({ code: "late", baseUrl, deadlineMs: LATE_MS / 2, connections: 4 });
});
afterAll(async () => {
  await caller.close();
  server.closeAllConnections();
  server.close();
});

test("its own deadline takes the place of the caller's", async () => {
  const never = new AbortController().signal;
  const request = { method: "POST", path: "/files", headers: {}, body: "x" } as const;
  const usual = caller.call(request, never, undefined);
  const longer = caller.call({ ...request, deadlineMs: 20_000 }, never, undefined);
  await expect(usual).rejects.toBeInstanceOf(NoAnswer);
  expect((await longer).body).toEqual({ here: true });
});
