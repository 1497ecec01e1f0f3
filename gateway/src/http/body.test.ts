// Goal: a body is read whole or not at all, and nobody waits for one that does not come. Method: bodies that stop, on streams that stand for
// sockets; and on a socket, clients that go away before anybody reads what they sent.
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { PassThrough } from "node:stream";
import type { FastifyRequest } from "fastify";
import { describe, expect, test } from "vitest";
import { bareServer } from "../../test/bare-server.ts";
import { Fault } from "../ground/fault.ts";
import { breakOff, lateFault, readBody, streamBody } from "./body.ts";
import { LOAD_LIMITS, LoadShedding } from "./load-shedding.ts";

const load = new LoadShedding(LOAD_LIMITS);

function begun(length = "100"): { request: IncomingMessage; socket: PassThrough } {
  const socket = new PassThrough();
  const request = Object.assign(socket, { headers: { "content-length": length } }) as unknown as IncomingMessage;
  return { request, socket };
}

test("a body that is read whole gives up when the rest does not come in time", async () => {
  const { request, socket } = begun();
  socket.write("{");
  await expect(readBody(request, load, 20)).rejects.toMatchObject({ code: "MALFORMED_REQUEST", status: 408 });
});

test("a body that comes in time is given as it was sent", async () => {
  const { request, socket } = begun("5");
  const reading = readBody(request, load, 1_000);
  socket.write("he");
  socket.end("llo");
  expect((await reading).toString()).toBe("hello");
});

test("the largest body is read whole; one byte more is refused, and before it comes where it is announced", async () => {
  const whole = begun("262144");
  whole.socket.end(Buffer.alloc(262_144));
  expect(await readBody(whole.request, load)).toHaveLength(262_144);
  const { socket, request } = begun();
  request.headers = { "transfer-encoding": "chunked" };
  const larger = readBody(request, load);
  socket.end(Buffer.alloc(262_145));
  for (const refused of [larger, readBody(begun("262145").request, load)])
    await expect(refused).rejects.toMatchObject({ code: "PAYLOAD_TOO_LARGE" });
});

test("a body that is taken as it arrives waits for whoever takes it", async () => {
  const { request, socket } = begun();
  const parts = streamBody(request);
  socket.write("first");
  expect((await parts.next()).value?.toString()).toBe("first");
  let isFull = false;
  for (let sent = 0; sent < 1_000 && !isFull; sent++) isFull = !socket.write(Buffer.alloc(16_384));
  let isDrained = false;
  socket.once("drain", () => (isDrained = true));
  await new Promise(setImmediate);
  expect([isFull, isDrained]).toEqual([true, false]);
});

test("what nobody takes any more of it is thrown away, so that the client can read its answer", async () => {
  const { request, socket } = begun();
  const parts = streamBody(request);
  socket.write("first");
  await parts.next();
  await parts.return(undefined);
  const drained = new Promise((resolve) => socket.once("drain", resolve));
  while (socket.write(Buffer.alloc(16_384)));
  await drained;
});

describe.each([
  ["held", (request: IncomingMessage) => Promise.resolve(readBody(request, load))],
  ["taken", (request: IncomingMessage) => streamBody(request).next()],
])("a body that is %s", (_how, read) => {
  test("ends with the reason for which it is broken off, and when the client goes away", async () => {
    const late = begun();
    const waiting = read(late.request);
    breakOff(late.request, new Fault("MALFORMED_REQUEST", { status: 408 }));
    await expect(waiting).rejects.toMatchObject({ status: 408 });

    const gone = begun();
    const next = read(gone.request);
    gone.socket.destroy();
    await expect(next).rejects.toMatchObject({ code: "MALFORMED_REQUEST" });
  });

  test("after it broke off tells why, as to whoever read it then", async () => {
    const late = begun();
    breakOff(late.request, lateFault());
    await expect(read(late.request)).rejects.toMatchObject({ code: "MALFORMED_REQUEST", status: 408 });
  });
});

test("a body that once did not fit is refused to its end, also where there is room again by then", async () => {
  const few = { requests: 5, bytes: 10 };
  const tight = new LoadShedding({ known: few, unauthenticated: few, address: few, connection: 5 });
  const [own, other] = [begun(), begun()];
  for (const { request } of [own, other]) tight.enter(request, "192.0.2.1");
  tight.hold(other.request, 8);
  const reading = readBody(own.request, tight);
  own.socket.write("four");
  await new Promise(setImmediate);
  tight.close(other.request);
  own.socket.end("more");
  await expect(reading).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
  expect(tight.bytes).toBe(0);
});

// The service asks the database who sends before it reads; Node tells once that the rest does not come, and never again.
test.each([
  ["a file", true, ({ raw }: FastifyRequest) => Array.fromAsync(streamBody(raw))],
  ["a body that is held", false, ({ raw }: FastifyRequest) => readBody(raw, load, 240_000)],
])("%s of a client that went away before it was read is not waited for", async (_what, streamsBody, reading) => {
  const server = bareServer();
  const gone = Promise.withResolvers<void>();
  let read: unknown;
  server.server.on("clientError", () => gone.resolve());
  // Fastify reads no body of a GET by itself.
  server.route({
    method: ["GET", "POST"],
    url: "/files",
    config: { streamsBody },
    handler: async (request) => {
      await gone.promise;
      read = await Promise.resolve(reading(request)).catch((error: unknown) => error);
    },
  });
  await server.listen({ port: 0, host: "127.0.0.1" });
  const socket = connect((server.server.address() as AddressInfo).port, "127.0.0.1");
  const method = streamsBody ? "POST" : "GET";
  socket.end(`${method} /files HTTP/1.1\r\nHost: x\r\nContent-Type: a/b\r\nContent-Length: 100000\r\n\r\nfirst`);
  await once(socket.resume(), "close");
  expect(read).toMatchObject({ code: "MALFORMED_REQUEST" });
  await server.close();
});
