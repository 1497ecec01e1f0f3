// Goal: a payment's trace is whole, from its request to its webhook, and says nothing personal or secret; without an address to send to, no
// module of it is loaded. Method: a real receiver of OTLP over HTTP, and a process that tells which modules it loads.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { once } from "node:events";
import { type IncomingHttpHeaders, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import tls from "node:tls";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Client } from "../../e2e/kit/client.ts";
import { Receiver, makeCertificates } from "../../e2e/kit/receiver.ts";
import { type TestService, paymentBody, startService } from "../test/kit.ts";
import { scriptedAcquirer } from "../test/scripted-acquirer.ts";
import { createLog } from "./ground/log.ts";
import { type Tracing, openTracing } from "./ground/tracing.ts";
import { compiled } from "../../e2e/kit/service.ts";

interface SpanSeen {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  status: { code?: number };
  links: { traceId: string; spanId: string }[];
  attributes: Record<string, string | number>;
}

/** What an OTLP collector is to a service: it takes batches of spans as JSON. */
const collector = {
  spans: [] as SpanSeen[],
  raw: "",
  headers: {} as IncomingHttpHeaders,
  path: "",
  status: 200,
  server: createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const text = Buffer.concat(parts).toString();
      collector.raw += text;
      Object.assign(collector, { headers: request.headers, path: request.url });
      collector.spans.push(...spansIn(text));
      response.writeHead(collector.status, { "content-type": "application/json" }).end("{}");
    });
  }),
};

interface Otlp {
  resourceSpans: { scopeSpans: { spans: (Omit<SpanSeen, "attributes"> & { attributes: Attribute[] })[] }[] }[];
}
interface Attribute {
  key: string;
  value: { stringValue?: string; intValue?: number };
}

function spansIn(text: string): SpanSeen[] {
  const { resourceSpans } = JSON.parse(text) as Otlp;
  const spans = resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
  return spans.map((span) => ({
    ...span,
    links: span.links ?? [],
    attributes: Object.fromEntries(
      span.attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]),
    ),
  }));
}

const trusted = tls.getCACertificates("default");
let endpoint = "";
let tracing: Tracing;
let service: TestService;
let receiver: Receiver;
let client: Client;
const remote = scriptedAcquirer("kawah");

beforeAll(async () => {
  collector.server.listen(0, "127.0.0.1");
  await once(collector.server, "listening");
  endpoint = `http://127.0.0.1:${(collector.server.address() as AddressInfo).port}`;
  const certificates = await makeCertificates();
  tls.setDefaultCACertificates([...trusted, readFileSync(certificates.caFile, "utf8")]);
  receiver = await Receiver.start(certificates);
  tracing = await openTracing({ endpoint, serviceName: "gerbang", version: "1", ratio: 1 }, createLog("silent"));
  service = await startService({
    tracing,
    acquirers: [remote],
    config: { webhookAllowHosts: new Set(["localhost"]), trustProxy: 1 },
    timing: { pollMs: 50 },
  });
  const rules = [
    { gateway_code: "nusantara", payment_method: "qris", priority: 1, weight: 1 },
    { gateway_code: "kawah", payment_method: "card", priority: 1, weight: 1 },
  ];
  const { version } = await service.operate("POST", "/routing/rules", { rules });
  await service.operate("POST", `/routing/rules/${version}/activate`);
  const made = await service.merchant();
  client = made.client;
  const book = { merchantId: made.merchantId, environment: "sandbox" } as const;
  await service.app.merchants.setWebhook(book, receiver.url("/200"));
});
afterAll(async () => {
  await service.stop();
  await receiver.close();
  tls.setDefaultCACertificates(trusted);
  collector.server.closeAllConnections();
  collector.server.close();
});

/** The spans of a trace, once those that are asked for have come. */
const traceWith = (traceId: string, ...names: string[]): Promise<SpanSeen[]> =>
  vi.waitFor(
    () => {
      const found = collector.spans.filter((span) => span.traceId === traceId);
      for (const name of names) expect(found.map((span) => span.name)).toContain(name);
      return found;
    },
    { timeout: 30_000, interval: 50 },
  );

