// Goal: what an acquirer says is taken for what it is: a definite no, an answer, or nothing that anybody could tell.
// Method: the adapter suite against the simulated acquirers over real sockets, then hosts that answer in every wrong way.
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { afterEach, describe, expect, test } from "vitest";
import { makeCertificates } from "../../../e2e/kit/receiver.ts";
import { Bench, expectRefused, expectUnknown, inTime, thrown } from "../../test/adapter-bench.ts";
import { adapterSuite } from "../../test/adapter-suite.ts";
import { SECRET, profile, remoteRig } from "../../test/remote-rig.ts";
import { systemClock, wireTime } from "../ground/clock.ts";
import { SigningKey } from "../ground/signing-key.ts";
import { AcquirerRefused, type OpenRequest, type RefundRequest } from "./acquirer.ts";
import { OtherMoney } from "./other-money.ts";
import { objectionToAddresses } from "./payer-address.ts";
import type { RemoteProfile } from "./remote-profile.ts";
import { signedHeaders } from "./remote-protocol.ts";
import { remoteAcquirer } from "./remote.ts";
import { simulatedAcquirers } from "./simulated.ts";
import { slowness, waiting as waitingFor } from "../../test/slowness.ts";

adapterSuite("an acquirer of our protocol", remoteRig);

test.each([
  ["amount_minor", '{"transaction_id":"t-1","amount_minor":"150000","currency":"IDR"}', "must be a whole number"],
  ["currency", '{"transaction_id":"t-1","amount_minor":150000}', "is required"],
])("a callback with a mistake in %s is told what the field must be", async (field, transaction, words) => {
  const acquirer = remoteAcquirer(profile("https://rimba.example"));
  const occurred = `"occurred_at":"${wireTime(systemClock.now())}"`;
  const body = `{"callback_id":"cb-1","kind":"payment","operation_key":"pay01.1.s1","status":"paid","transaction":${transaction},${occurred}}`;
  const headers = signedHeaders(new SigningKey(SECRET), systemClock.now(), "POST", "/callbacks", body);
  const message = { method: "POST", target: "/callbacks", rest: "", headers, body: Buffer.from(body) };
  expect(() => acquirer.calls.receive(message, systemClock.now())).toThrow(`transaction.${field}: ${words}`);
  await acquirer.close();
});

for (const acquirer of simulatedAcquirers) {
  const { calls } = acquirer;
  if (!calls) throw new Error(`${acquirer.code} takes no calls`);
  const rig = {
    acquirer: { ...acquirer, calls },
    callbackUrl: "https://gerbang.example.com/unused",
    temper: (temper: string) => ({
      metadata: { "sandbox.scenario": temper === "refuses" ? "gateway_error" : "gateway_timeout" },
    }),
    close: () => Promise.resolve(),
  };
  adapterSuite(`the simulated acquirer ${acquirer.code}`, () => Promise.resolve(rig), "local");
}

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage["headers"];
  body: string;
}
type Answering = (response: ServerResponse, seen: Seen) => void;

async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.unshift(() => {
    server.closeAllConnections();
    server.close();
    return once(server, "close");
  });
  return (server.address() as AddressInfo).port;
}

/** A host that answers as it is told, and what it has seen. */
async function host(answer: Answering): Promise<{ url: string; seen: Seen[]; connections: () => number }> {
  const seen: Seen[] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      seen.push({ method, url, headers, body: Buffer.concat(parts).toString() });
      answer(response, seen.at(-1) as Seen);
    });
  });
  server.on("connection", () => connections++);
  return { url: `http://127.0.0.1:${await listen(server)}`, seen, connections: () => connections };
}

const json =
  (status: number, value: unknown): Answering =>
  (response) =>
    response.writeHead(status).end(typeof value === "string" ? value : JSON.stringify(value));

