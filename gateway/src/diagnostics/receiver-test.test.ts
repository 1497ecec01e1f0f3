// Goal: a correct receiver passes the exam, and a receiver that is wrong in one way fails exactly the check that is about it.
// Method: TLS receivers that differ in one thing each, all examined at once through the API.
import { createHmac, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import tls from "node:tls";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Answer, Client } from "../../../e2e/kit/client.ts";
import { type Certificates, type Received, Receiver, isGenuine, makeCertificates } from "../../../e2e/kit/receiver.ts";
import { type TestService, asOwner, startService } from "../../test/kit.ts";
import { eventTypes } from "../events/event.ts";
import { uuidOf } from "../ground/ids.ts";
import { modes } from "../webhooks/fault-injection.sql.ts";
import type { CheckResult } from "./receiver-test.schema.ts";
import { type CheckName, checkNames, checks } from "./receiver-checks.ts";
import { slowness, waiting } from "../../test/slowness.ts";

const config = { webhookAllowHosts: new Set(["localhost"]) };
/** So long an answer may take: longer than in service, so that a receiver on a busy machine is late only where it means to be. */
const DEADLINE_MS = 60_000;
/** Of the one exam whose receiver answers too late. */
const SHORT_DEADLINE_MS = 2_500;
/** So long a body sent in pieces takes. */
const SLOW_BODY_MS = 700;
const timing = { deadlineMs: DEADLINE_MS, slowBodyMs: SLOW_BODY_MS };
const trusted = tls.getCACertificates("default");
let certificates: Certificates;
let receiver: Receiver;
let service: TestService;
/** How each path answers. */
const answers = new Map<string, (delivery: Received, response: ServerResponse) => void>();

beforeAll(async () => {
  certificates = await makeCertificates();
  tls.setDefaultCACertificates([...trusted, readFileSync(certificates.caFile, "utf8")]);
  receiver = await Receiver.start(certificates);
  receiver.answer = (delivery, response) => answers.get(delivery.path)?.(delivery, response);
  service = await startService({ config, timing });
});

afterAll(async () => {
  await service.stop();
  await receiver.close();
  tls.setDefaultCACertificates(trusted);
});

/** Gives the status to answer with. */
type Judge = (delivery: Received, secret: string, known: Set<string>) => number | Promise<number>;

/** What section 6.3 asks of a receiver. */
const correct: Judge = (delivery, secret, known) => {
  if (!isGenuine(delivery, secret)) return 401;
  known.add(delivery.event.id as string);
  return 200;
};

const isKnownType = ({ event }: Received): boolean => (eventTypes as readonly string[]).includes(event.type as string);

/** The signature over the body as somebody writes it again. */
function signatureOf(delivery: Received, secret: string, body: string): string {
  const timestamp = String(delivery.headers["x-svc-timestamp"]);
  return createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest("hex");
}

/** Events that a receiver has looked for and not kept yet; each resolves when its second copy is looked for. */
const lookedFor = new Map<string, PromiseWithResolvers<void>>();