const id = (bytes: number): string => Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString("hex");

test("a payment is one trace: its request, its command, the batch with its two flights, the webhook", async () => {
  const [traceId, sender] = [id(16), id(8)];
  const body = paymentBody({ customer: { name: "Ayu Lestari", email: "ayu@example.com", phone: "+6281234567890" } });
  const made = await client.post("/v1/payments?", body, { headers: { traceparent: `00-${traceId}-${sender}-01` } });
  expect(made.status).toBe(201);
  const spans = await traceWith(traceId, "POST /v1/payments", "webhook attempt");
  const named = (name: string): SpanSeen => {
    const found = spans.find((span) => span.name === name);
    if (!found) throw new Error(`no span ${name} among ${spans.map((span) => span.name).join(", ")}`);
    return found;
  };
  const request = named("POST /v1/payments");
  const command = spans.find(({ name }) => name.startsWith("command ")) as SpanSeen;
  const batch = named("batch");
  expect(request.parentSpanId).toBe(sender);
  expect(command.parentSpanId).toBe(request.spanId);
  expect(batch.parentSpanId).toBe(command.spanId);
  expect([named("database read"), named("database write")].map((span) => span.parentSpanId)).toEqual([
    batch.spanId,
    batch.spanId,
  ]);
  expect(named("webhook attempt").parentSpanId).toBe(command.spanId);
  expect(request.kind).toBe(2);
  expect(request.attributes).toMatchObject({
    "http.request.method": "POST",
    "http.route": "/v1/payments",
    "http.response.status_code": 201,
    "gerbang.request_id": made.headers.get("x-request-id"),
    "gerbang.environment": "sandbox",
  });
  expect(named("webhook attempt").attributes).toMatchObject({
    "gerbang.event_type": "payment.created",
    "http.response.status_code": 200,
  });
  expect(collector.path).toBe("/v1/traces");
});

test("commands of one batch are linked with it, and it with them", async () => {
  const traces = Array.from({ length: 12 }, () => id(16));
  const pay = (traceId: string): Promise<unknown> =>
    client.post("/v1/payments", paymentBody(), { headers: { traceparent: `00-${traceId}-${id(8)}-01` } });
  await Promise.all(traces.map(pay));
  await Promise.all(traces.map((traceId) => traceWith(traceId, "POST /v1/payments")));
  const commands = collector.spans.filter(
    ({ name, traceId }) => name.startsWith("command") && traces.includes(traceId),
  );
  const batches = collector.spans.filter(({ name, traceId }) => name === "batch" && traces.includes(traceId));
  expect(batches.length).toBeLessThan(12);
  for (const command of commands) {
    const carriedBy = batches.filter(
      (batch) => batch.parentSpanId === command.spanId || batch.links.some((link) => link.spanId === command.spanId),
    );
    expect(carriedBy).toHaveLength(1);
    if (carriedBy[0]?.parentSpanId !== command.spanId) expect(command.links[0]?.spanId).toBe(carriedBy[0]?.spanId);
  }
});

test("an acquirer's call is a part of the request's trace", async () => {
  const traceId = id(16);
  const headers = { traceparent: `00-${traceId}-${id(8)}-01` };
  const made = await client.post("/v1/payments", paymentBody({ payment_method: "card" }), { headers });
  expect([made.status, remote.opened.length], made.text).toEqual([201, 1]);
  const spans = await traceWith(traceId, "POST /v1/payments", "acquirer open");
  const call = spans.find(({ name }) => name === "acquirer open");
  expect(call).toMatchObject({
    kind: 3,
    attributes: { "gerbang.gateway_code": "kawah", "gerbang.outcome": "answered" },
  });
  const above = new Map(spans.map((span) => [span.spanId, span]));
  expect(above.get(call?.parentSpanId ?? "")?.name).toBe("POST /v1/payments");
});