function adapter(url: string, changes: Partial<RemoteProfile> = {}) {
  const acquirer = remoteAcquirer(profile(url, changes));
  closers.unshift(() => acquirer.close());
  return acquirer.calls;
}

const request: OpenRequest = {
  operationKey: "pay.1",
  reference: "pay_01m7yjgp5af9zagwxw9d6sqxgf",
  amountMinor: 9_007_199_254_740_991n,
  currency: "IDR",
  method: "qris",
  merchantName: "Kopi Gerbang",
  expiresAt: 1_795_246_942_000_000,
  payUrl: "https://pay.example.com/pay/x",
  returnUrl: undefined,
  callbackUrl: "https://gerbang.example.com/acquirers/rimba/callbacks",
  metadata: undefined,
  round: 0,
  isOver: false,
  providerIds: undefined,
};
const refund: RefundRequest = {
  operationKey: "rfd.1",
  paymentOperationKey: "pay.1",
  paymentProviderIds: undefined,
  isOver: false,
  paymentAmountMinor: 1n,
  method: "qris",
  providerIds: undefined,
  amountMinor: 1n,
  currency: "IDR",
  callbackUrl: request.callbackUrl,
};
const instructions = { type: "qr_string", value: "000201", expires_at: "2026-11-21T07:42:22Z", qr_string: "000201" };
const waiting = { operation_key: "pay.1", status: "waiting", instructions };
const transaction = { transaction_id: "tx-1", amount_minor: 150_000, currency: "IDR" };
const forever = (): AbortSignal => new AbortController().signal;

describe("what it sends", () => {
  test("is signed over timestamp, method, path and body, and says amounts exactly", async () => {
    const { url, seen } = await host((response, { method }) =>
      json(method === "GET" ? 200 : 201, { ...waiting, later: "a field more" })(response, seen[0] as Seen),
    );
    const calls = adapter(`${url}/base/v2/`);
    expect(await calls.open(request, inTime())).toEqual({ instructions, state: { status: "waiting" } });
    await calls.inquire(request, inTime());
    for (const { method, url: path, headers, body } of seen) {
      const timestamp = headers["x-acquirer-timestamp"] as string;
      const text = `${timestamp}.${method} ${path}.${body}`;
      expect(headers["x-acquirer-signature"]).toBe(createHmac("sha256", SECRET).update(text).digest("hex"));
      expect(Math.abs(Number(timestamp) - systemClock.now() / 1e6)).toBeLessThan(5);
    }
    expect(seen.map(({ method, url: path }) => `${method} ${path}`)).toEqual([
      "POST /base/v2/payments",
      "GET /base/v2/payments/pay.1",
    ]);
    expect(seen[0]?.body).toBe(
      '{"operation_key":"pay.1","amount_minor":9007199254740991,"currency":"IDR","payment_method":"qris",' +
        '"merchant_name":"Kopi Gerbang","reference":"pay_01m7yjgp5af9zagwxw9d6sqxgf","expires_at":"2026-11-21T07:42:22Z",' +
        '"pay_url":"https://pay.example.com/pay/x","callback_url":"https://gerbang.example.com/acquirers/rimba/callbacks"}',
    );
  });

  test("says where the payer goes back to, where the merchant has said so", async () => {
    const { url, seen } = await host(json(201, waiting));
    await adapter(url).open({ ...request, returnUrl: "https://shop.example.com/thanks" }, inTime());
    expect(JSON.parse(seen[0]?.body ?? "")).toMatchObject({ return_url: "https://shop.example.com/thanks" });
  });

  test.for<[string, object, object]>([
    ["being paid", { status: "processing" }, { status: "processing" }],
    ["failed", { status: "failed" }, { status: "failed" }],
    [
      "paid",
      { status: "paid", transaction },
      { status: "paid", receipt: { transactionId: "tx-1", amountMinor: 150_000n, currency: "IDR" } },
    ],
  ])("is answered with a payment that is %s already", async ([, change, state]) => {
    const { url } = await host(json(201, { ...waiting, ...change }));
    expect(await adapter(url).open(request, inTime())).toEqual({ instructions, state });
  });

  test("goes over connections that are kept", async () => {
    const { url, connections } = await host(json(201, waiting));
    const calls = adapter(url);
    for (let round = 0; round < 20; round++) await calls.open(request, inTime());
    expect(connections()).toBeLessThanOrEqual(2);
  });

  test("never follows a redirect", async () => {
    const other = await host(json(201, waiting));
    const { url } = await host((response) => response.writeHead(307, { location: `${other.url}/payments` }).end());
    await expectUnknown(adapter(url).open(request, inTime()));
    expect(other.seen).toEqual([]);
  });
});