/** For each check a receiver with the fault that it is about, and no other. */
const wrong: Record<CheckName, Judge> = {
  accepts_genuine: (delivery, secret, known) =>
    delivery.event.type === "payment.created" ? 500 : correct(delivery, secret, known),
  // Believes whatever tells of an amount that it expects.
  refuses_bad_signature: (delivery, secret, known) =>
    delivery.event.data.amount_minor === 150_000 && Math.abs(ageOf(delivery)) < 300
      ? 200
      : correct(delivery, secret, known),
  // Looks at the signature only where it has an order of this amount.
  refuses_altered_body: (delivery, secret, known) =>
    delivery.event.data.amount_minor === 150_000 ? correct(delivery, secret, known) : 200,
  refuses_old_timestamp: (delivery, secret) =>
    signatureOf(delivery, secret, delivery.body) === delivery.headers["x-svc-signature"] ? 200 : 401,
  accepts_unknown_type: (delivery, secret, known) => (isKnownType(delivery) ? correct(delivery, secret, known) : 422),
  accepts_duplicate: (delivery, secret, known) =>
    delivery.event.type !== "refund.failed" && known.has(delivery.event.id as string)
      ? 409
      : correct(delivery, secret, known),
  // Looks first and keeps later: of two at once the second stumbles over the first.
  async accepts_duplicate_at_once(delivery, secret, known) {
    const id = delivery.event.id as string;
    if (delivery.event.type !== "refund.failed" || known.has(id)) return correct(delivery, secret, known);
    const first = lookedFor.get(id);
    if (first) {
      first.resolve();
      return 500;
    }
    const second = Promise.withResolvers<void>();
    lookedFor.set(id, second);
    await second.promise;
    return correct(delivery, secret, known);
  },
  accepts_any_order(delivery, secret, known) {
    const { uuid } = delivery.event.data as { uuid?: string };
    const newest = `${uuid} ${delivery.event.created_at as string}`;
    const overtaken = uuid !== undefined && [...known].some((kept) => kept.startsWith(uuid) && kept > newest);
    if (uuid !== undefined) known.add(newest);
    return overtaken ? 409 : correct(delivery, secret, known);
  },
  // Takes the age of the event for that of the delivery.
  accepts_late: (delivery, secret, known) =>
    Date.now() - Date.parse(delivery.event.created_at as string) > 300_000 ? 401 : correct(delivery, secret, known),
  accepts_retry: (delivery, secret, known) =>
    delivery.headers["x-svc-delivery-attempt"] === "1" ? correct(delivery, secret, known) : 404,
  accepts_slow_body: (delivery, secret, known) =>
    delivery.at - (delivery.begunAt ?? 0) > SLOW_BODY_MS / 2 ? 408 : correct(delivery, secret, known),
  async answers_in_time(delivery, secret, known) {
    const status = await correct(delivery, secret, known);
    if (status === 200 && delivery.event.type === "payment.succeeded") await pause(SHORT_DEADLINE_MS + 300); // ships the goods first
    return status;
  },
  // Signs what it has parsed, written again in the usual order.
  tolerates_byte_order(delivery, secret, known) {
    const { id, type, created_at, environment, api_version, data } = delivery.event;
    const again = JSON.stringify({ id, type, created_at, environment, api_version, data });
    const status = correct(delivery, secret, known);
    return signatureOf(delivery, secret, again) === delivery.headers["x-svc-signature"] ? status : 401;
  },
};

const ageOf = (delivery: Received): number => delivery.at / 1000 - Number(delivery.headers["x-svc-timestamp"]);

interface Shop {
  client: Client;
  merchantId: string;
  path: string;
}

async function shop(judge: Judge, by = service): Promise<Shop> {
  const path = `/${randomUUID()}`;
  const { client, merchantId } = await by.merchant();
  const secret = (await by.app.merchants.setWebhook({ merchantId, environment: "sandbox" }, receiver.url(path))) ?? "";
  const known = new Set<string>();
  answers.set(path, (delivery, response) => {
    void Promise.resolve(judge(delivery, secret, known)).then((status) =>
      response.writeHead(status, { "x-shop": "kopi" }).end("as it is"),
    );
  });
  return { client, merchantId, path };
}

const at = ({ path }: Shop): Received[] => receiver.received.filter((delivery) => delivery.path === path);

const sitFor = (client: Client, key: string = randomUUID()): Promise<Answer> =>
  client.post("/v1/sandbox/webhook/exam", {}, { key });

async function scorecard({ client }: Shop): Promise<{ passed: boolean; checks: CheckResult[] }> {
  const { status, json, text } = await sitFor(client);
  expect(status, text).toBe(200);
  expect((json.checks as CheckResult[]).map(({ name }) => name)).toEqual(checkNames);
  return json as { passed: boolean; checks: CheckResult[] };
}

/** Sent beyond one delivery for each check: a copy later, one at once and one later, and what was overtaken. */
const REPEATS = 4;

