// A merchant's whole day with a running service, as a test of a client in another language: a program plays the story and prints its results.
import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Client, operate, settledLate } from "./client.ts";
import { run } from "./client-vectors.ts";
import { Service } from "./service.ts";

interface Cutter {
  baseUrl: string;
  close(): Promise<void>;
}

/** Starts a proxy that passes requests on. When a body asks for it, once or always, the proxy cuts the connection instead of answering. */
async function startCutter(port: number): Promise<Cutter> {
  const cut = new Set<string>();
  const server = createServer((incoming, answer) => {
    const parts: Buffer[] = [];
    incoming.on("data", (part: Buffer) => parts.push(part));
    incoming.on("end", () => {
      const body = Buffer.concat(parts);
      const { method = "GET", url, headers } = incoming;
      const [, order = "", often] = /"reference_id":"([\w-]*cut-(once|always)[\w-]*)"/.exec(body.toString()) ?? [];
      const isCut = often === "always" || (often === "once" && !cut.has(order));
      cut.add(order);
      const outgoing = request({ host: "127.0.0.1", port, method, path: url, headers }, (response) => {
        if (isCut) response.resume().on("end", () => incoming.socket.destroy());
        else response.pipe(answer.writeHead(response.statusCode ?? 502, response.headers));
      });
      outgoing.on("error", () => incoming.socket.destroy());
      outgoing.end(body);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** The environment variables of a client. */
export function environmentOf({ demo }: Service): Record<string, string> {
  return {
    GERBANG_CLIENT_ID: demo.client_id,
    GERBANG_SECRET: demo.secret,
    GERBANG_BASE_URL: demo.base_url,
    GERBANG_WEBHOOK_SECRET: demo.webhook_secret,
  };
}

/** Tests the story that `command` plays, whose orders begin with `language`. Gives a function to its service, for other tests of the file. */
export function testStory(command: readonly string[], language: string): () => Service {
  let service: Service;
  let cutter: Cutter;
  beforeAll(async () => {
    service = await Service.start();
    cutter = await startCutter(service.port);
    const settings = { ...settledLate, rate_limit_per_minute: 100_000 };
    await operate(service.demo, "PATCH", `/merchants/${service.demo.merchant_id}`, settings);
  });
  afterAll(async () => {
    await cutter.close();
    await service.discard();
  });

  test("plays a whole story with a running service: money, events, lost answers, a hundred calls at once, forty processes", async () => {
    const printed = await run(command, "", { ...environmentOf(service), CUT_BASE_URL: cutter.baseUrl });
    expect(printed).not.toContain(service.demo.secret);
    const own = (name: string): string => `${language}-${name}`;
    expect(JSON.parse(printed)).toEqual({
      health: "ok",
      shown: false,
      created: ["pending", "qr_string", "kopi é ☕"],
      simulated: "succeeded",
      waited: "succeeded",
      never: "STATE_NOT_REACHED",
      refunded: ["succeeded", 5_000_000, "succeeded"],
      refunds: 1,
      "too much": ["REFUND_EXCEEDS_PAYMENT", 422, false, 5_000_000],
      twice: "REFERENCE_ID_DUPLICATE",
      found: true,
      "another amount": "REFERENCE_ID_DUPLICATE",
      canceled: "canceled",
      review: "RISK_REVIEW",
      "review found": "pending",
      "passing error": "pending",
      "malformed id": ["PAYMENT_NOT_FOUND", "PAYMENT_NOT_FOUND"],
      listed: [own("third"), own("second")],
      page: 1,
      "unknown field": "VALIDATION_ERROR",
      "same second": [20, 20, false],
      entries: true,
      dispute: ["needs_response", "won"],
      disputes: 1,
      settled: "paid",
      settlements: ["paid", "paid"],
      statement: ["kind", "total", true],
      link: ["active", "active", "deactivated"],
      links: 1,
      heard: ["payment.created", "payment.succeeded", true],
      "heard again": null,
      tampered: "signature_mismatch",
      own: true,
      doctor: "genuine",
      event: ["payment.succeeded", 0],
      misbehave: ["delay", "delay", "none"],
      "resent by name": "OBJECT_NOT_FOUND",
      "one request": true,
      log: expect.stringMatching(/^(GET|POST|PUT)$/),
      clock: true,
      stranger: ["SIGNATURE_INVALID", "base_unknown"],
      "lost once": own("cut-once"),
      "lost always": own("cut-always"),
      "lost and thrown": ["CONNECTION_FAILED", true, true, 32],
      "a hundred at once": 100,
      "forty processes": { PAYMENT_NOT_CANCELABLE: 39, canceled: 1 },
    });
    // Each order is one payment, however often it was sent.
    const client = new Client(service.demo);
    for (const name of ["cut-once", "cut-always", "cut-always-too"])
      expect((await client.get(`/v1/payments?reference_id=${own(name)}`)).json.data, name).toHaveLength(1);
    expect((await client.get(`/v1/payments?limit=100`)).json.has_more).toBe(true);
  });
  return () => service;
}