describe("the end of a payment before its time", () => {
  const failed = { ...waiting, status: "failed" };
  test("is an answer that says of this payment that it has failed", async () => {
    const { url, seen } = await host(json(200, failed));
    await adapter(url).cancel?.(request, inTime());
    expect(seen.map(({ method, url: path, body }) => [method, path, body])).toEqual([
      ["POST", "/payments/pay.1/cancel", "{}"],
    ]);
  });

  test.for<[string, number, unknown]>([
    ["it waits", 200, waiting],
    ["it is being paid", 200, { ...waiting, status: "processing" }],
    ["it is paid", 200, { ...waiting, status: "paid", transaction }],
    ["another one has failed", 200, { ...failed, operation_key: "pay.2" }],
    ["half an answer", 200, '{"operation_key":"pay.1","sta'],
    ["it does not wait any more", 409, { error: { code: "not_waiting", message: "It is paid." } }],
    ["it is not there", 404, { error: { code: "unknown_operation", message: "None." } }],
    ["it is down", 500, { error: { code: "down", message: "Later.", final: true } }],
  ])("is not known to be there when the answer says that %s", async ([, status, body]) => {
    const { url } = await host(json(status, body));
    const calls = adapter(url);
    const error = await thrown(calls.cancel?.(request, inTime()) ?? Promise.resolve());
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(AcquirerRefused);
  });

  test("is never to come where the acquirer says that this is final", async () => {
    const { url } = await host(json(422, { error: { code: "no", message: "Codes are not taken back", final: true } }));
    const error = await thrown(adapter(url).cancel?.(request, inTime()) ?? Promise.resolve());
    expect(error).toBeInstanceOf(AcquirerRefused);
  });

  test("is not asked of an acquirer whose entry does not say that it ends any", () => {
    expect(Object.keys(adapter("http://127.0.0.1:1", { cancels: true }))).toContain("cancel");
    expect(Object.keys(adapter("http://127.0.0.1:1", { cancels: false }))).not.toContain("cancel");
  });
});

describe("a definite no", () => {
  test.for([400, 401, 409, 410, 422, 500, 503])("is a %s whose error is final", async (status) => {
    const { url } = await host(json(status, { error: { code: "no", message: "Not\nthis one", final: true } }));
    const calls = adapter(url);
    await expectRefused(calls.open(request, inTime()), status >= 500);
    await expectRefused(calls.refund(refund, inTime()), status >= 500);
    const error = await thrown(calls.open(request, inTime()));
    expect((error as Error).message).toBe("rimba refused: no: Not?this one");
  });

  test("is a certificate that nobody vouches for: the handshake fails before anything is sent", async () => {
    const { key, cert } = await makeCertificates();
    const server = createHttpsServer({ key, cert }, (_request, response) => response.end());
    server.on("tlsClientError", () => undefined);
    const calls = adapter(`https://localhost:${await listen(server)}`);
    await expectRefused(calls.open(request, inTime()), true);
    await expectUnknown(calls.inquire(request, inTime()));
  });

  test("is a host that does not speak TLS", async () => {
    const { url, seen } = await host(json(201, waiting));
    await expectRefused(adapter(url.replace("http:", "https:")).open(request, inTime()), true);
    expect(seen).toEqual([]);
  });

  test("comes early when there is no connection: a part of the deadline is left to ask another", async () => {
    const bench = new Bench();
    closers.push(() => bench.tidy());
    const calls = adapter(`https://127.0.0.1:${await bench.silentPort()}`, { deadline_ms: 1_000 });
    expect(await waitingFor(() => expectRefused(calls.open(request, forever()), true))).toBeLessThan(700 * slowness());
  });

  test("is what waits for a connection in vain, and is not sent later; what was sent is unknown", async () => {
    const { url, seen } = await host(() => undefined);
    const calls = adapter(url, { deadline_ms: 800 });
    const errors = await Promise.all(
      Array.from({ length: 80 }, (_, at) => thrown(calls.open({ ...request, operationKey: `k.${at}` }, forever()))),
    );
    expect(errors.filter((error) => error instanceof AcquirerRefused)).toHaveLength(16);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(seen).toHaveLength(64);
  });
});

