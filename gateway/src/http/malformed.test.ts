// Goal: whoever sends bytes that are not HTTP is told so, and every answer before them arrives whole and in its order.
// Method: bare sockets that write several requests and something broken at once, and all that comes back taken apart.
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Client } from "../../../e2e/kit/client.ts";
import { type TestService, paymentBody, startService } from "../../test/kit.ts";

let service: TestService;
let client: Client;

beforeAll(async () => {
  service = await startService({ roles: ["api"] });
  ({ client } = await service.merchant());
});
afterAll(() => service.stop());

/** Writes the parts, a moment apart, and gives everything that came back until the service ended the connection. */
function converse(...parts: string[]): Promise<string> {
  const { hostname, port } = new URL(service.origin);
  return new Promise((resolve, reject) => {
    let all = "";
    const socket = connect(Number(port), hostname, () => {
      parts.forEach((part, index) => setTimeout(() => socket.writable && socket.write(part), index * 30));
    });
    socket.setEncoding("utf8").on("data", (text) => (all += String(text)));
    socket.on("close", () => resolve(all));
    socket.on("error", reject);
  });
}

/** Status and code of each answer; each must be whole, with the envelope and the headers of every other. */
function answersIn(text: string): string[] {
  const answers: string[] = [];
  for (let rest = text; rest !== "";) {
    const [head = "", after = ""] = rest.split(/\r\n\r\n(.*)/s);
    const status = /^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1];
    const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1]);
    expect(after.length).toBeGreaterThanOrEqual(length);
    const json = JSON.parse(after.slice(0, length)) as { error?: { code: string; request_id: string } };
    const requestId = /^x-request-id: (req_\w{26})$/im.exec(head)?.[1];
    expect(requestId).toBeDefined();
    for (const name of ["limit", "remaining", "reset"])
      expect(head).toMatch(new RegExp(`^x-ratelimit-${name}: \\d+$`, "im"));
    if (json.error) expect(json.error.request_id).toBe(requestId);
    answers.push(json.error ? `${status} ${json.error.code}` : `${status}`);
    rest = after.slice(length);
  }
  return answers;
}

const request = (line: string, headers: Record<string, string>, body = ""): string =>
  `${[`${line} HTTP/1.1`, "Host: x", ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)].join("\r\n")}\r\n\r\n${body}`;
const read = (headers: Record<string, string> = {}): string =>
  request("GET /v1/balances", { ...client.headers(""), ...headers });
const create = (coding?: string): string => {
  const body = JSON.stringify(paymentBody());
  const framing = coding === undefined ? { "content-length": String(body.length) } : { "transfer-encoding": coding };
  const json = { "content-type": "application/json", "idempotency-key": `key-${body}`.slice(0, 200) };
  return request(
    "POST /v1/payments",
    { ...client.headers(body), ...json, ...framing },
    coding === undefined ? body : `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
  );
};
const countPayments = async (): Promise<unknown> =>
  (await service.app.database.query({ text: "select count(*)::integer from payments" }))[0]?.count;
const garbage = "hello\r\n\r\n";
const refusal = "400 MALFORMED_REQUEST";
const chunked = (line = "POST /v1/payments"): string =>
  request(line, { "transfer-encoding": "chunked" }, "ZZ\r\nhello");

test.each<[string, () => string[], string[]]>([
  ["behind a read", () => [read() + garbage], ["200", refusal]],
  ["behind a write", () => [create() + garbage], ["201", refusal]],
  ["behind several", () => [read() + create() + read() + garbage], ["200", "201", "200", refusal]],
  ["behind an unknown path", () => [request("GET /nowhere", {}) + garbage], ["404 ROUTE_NOT_FOUND", refusal]],
  ["in pieces", () => [`${read()}hel`, "lo\r\n", garbage, garbage], ["200", refusal]],
  ["behind an answer that is out", () => [read(), garbage], ["200", refusal]],
  ["behind a request that ends the connection", () => [read({ connection: "close" }) + garbage], ["200"]],
  ["in a body", () => [chunked()], [refusal]],
  ["in a body of a read", () => [chunked("GET /v1/balances")], [refusal]],
  ["in a body behind a read", () => [read() + chunked()], ["200", refusal]],
  ["in a body that nobody reads", () => [chunked("POST /nowhere")], ["404 ROUTE_NOT_FOUND"]],
])(
  "bytes that are no HTTP, %s: what is before is answered whole, and the connection ends",
  async (_name, parts, expected) => {
    expect(answersIn(await converse(...parts()))).toEqual(expected);
  },
);

test.each([
  ["a second Host line that agrees", () => read({ host: "x" })],
  ["a second Host line that differs", () => read({ host: "evil.example" })],
  ["a coding before chunked", () => create("gzip, chunked")],
  ["a coding before chunked on a line of its own", () => create("gzip\r\nTransfer-Encoding: chunked")],
  ["an empty coding before chunked", () => create(", chunked")],
  ["a quoted coding before chunked", () => create('"x", chunked')],
  ["chunked in HTTP/1.0", () => create("chunked").replace("HTTP/1.1", "HTTP/1.0")],
])("%s is refused, the connection is closed, and nothing behind it is executed", async (_name, ambiguous) => {
  const before = await countPayments();
  expect(answersIn(await converse(ambiguous() + create()))).toEqual([refusal]);
  expect(answersIn(await converse(create("Chunked") + read({ connection: "close" })))).toEqual(["201", "200"]);
  expect(await countPayments()).toBe(Number(before) + 1);
});

test.each([
  ["a probe", "/livez", "200"],
  ["a path with a broken escape", "/v1/%zz", "404 ROUTE_NOT_FOUND"],
])("%s with a coding before chunked is answered, and nothing behind it is executed", async (_name, path, answer) => {
  const before = await countPayments();
  const ambiguous = request(`GET ${path}`, { "transfer-encoding": "gzip, chunked" }, "0\r\n\r\n");
  expect(answersIn(await converse(ambiguous + create()))).toEqual([answer]);
  expect(await countPayments()).toBe(before);
});

test("a request of which the rest never comes is ended, and not kept for ever", async () => {
  const { server } = service.app.server;
  // Node looks for such requests every 30 s and cannot be hurried: what it says then is said here.
  server.once("request", ({ socket }) => {
    const late = Object.assign(new Error("late"), { code: "ERR_HTTP_REQUEST_TIMEOUT" });
    setTimeout(() => server.emit("clientError", late, socket), 50);
  });
  const text = await converse(request("POST /v1/payments", { "content-length": "100" }, "{"));
  expect(answersIn(text)).toEqual(["408 MALFORMED_REQUEST"]);
});

test("who sends too many headers is told how many may be sent", async () => {
  const text = await converse(read(), read({ "x-long": "x".repeat(20_000) }));
  expect(answersIn(text)).toEqual(["200", "431 MALFORMED_REQUEST"]);
  expect(text).toContain("at most 16 KiB together");
});
