// Goal: what an answer streams from is let go when nobody is there for it. Method: a bare server whose handler answers once its client has gone.
import { once } from "node:events";
import { request } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import fastify from "fastify";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sendReply } from "./server.ts";

const server = fastify({ exposeHeadRoutes: true });
let arrived = Promise.withResolvers<undefined>();
let begun = Promise.withResolvers<Readable>();

beforeAll(async () => {
  server.get("/", async (asked, reply) => {
    arrived.resolve(undefined);
    if (!asked.raw.socket.destroyed) await once(asked.raw.socket, "close");
    const stream = new Readable({ read: () => undefined });
    begun.resolve(stream);
    return sendReply(reply, { status: 200, body: "", stream });
  });
  await server.listen({ port: 0, host: "127.0.0.1" });
});
afterAll(() => server.close());

test.each(["GET", "HEAD"])("a stream that began after whoever sent the %s had gone ends", async (method) => {
  [arrived, begun] = [Promise.withResolvers(), Promise.withResolvers()];
  const { port } = server.server.address() as AddressInfo;
  const sent = request({ port, method, agent: false }).on("error", () => undefined);
  sent.end();
  await arrived.promise;
  sent.destroy();
  const stream = await begun.promise;
  if (!stream.destroyed) await once(stream, "close");
  expect(stream.destroyed).toBe(true);
});