test("a refusal is told by its code and is no failure", async () => {
  const traceId = id(16);
  const headers = { traceparent: `00-${traceId}-${id(8)}-01` };
  await client.post("/v1/payments", paymentBody({ amount_minor: 0 }), { headers });
  const [request] = (await traceWith(traceId, "POST /v1/payments")).filter(({ kind }) => kind === 2);
  expect(request?.attributes).toMatchObject({ "gerbang.code": "INVALID_AMOUNT", "http.response.status_code": 422 });
  expect(request?.status.code ?? 0).toBe(0);
});

test("where no proxy is trusted, a sender's trace is a link and not the parent", async () => {
  const own = await openTracing({ endpoint, serviceName: "gerbang", version: "1", ratio: 1 }, createLog("silent"));
  const open = await startService({ tracing: own, roles: ["api"], database: service.database });
  const [traceId, sender] = [id(16), id(8)];
  for (const traceparent of [
    `00-${traceId}-${sender}-01`,
    "00-zz-yy-01",
    `00-${"0".repeat(32)}-${sender}-01`,
    "x".repeat(9_000),
  ])
    expect((await fetch(`${open.origin}/openapi.json`, { headers: { traceparent } })).status).toBe(200);
  await open.stop(); // sends what is left
  const spans = collector.spans.filter(({ name }) => name === "GET /openapi.json");
  expect(spans).toHaveLength(4);
  expect(spans.every((span) => span.traceId !== traceId && !span.parentSpanId)).toBe(true);
  expect(spans.flatMap(({ links }) => links)).toMatchObject([{ traceId, spanId: sender }]);
});

test("no span says anything personal or secret, and probes have none", async () => {
  await fetch(`${service.origin}/livez`);
  const traceId = id(16);
  const headers = { traceparent: `00-${traceId}-${id(8)}-01` };
  const { json } = await client.post("/v1/payments", paymentBody({ customer: { email: "ayu@example.com" } }), {
    headers,
  });
  await traceWith(traceId, "POST /v1/payments");
  expect(json.reference).toBeDefined();
  const { secret } = client.credentials;
  for (const forbidden of [secret, "Ayu", "ayu@", "+62812", "/livez", "127.0.0.1"])
    expect(collector.raw).not.toContain(forbidden);
});

test("a collector that is gone costs no request, and the log says so once", async () => {
  let written = "";
  const lost = await openTracing(
    { endpoint: "http://127.0.0.1:1", serviceName: "gerbang", version: "1", ratio: 1 },
    createLog("info", { write: (line) => void (written += line) }),
  );
  for (let n = 0; n < 10_000; n++) lost.begin("work", {})?.end();
  await lost.stop();
  expect(written.match(/traces could not be sent/g)).toHaveLength(1);
});

const program = fileURLToPath(new URL("../bin/gerbang.js", import.meta.url));
/** Tells on standard error which modules of tracing are loaded. The names that OpenTelemetry gives to things are loaded by prom-client. */
const spy = `data:text/javascript,import{registerHooks}from"node:module";registerHooks({load(u,c,n){if(/opentelemetry.(?!api.)|tracing-otlp/.test(u))process.stderr.write("LOADED "+u+"\\n");return n(u,c)}})`;

test.each([
  ["without an address to send to, no module of it is loaded", undefined, 0],
  ["with one it is", "http://127.0.0.1:1", 1],
])("%s", async (_name, address, least) => {
  const child = spawn(process.execPath, ["--import", spy, program, "serve"], {
    env: {
      PATH: process.env.PATH,
      ...compiled(),
      DATABASE_URL: service.database.url,
      MASTER_KEY: "11".repeat(32),
      OPERATOR_TOKEN: "op_token_of_the_tests_0123456789",
      PORT: "0",
      METRICS_PORT: "0",
      OPS_PORT: "0",
      ...(address === undefined ? {} : { OTEL_EXPORTER_OTLP_ENDPOINT: address }),
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (part: string) => (text += part));
  await vi.waitFor(() => expect(text).toContain('"msg":"ready"'), { timeout: 200_000, interval: 50 });
  child.kill("SIGTERM");
  await once(child, "exit");
  const loaded = text.match(/LOADED /g)?.length ?? 0;
  if (least === 0) expect(loaded).toBe(0);
  else expect(loaded).toBeGreaterThan(5);
});
