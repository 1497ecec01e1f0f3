// Goal: an answer after which nobody can tell whether Xendit has the payment is no refusal: another acquirer would be called. Method: a server
// that gives each request the answer that the test says.
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { PAYMENT, opening, payment, paymentRequest } from "../../../test/xendit-fixtures.ts";
import { AcquirerRefused } from "../../acquirers/acquirer.ts";
import { OtherMoney } from "../../acquirers/other-money.ts";
import { SECOND, systemClock } from "../../ground/clock.ts";
import { xenditSchema } from "./profile.ts";
import { xenditAcquirer } from "./xendit.ts";

type Answer = [status: number, body: object];
/** The answers by method; a method without one is never answered. */
let answers: Partial<Record<"GET" | "POST", Answer[]>>;
let server: Server;
let acquirer: ReturnType<typeof xenditAcquirer>;
const folder = mkdtempSync(join(tmpdir(), "xendit-uncertain-"));
const signal = new AbortController().signal;
const request = opening({ expiresAt: systemClock.now() + 3_600 * SECOND });
const list = (...data: object[]): Answer => [200, { data, has_more: false }];
const PAID = paymentRequest({ status: "SUCCEEDED", latest_payment_id: PAYMENT, actions: [] });

beforeAll(async () => {
  server = createServer(({ method }, response) => {
    const [status, body] = answers[method as "GET" | "POST"]?.shift() ?? [];
    if (status !== undefined) response.writeHead(status).end(JSON.stringify(body));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const key = join(folder, "key");
  writeFileSync(key, "xnd_development_key");
  const limits = { minimum_minor: 100, maximum_minor: 1_000_000_000, cost: { basis_points: 0, flat_minor: 0 } };
  const profile = xenditSchema.parse({
    provider: "xendit",
    code: "xendit",
    name: "Xendit",
    environment: "sandbox",
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    deadline_ms: 2_000,
    connections: 2,
    secret_key: { file: key },
    callback_token: { file: key },
    methods: [{ method: "qris", ...limits }],
  });
  acquirer = xenditAcquirer(profile);
});
beforeEach(() => {
  answers = {};
});
afterAll(async () => {
  await acquirer.close();
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});

test.each<[string, Answer, boolean]>([
  ["that may pass", [429, { error_code: "RATE_LIMIT_EXCEEDED" }], false],
  ["of the key", [401, { error_code: "INVALID_API_KEY" }], false],
  ["of its content", [400, { error_code: "API_VALIDATION_ERROR" }], true],
])("after a refusal %s a repeated order says whether the first one was made", async (_which, refusal, isAbsent) => {
  answers = { GET: [list()], POST: [refusal] };
  const found = await acquirer.calls.inquire(request, signal).catch((error: unknown) => error);
  if (isAbsent) expect(found).toEqual({ known: false });
  else expect(found).toBeInstanceOf(Error);
});

test("of two payment requests of one order the paid one counts", async () => {
  const other = paymentRequest({ status: "EXPIRED", payment_request_id: "pr-of-before", actions: [] });
  answers = { GET: [list(other, PAID), [200, payment()]] };
  expect(await acquirer.calls.inquire(request, signal)).toMatchObject({
    state: { status: "paid", receipt: { transactionId: PAYMENT } },
  });
});

test("money that no payment is named for is told to a person, and its payment stays as it is", async () => {
  answers = { GET: [list(paymentRequest({ status: "SUCCEEDED", actions: [] }))] };
  await expect(acquirer.calls.inquire(request, signal)).rejects.toThrow(OtherMoney);
});

test("an order that has failed at once is refused", async () => {
  answers = { POST: [[201, paymentRequest({ status: "FAILED", actions: [] })]] };
  const error = await acquirer.calls.open(request, signal).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(AcquirerRefused);
  expect(error).toHaveProperty("unavailable", false);
});

test("an order that is paid is no refusal, where too much is under way to read its money", async () => {
  answers = { GET: [], POST: [[201, PAID]] };
  const ending = new AbortController();
  const ask = (): Promise<unknown> => acquirer.calls.inquire(request, ending.signal).catch(() => undefined);
  // Four requests may be under way: the order and three that wait. A fourth takes the place of the order as soon as it is answered.
  const others = [ask()];
  const order = acquirer.calls.open(request, signal, () => void Promise.resolve().then(() => others.push(ask())));
  others.push(ask(), ask());
  const error = await order.catch((thrown: unknown) => thrown);
  expect(error).toHaveProperty("message", "xendit has 4 requests under way already");
  expect(error).not.toBeInstanceOf(AcquirerRefused);
  ending.abort();
  await Promise.all(others);
});