test("a correct receiver passes; the scorecard shows what was sent and how it was taken", async () => {
  const of = await shop(correct);
  const { passed, checks: results } = await scorecard(of);
  expect(results.filter((result) => !result.passed)).toEqual([]);
  expect(passed).toBe(true);
  expect(at(of)).toHaveLength(checkNames.length + REPEATS);
  for (const { name, sent, received } of results) {
    const delivery = at(of).find(
      ({ body, headers }) => body === sent.body && headers["x-svc-signature"] === sent.headers["X-SVC-Signature"],
    );
    expect(delivery?.event.data.sample, name).toBe(true);
    expect(received).toEqual({
      status: name.startsWith("refuses") ? 401 : 200,
      duration_ms: expect.any(Number),
      reason: null,
      headers: expect.objectContaining({ "x-shop": "kopi" }),
      body: "as it is",
    });
    expect(received.duration_ms).toBeLessThan(DEADLINE_MS);
  }
  const { rows } = await asOwner(service.database, (owner) =>
    owner.query("select from events where merchant_id = $1::uuid", [uuidOf(of.merchantId)]),
  );
  expect(rows).toEqual([]);
});

/** The checks that the wrong receiver of a check fails. */
async function failedBy(name: CheckName, by = service): Promise<CheckName[]> {
  const { passed, checks: results } = await scorecard(await shop(wrong[name], by));
  expect(passed).toBe(false);
  const failures = results.filter((result) => !result.passed);
  for (const { received, guide } of failures) {
    expect(received.reason).toMatch(/^The receiver (answered \d{3}; expected |did not answer within 2\.5 seconds)/);
    expect(guide).toContain(checks[name].guide.text);
  }
  return failures.map((result) => result.name);
}

test("a receiver that is wrong in one way fails exactly that check", async () => {
  const names = checkNames.filter((name) => name !== "answers_in_time");
  const failed = await Promise.all(names.map(async (name) => [name, await failedBy(name)]));
  expect(Object.fromEntries(failed)).toEqual(Object.fromEntries(names.map((name) => [name, [name]])));
});

test("a receiver that answers late fails the check about that alone", async () => {
  const impatient = await startService({
    config,
    timing: { ...timing, deadlineMs: SHORT_DEADLINE_MS },
    database: service.database,
    roles: ["api"],
  });
  expect(await failedBy("answers_in_time", impatient)).toEqual(["answers_in_time"]);
  await impatient.stop();
});

test("a receiver that takes everything, or stumbles over everything, has refused nothing", async () => {
  const names = ["refuses_bad_signature", "refuses_altered_body", "refuses_old_timestamp"];
  const failures = async (judge: Judge): Promise<string[]> =>
    (await scorecard(await shop(judge))).checks.filter(({ passed }) => !passed).map(({ name }) => name);
  const [all, stumbling] = await Promise.all([
    failures(() => 200),
    failures(async (...given) => ((await correct(...given)) === 200 ? 200 : 500)),
  ]);
  expect(all).toEqual(names);
  expect(stumbling).toEqual(names);
});

test("where nobody answers every check fails and says why", async () => {
  const { client, merchantId } = await service.merchant();
  await service.app.merchants.setWebhook({ merchantId, environment: "sandbox" }, "https://localhost:1/hook");
  const { json } = await sitFor(client);
  for (const { passed, received } of json.checks as CheckResult[]) {
    expect([passed, received.status]).toEqual([false, null]);
    expect(received.reason).toMatch(/refused the connection/);
  }
});

test("an exam is run once for its key, and needs an address", async () => {
  const of = await shop(correct);
  const key = randomUUID();
  const first = await sitFor(of.client, key);
  const count = at(of).length;
  const again = await sitFor(of.client, key);
  expect([again.status, again.text]).toEqual([200, first.text]);
  expect(again.headers.get("x-idempotent-replay")).toBe("true");
  const conflict = await of.client.post("/v1/sandbox/events/trigger", { type: "payment.created" }, { key });
  expect(conflict.json.error.code).toBe("IDEMPOTENCY_CONFLICT");
  const triggered = randomUUID();
  await of.client.post("/v1/sandbox/events/trigger", { type: "payment.created" }, { key: triggered });
  expect((await sitFor(of.client, triggered)).json.error.code).toBe("IDEMPOTENCY_CONFLICT");
  await vi.waitFor(() => expect(at(of)).toHaveLength(count + 1), 30_000);

  const { client } = await service.merchant();
  const refused = await sitFor(client);
  expect([refused.status, refused.json.error.code]).toEqual([404, "OBJECT_NOT_FOUND"]);
  expect(refused.json.error.message).toMatch(/register/i);
});

