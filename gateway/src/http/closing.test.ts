// Goal: a server that closes loses no request. Method: a bare server and raw connections in each state that a close can meet.
import { once } from "node:events";
import { type AddressInfo, type Socket, connect } from "node:net";
import type { FastifyInstance } from "fastify";
import { afterEach, beforeEach, expect, test } from "vitest";
import { bareServer } from "../../test/bare-server.ts";
import { closeServer } from "./closing.ts";
import { LOAD_LIMITS, LoadShedding } from "./load-shedding.ts";
import { Readiness } from "./readiness.ts";

const ask = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

let server: FastifyInstance;
let load: LoadShedding;
let readiness: Readiness;
let slow = Promise.withResolvers<string>();
let port = 0;

beforeEach(async () => {
  slow = Promise.withResolvers();
  load = new LoadShedding(LOAD_LIMITS);
  readiness = new Readiness({ hears: () => true, mayServe: () => true });
  server = bareServer({ load, readiness });
  server.get("/quick", async () => "quick");
  server.get("/slow", () => slow.promise);
  await server.listen({ port: 0, host: "127.0.0.1" });
  port = (server.server.address() as AddressInfo).port;
});
afterEach(async () => {
  slow.resolve("slow");
  await server.close();
});

/** A connection that the server has accepted, and what it has received. */
async function connection(): Promise<{ socket: Socket; said: () => string; ended: Promise<unknown> }> {
  const accepted = once(server.server, "connection");
  const socket = connect({ port, host: "127.0.0.1" });
  let text = "";
  socket.on("data", (part: Buffer) => (text += part.toString()));
  await Promise.all([once(socket, "connect"), accepted]);
  return { socket, said: () => text, ended: once(socket, "close") };
}

test("what was just connected may still send its request, and is answered", async () => {
  const { socket, said, ended } = await connection();
  const closed = closeServer(server, load);
  readiness.leave();
  await expect.poll(() => server.server.listening).toBe(false);
  socket.write(ask("/quick"));
  await ended;
  expect(said()).toMatch(/^HTTP\/1\.1 200 .*connection: close.*quick$/is);
  await closed;
});

test("a head that comes in two pieces is answered as well", async () => {
  const { socket, said, ended } = await connection();
  socket.write(ask("/quick").slice(0, 20));
  const closed = closeServer(server, load);
  readiness.leave();
  await expect.poll(() => server.server.listening).toBe(false);
  await new Promise((resolve) => setTimeout(resolve, 100));
  socket.write(ask("/quick").slice(20));
  await ended;
  expect(said()).toMatch(/^HTTP\/1\.1 200 .*quick$/is);
  await closed;
});

test("a connection that never sends anything is let go", async () => {
  const { said, ended } = await connection();
  const closed = closeServer(server, load, 50);
  await Promise.all([closed, ended]);
  expect(said()).toBe("");
});

test("a connection that is kept for another request is closed at once", async () => {
  const { socket, said, ended } = await connection();
  socket.write(ask("/quick"));
  await expect.poll(said).toMatch(/quick$/);
  expect(said()).toMatch(/connection: keep-alive/i);
  await Promise.all([closeServer(server, load, 60_000), ended]);
});

test("an answer that is under way arrives whole, told to be the last of its connection", async () => {
  const { socket, said, ended } = await connection();
  socket.write(ask("/slow"));
  await expect.poll(() => load.requests).toBe(1);
  readiness.leave();
  const closed = closeServer(server, load, 0);
  await expect.poll(() => server.server.listening).toBe(false);
  slow.resolve("at last");
  await Promise.all([closed, ended]);
  expect(said()).toMatch(/^HTTP\/1\.1 200 .*connection: close.*at last$/is);
});

test.each(["/quick", "/nowhere", "/%ff%zz", "/livez"])(
  "while it drains, the answer to %s ends its connection",
  async (path) => {
    readiness.leave();
    const { socket, said, ended } = await connection();
    socket.write(ask(path));
    await ended;
    expect(said()).toMatch(/^HTTP\/1\.1 \d+ .*connection: close/is);
  },
);