const wrongAnswers: [string, Answering][] = [
  ["an error that is not final", json(422, { error: { code: "no", message: "no" } })],
  ["an error that says it is not final", json(500, { error: { code: "no", message: "no", final: false } })],
  ["a final that is text", json(422, { error: { code: "no", message: "no", final: "true" } })],
  ["a final error as a success", json(200, { error: { code: "no", message: "no", final: true } })],
  ["an error of another shape", json(500, { final: true })],
  ["an error page", json(502, "<html>Bad gateway</html>")],
  ["not found", json(404, { error: { code: "unknown", message: "?" } })],
  ["nothing", json(204, "")],
  ["an empty success", json(200, "")],
  ["a page", json(200, "<html>It works!</html>")],
  ["a list", json(200, [waiting])],
  ["a key twice", json(200, JSON.stringify(waiting).replace("{", '{"status":"failed",'))],
  ["another operation", json(200, { ...waiting, operation_key: "pay.2" })],
  ["no instructions", json(200, { operation_key: "pay.1", status: "waiting" })],
  ["instructions of another method", json(200, { ...waiting, instructions: { ...instructions, type: "va_number" } })],
  ["instructions without their field", json(200, { ...waiting, instructions: { ...instructions, qr_string: "" } })],
  ["instructions with a number", json(200, { ...waiting, instructions: { ...instructions, fee: 1 } })],
  [
    "a QR code that none can draw",
    json(200, { ...waiting, instructions: { ...instructions, value: "é".repeat(1_166) } }),
  ],
  ["instructions without an end", json(200, { ...waiting, instructions: { ...instructions, expires_at: "soon" } })],
  ["a status that does not exist", json(200, { ...waiting, status: "done" })],
  ["paid without money", json(200, { ...waiting, status: "paid" })],
  ["money without paid", json(200, { ...waiting, transaction })],
  ["money in part", json(200, { ...waiting, status: "paid", transaction: { ...transaction, amount_minor: 1.5 } })],
  ["money as text", json(200, { ...waiting, status: "paid", transaction: { ...transaction, amount_minor: "1" } })],
  ["unknown money", json(200, { ...waiting, status: "paid", transaction: { ...transaction, currency: "XXX" } })],
  [
    "spaces in an id",
    json(200, { ...waiting, status: "paid", transaction: { ...transaction, transaction_id: "a b" } }),
  ],
  ["too much", json(200, { ...waiting, filler: "x".repeat(65_536) })],
  [
    "a broken end",
    (response) => void response.writeHead(200, { "content-length": 999 }).write("{", () => response.destroy()),
  ],
  ["no HTTP", (response) => void response.socket?.end("this is no HTTP\r\n\r\n")],
  ["a closed connection", (response) => void response.socket?.destroy()],
  ["a reset", (response) => void response.socket?.resetAndDestroy()],
  ["endless headers", (response) => response.writeHead(200, { filler: "x".repeat(20_000) }).end()],
];

