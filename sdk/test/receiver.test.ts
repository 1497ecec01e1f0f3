// Goal: one handler receives webhooks in every framework: genuine events once, everything else refused. Method: real servers on real sockets.
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { WebhookEvent } from "../src/index.ts";
import { handler, memoryStore, sign, unwrap } from "../src/webhooks.ts";

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwSwSwSwSwSwQ=";
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

async function listening(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

type Receive = ReturnType<typeof handler>;
type Post = (body: string | Buffer, headers: Record<string, string>) => Promise<{ status: number; text: string }>;

const posting =
  (url: string): Post =>
  async (body, headers) => {
    const response = await fetch(url, { method: "POST", headers, body: body as never });
    return { status: response.status, text: await response.text() };
  };

/** Each framework with the handler mounted as its guide shows. */
const frameworks: Record<string, (receive: Receive) => Promise<Post>> = {
  "Node's http": async (receive) =>
    posting(await listening(createServer((request, response) => void receive(request, response)))),
  Express: async (receive) => posting(await listening(createServer(express().post("/hook", receive)))),
  "Express behind express.raw": async (receive) =>
    posting(await listening(createServer(express().post("/hook", express.raw({ type: "*/*" }), receive)))),
  Fastify: async (receive) => {
    const app = fastify();
    app.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
    app.post("/hook", receive);
    closing.push(() => app.close());
    return posting(`${await app.listen({ port: 0, host: "127.0.0.1" })}/hook`);
  },
  Hono: (receive) => {
    const app = new Hono().post("/hook", receive);
    return Promise.resolve(async (body, headers) => {
      const response = await app.request("/hook", { method: "POST", headers, body: body as never });
      return { status: response.status, text: await response.text() };
    });
  },
  "Next, and whatever takes a Request": (receive) =>
    Promise.resolve(async (body, headers) => {
      const request = new Request("https://shop.example/hook", { method: "POST", headers, body: body as never });
      const response = await receive(request);
      return { status: response.status, text: await response.text() };
    }),
};

const event = (id: string) => ({
  id,
  type: "payment.succeeded" as const,
  created_at: "2026-11-23T00:00:00Z",
  environment: "sandbox",
  api_version: "v1",
  data: { reference: "pay_1", metadata: { note: "kopi é ☕" } },
});

describe.each(Object.entries(frameworks))("%s", (_, start) => {
  test("a genuine event is handled once, and what is not genuine never", async () => {
    const seen: string[] = [];
    const refused: unknown[] = [];
    const post = await start(
      handler({
        secrets: ["whsec_b2xk", secret],
        on: ({ id, type }) => void seen.push(`${type} ${id}`),
        store: memoryStore(),
        onError: (error) => refused.push(error),
      }),
    );
    const { body, headers } = await sign({ secret, event: event("evt_1") });
    expect((await post(body, headers)).status).toBe(200);
    expect(await post(body, headers)).toEqual({ status: 200, text: "known" });
    expect((await post(body.replace("pay_1", "pay_2"), headers)).status).toBe(401);
    expect((await post(body, { "content-type": "application/json" })).status).toBe(401);
    const forged = await sign({ secret: "whsec_d3Jvbmc=", event: event("evt_2") });
    expect((await post(forged.body, forged.headers)).status).toBe(401);
    expect(seen).toEqual(["payment.succeeded evt_1"]);
    expect(refused).toHaveLength(3);
  });

  test("an event that cannot be handled is answered 500, comes again, and is handled then", async () => {
    const said = vi.spyOn(console, "error").mockImplementation(() => undefined);
    let tries = 0;
    const post = await start(
      handler({
        secrets: secret,
        on: () => {
          tries++;
          if (tries === 1) throw new Error("the database is away");
        },
        store: memoryStore(),
      }),
    );
    const { body, headers } = await sign({ secret, event: event("evt_3") });
    expect(await post(body, headers)).toEqual({ status: 500, text: "not handled" });
    expect((await post(body, headers)).status).toBe(200);
    expect(tries).toBe(2);
    // Without an `onError` of its own it is said once, where whoever runs the program looks.
    expect(said.mock.calls).toEqual([[expect.objectContaining({ message: "the database is away" })]]);
    said.mockRestore();
  });
});

test("listeners by type, and one for all other types", async () => {
  const seen: string[] = [];
  const receive = handler({
    secrets: secret,
    on: {
      "payment.succeeded": ({ data }) => void seen.push(data.reference),
      other: ({ type }) => void seen.push(type),
    },
  });
  for (const each of [
    event("evt_1"),
    { ...event("evt_2"), type: "something.new" },
    { ...event("evt_3"), type: "constructor" },
  ]) {
    const { body, headers } = await sign({ secret, event: each });
    const request = new Request("https://shop.example/hook", { method: "POST", headers, body });
    expect((await receive(request)).status).toBe(200);
  }
  expect(seen).toEqual(["pay_1", "something.new", "constructor"]);
});

test("a body that was parsed before is an error that says where to mount the handler", async () => {
  const errors: unknown[] = [];
  const receive = handler({ secrets: secret, on: () => undefined, onError: (error) => errors.push(error) });
  const post = posting(await listening(createServer(express().use(express.json()).post("/hook", receive))));
  const { body, headers } = await sign({ secret, event: event("evt_1") });
  expect((await post(body, headers)).status).toBe(500);
  expect(String(errors[0])).toContain("before the JSON parser");
});

test("a body of more than a megabyte is not read to its end", async () => {
  const seen: WebhookEvent[] = [];
  const receive = handler({ secrets: secret, on: (each) => void seen.push(each) });
  let given = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      given += 100_000;
      controller.enqueue(new Uint8Array(100_000));
    },
  });
  const request = { method: "POST", headers: {}, body: endless, duplex: "half" } as never;
  expect((await receive(new Request("https://shop.example/hook", request))).status).toBe(413);
  expect(given).toBeLessThan(2_000_000);
  const streamed = Object.assign(Readable.from([Buffer.alloc(2_000_000)]), { headers: {} });
  const answered: number[] = [];
  await receive(streamed as never, { writeHead: (status: number) => answered.push(status), end: () => undefined });
  expect([answered, seen]).toEqual([[413], []]);
});