test("what a receiver says is shown in bounds, whatever it is, and the scorecard is kept", async () => {
  const of = await shop(correct);
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`x-${n}-${"n".repeat(60)}`, '"'.repeat(180)]));
  answers.set(of.path, (_delivery, response) => void response.writeHead(500, many).end(Buffer.alloc(20_000)));
  const key = randomUUID();
  const { status, json, text } = await sitFor(of.client, key);
  expect(status, text).toBe(200);
  for (const { received } of json.checks as CheckResult[]) {
    expect(Object.entries(received.headers ?? {})).toHaveLength(20);
    for (const [name, value] of Object.entries(received.headers ?? {}))
      expect([name.length, value.length]).toEqual([60, 150]);
    expect(received.body).toBe("\0".repeat(500));
  }
  expect((await sitFor(of.client, key)).text).toBe(text);
});

test("one exam at a time for a merchant; others are not held up", async () => {
  const held: ServerResponse[] = [];
  const of = await shop(correct);
  const usual = answers.get(of.path);
  answers.set(of.path, (_delivery, response) => void held.push(response));
  const running = sitFor(of.client);
  await vi.waitFor(() => expect(held).toHaveLength(checkNames.length + 1), 30_000);
  const key = randomUUID();
  const refused = await sitFor(of.client, key);
  expect([refused.status, refused.json.error.code]).toEqual([429, "RATE_LIMITED"]);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(Number(refused.headers.get("retry-after"))).toBeLessThanOrEqual((2 * DEADLINE_MS) / 1_000);
  expect((await scorecard(await shop(correct))).passed).toBe(true);
  if (usual) answers.set(of.path, usual);
  for (const response of held) response.writeHead(200).end();
  expect((await running).status).toBe(200);
  expect((await sitFor(of.client, key)).json.passed).toBe(true); // the refusal was not kept
});

test("a service that stops cuts its exams off, and says nothing about the receiver", async () => {
  const stopping = await startService({ config, timing });
  const { client, merchantId } = await stopping.merchant();
  const path = `/${randomUUID()}`;
  const held: ServerResponse[] = [];
  answers.set(path, (_delivery, response) => void held.push(response));
  await stopping.app.merchants.setWebhook({ merchantId, environment: "sandbox" }, receiver.url(path));
  const running = sitFor(client);
  await vi.waitFor(() => expect(held).toHaveLength(checkNames.length + 1), 30_000);
  const stopped = stopping.stop();
  const took = await waiting(async () => expect((await running).status).toBe(503));
  expect(took).toBeLessThan(2_000 * slowness());
  stopping.app.server.server.closeAllConnections(); // this client's, which it would use again
  await stopped;
});

test("the guide says what the scorecard quotes, and names every kind of misbehaviour", () => {
  const guide = readFileSync(new URL("../../../docs/guides/webhooks.md", import.meta.url), "utf8");
  const plain = (text: string): string => text.replaceAll(/\s+/g, " ");
  const sections = new Map(
    guide.split(/^#+ /m).map((section) => {
      const [heading = "", ...rest] = section.split("\n");
      return [
        heading
          .toLowerCase()
          .replaceAll(/[^\w -]/g, "")
          .replaceAll(" ", "-"),
        plain(rest.join("\n")),
      ];
    }),
  );
  for (const { guide: paragraph } of Object.values(checks)) {
    expect(sections.get(paragraph.anchor), paragraph.anchor).toContain(paragraph.text);
  }
  for (const mode of modes) expect(guide).toContain(`\`${mode}\``);
});