describe("an unknown outcome", () => {
  test.for(wrongAnswers)("is %s", async ([, answer]) => {
    const { url, seen } = await host(answer);
    const calls = adapter(url);
    await expectUnknown(calls.open(request, inTime()));
    expect(seen).toHaveLength(1);
    await expectUnknown(calls.inquire(request, inTime()));
    await expectUnknown(calls.refund(refund, inTime()));
    await expectUnknown(calls.inquireRefund(refund, inTime()));
  });

  test.for<[string, object, boolean]>([
    ["money that cannot be read", { transaction: { ...transaction, amount_minor: "1" } }, true],
    ["money in an unknown currency", { transaction: { ...transaction, currency: "XXX" } }, true],
    ["no money", {}, true],
    ["instructions that are not its payer's", { transaction, instructions: { ...instructions, qr_string: "" } }, true],
    ["another operation's key", { operation_key: "pay.2", transaction: { ...transaction, currency: "XXX" } }, false],
    ["the status of a payment that waits", { status: "waiting", transaction }, false],
  ])("of a payment that is paid is told to a person: with %s", async ([, change, isTold]) => {
    const { url } = await host(json(200, { ...waiting, status: "paid", ...change }));
    const calls = adapter(url);
    for (const answer of [calls.open(request, inTime()), calls.inquire(request, inTime())])
      expect((await thrown(answer)) instanceof OtherMoney).toBe(isTold);
  });

  test("comes at the adapter's own deadline when its caller has none, even if something trickles in", async () => {
    const { url } = await host((response) => {
      response.writeHead(200).write("{");
      const drip = setInterval(() => response.write(" "), 50);
      response.on("close", () => clearInterval(drip));
    });
    const calls = adapter(url, { deadline_ms: 400 });
    for (const call of [() => calls.open(request, forever()), () => calls.inquire(request, forever())])
      expect(await waitingFor(() => expectUnknown(call()))).toBeLessThan(600 * slowness());
  });

  test("comes when the service stops; what was not sent by then is not sent any more", async () => {
    const { url, seen } = await host(() => undefined);
    const acquirer = remoteAcquirer(profile(url));
    const call = thrown(acquirer.calls.open(request, inTime()));
    while (seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await acquirer.close();
    expect(await call).not.toBeInstanceOf(AcquirerRefused);
    await expectRefused(acquirer.calls.open(request, inTime()), true);
    expect(seen).toHaveLength(1);
  });
});

describe("an address for payers", () => {
  const redirect = (fields: object): object => ({
    ...waiting,
    instructions: {
      type: "redirect",
      value: "https://a.example/x",
      redirect_url: "https://a.example/x",
      expires_at: instructions.expires_at,
      ...fields,
    },
  });
  const byWallet = { ...request, method: "ewallet" } as const;

  test.for([
    "http://a.example/x",
    "http://127.0.0.1.a.example/",
    "http://10.0.0.1/x",
    "javascript:alert(1)",
    "java\nscript:alert(1)",
    "JavaScript://a.example/%0aalert(1)",
    "data:text/html,<script>alert(1)</script>",
    "file:///etc/passwd",
    "intent://a.example/#Intent;end",
    "//a.example/x",
    "/x",
    "a.example",
    "https:a.example",
    "https://",
    "https:///x",
    "https://?x",
    "https://user@a.example/",
    "https://user:password@a.example/",
    "https://@a.example/",
    "https:\\\\a.example/x",
    "https://a.example\\@b.example/",
    "https://a.example:99999/",
    " https://a.example/",
    "https://a.example/a b",
    "https://a.example/\u202e",
    `https://a.example/${"x".repeat(2031)}`,
  ])("is never %j: the outcome is unknown, and no payer sees it", async (address) => {
    const { url, seen } = await host(json(200, redirect({ redirect_url: address })));
    await expectUnknown(adapter(url).open(byWallet, inTime()));
    expect(seen).toHaveLength(1);
    await expectUnknown(adapter(url).inquire(byWallet, inTime()));
  });

  test.for(["value", "app_url", "url"])("is looked at in the field %s, too", async (name) => {
    const { url } = await host(json(200, redirect({ [name]: "javascript:alert(1)" })));
    await expectUnknown(adapter(url).open(byWallet, inTime()));
  });

  test.for([
    "https://a.example",
    "https://a.example:8443/x?a=b%20c#d@e",
    "HTTPS://A.example/",
    "http://127.0.0.1:8090/x",
    "http://localhost/x",
    "http://[::1]/x",
    `https://a.example/${"x".repeat(2030)}`,
  ])("may be %j", async (address) => {
    const { url } = await host(json(200, redirect({ redirect_url: address, a_curl: "none" })));
    expect(await adapter(url).open(byWallet, inTime())).toMatchObject({ instructions: { redirect_url: address } });
  });

  test("is never plain http where the acquirer is not on this machine itself", () => {
    const plain = { type: "redirect", value: "x", expires_at: "x", redirect_url: "http://127.0.0.1:8090/x" } as const;
    const named = { ...plain, value: plain.redirect_url };
    expect(objectionToAddresses(named, true)).toBeUndefined();
    expect(objectionToAddresses(named, false)).toBe("instructions.value is no https address");
    expect(objectionToAddresses(plain, true)).toBe("instructions.value is no https address");
  });
});

describe("asking", () => {
  /** Answers in turn. */
  const script = (...answers: Answering[]) => host((response, seen) => answers.shift()?.(response, seen));
  const unknown = json(404, { error: { code: "unknown_operation", message: "?" } });
  const known = json(409, { error: { code: "known_operation", message: "!" } });
  const voided = json(200, { operation_key: "pay.1", status: "void" });

  test("closes a key that is not known, and only then says so", async () => {
    const { url, seen } = await script(unknown, voided);
    expect(await adapter(url).inquire(request, inTime())).toEqual({ known: false });
    expect(seen.map(({ method, url: path }) => `${method} ${path}`)).toEqual([
      "GET /payments/pay.1",
      "POST /payments/pay.1/void",
    ]);
  });

  test("asks again when the request has arrived in between", async () => {
    const { url } = await script(unknown, known, json(200, { ...waiting, status: "paid", transaction }));
    expect(await adapter(url).inquire(request, inTime())).toEqual({
      known: true,
      instructions,
      state: { status: "paid", receipt: { transactionId: "tx-1", amountMinor: 150_000n, currency: "IDR" } },
    });
  });

  test("never says that a key is unknown when it could not be closed", async () => {
    const otherKey = json(200, { operation_key: "pay.2", status: "void" });
    const notVoid = json(200, { operation_key: "pay.1", status: "waiting" });
    for (const answers of [
      [unknown, unknown],
      [unknown, otherKey],
      [unknown, notVoid],
      [unknown, known, unknown],
    ]) {
      await expectUnknown(adapter((await script(...answers)).url).inquire(request, inTime()));
    }
    await expectUnknown(adapter((await script(unknown, known, unknown)).url).inquireRefund(refund, inTime()));
  });
});

test("the secret is in no error, and in nothing that shows the acquirer", async () => {
  const shown: unknown[] = [];
  for (const [, answer] of wrongAnswers) {
    const { url } = await host(answer);
    shown.push(await thrown(adapter(url).open(request, inTime())));
  }
  shown.push(await thrown(adapter("http://127.0.0.1:1").open(request, inTime())));
  const acquirer = remoteAcquirer(profile("http://127.0.0.1:1"));
  shown.push(acquirer);
  expect(inspect(shown, { depth: null, showHidden: true })).not.toContain(SECRET);
  expect(inspect(shown, { depth: null })).not.toContain("x-acquirer-signature");
  await acquirer.close();
});