test("the connection of a body that is too large is closed: a later delivery over it would wait for the rest", async () => {
  const receive = handler({ secrets: secret, on: () => undefined });
  const url = await listening(createServer((request, response) => void receive(request, response)));
  const response = await fetch(url, { method: "POST", body: Buffer.alloc(2_000_000) });
  expect([response.status, response.headers.get("connection")]).toEqual([413, "close"]);
});

test("without a secret nothing is verified, and nothing accepted: an empty key signs for everybody", async () => {
  const body = JSON.stringify(event("evt_1"));
  const timestamp = String(Math.floor(Date.now() / 1000));
  const byEmptyKey = (signed: string) => createHmac("sha256", "").update(signed);
  const headers = {
    "X-SVC-Timestamp": timestamp,
    "X-SVC-Signature": byEmptyKey(`${timestamp}.${body}`).digest("hex"),
    "webhook-id": "evt_1",
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${byEmptyKey(`evt_1.${timestamp}.${body}`).digest("base64")}`,
  };
  const [seen, told]: [unknown[], unknown[]] = [[], []];
  for (const secrets of [undefined, [undefined], ["", undefined], null, 0, {}, [], "", " ", "whsec_", [secret, null]]) {
    await expect(unwrap(body, headers, secrets as never), JSON.stringify(secrets)).rejects.toThrow("Give the webhook");
    const receive = handler({
      secrets: secrets as never,
      on: (each) => void seen.push(each),
      onError: (error) => void told.push(error),
    });
    const request = new Request("https://shop.example/hook", { method: "POST", headers, body });
    expect((await receive(request)).status).toBe(500);
  }
  expect(seen).toEqual([]);
  // A second secret that is not set is as good as not there, while one is rotated.
  const signed = await sign({ secret, event: event("evt_1") });
  expect(await unwrap(signed.body, signed.headers, [undefined as never, secret])).toMatchObject({ id: "evt_1" });
});

test("a delivery is answered although its listener for errors throws", async () => {
  const onError = (): never => {
    throw new Error("the log is full");
  };
  // A promise that is rejected with nobody waiting for it would end the process.
  for (const listener of [onError, () => Promise.reject(new Error("the log is full"))]) {
    const receive = handler({ secrets: secret, on: () => undefined, onError: listener });
    const request = new Request("https://shop.example/hook", { method: "POST", body: "{}" });
    expect((await receive(request)).status).toBe(401);
  }
});
