// Goal: whatever stands between the client and the service, a call ends in an answer or in an error with what is known: never in a crash or a
// hang. Method: a server on a real socket that answers as proxies and broken networks do.
import { once } from "node:events";
import { type AddressInfo, type Server, type Socket, createServer } from "node:net";
import { afterEach, expect, test } from "vitest";
import Gerbang, { type AttemptInfo, type CallOptions, GerbangError, type GerbangOptions } from "../src/index.ts";
import { sleep } from "../src/transport.ts";
import { slowness, waiting as waitingFor } from "../../gateway/test/slowness.ts";

const servers = new Set<Server>();
const sockets = new Set<Socket>();

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  for (const server of servers) server.close();
  await Promise.all([...servers].filter(({ listening }) => listening).map((server) => once(server, "close")));
  servers.clear();
});

/** Answers each connection's first request so; gives a client of it that waits for nothing. */
async function against(answer: (socket: Socket) => void, options: GerbangOptions = {}): Promise<Gerbang> {
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined); // the client hung up: that is what some tests are about
    socket.on("data", () => answer(socket));
  }).listen(0, "127.0.0.1");
  servers.add(server);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return new Gerbang({
    clientId: "ak_test_1",
    secret: "sk_test_1",
    baseUrl: `http://127.0.0.1:${port}/v1`,
    sleep: () => Promise.resolve(),
    timeoutMs: 1_000,
    ...options,
  });
}

const head = (status: string, headers: Record<string, string | number>): string =>
  `HTTP/1.1 ${status}\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("")}\r\n`;
const said = (status: string, body: string, headers: Record<string, string | number> = {}): string =>
  head(status, { "content-length": Buffer.byteLength(body), ...headers }) + body;
const requestId = { "x-request-id": "req_01kan3t5pzh6c2nb8w4fy7gmsd" };

const requestId200: ResponseInit = { status: 200, headers: requestId };

const failed = async (call: Promise<unknown>): Promise<GerbangError> => {
  const outcome: unknown = await call.then(
    () => "answered",
    (error: unknown) => error,
  );
  return outcome as GerbangError;
};

test.each<[what: string, answer: (socket: Socket) => void, code: string]>([
  [
    "a proxy's page",
    (socket) => socket.end(said("502 Bad Gateway", "<h1>no</h1>", { "content-type": "text/html" })),
    "ANSWER_UNREADABLE",
  ],
  ["nothing", (socket) => socket.end(said("200 OK", "", requestId)), "ANSWER_UNREADABLE"],
  ["JSON of somebody else", (socket) => socket.end(said("200 OK", "[1]".slice(0, 2), requestId)), "ANSWER_UNREADABLE"],
  [
    "half a body",
    (socket) => socket.end(head("201 Created", { "content-length": 100 }) + '{"reference":'),
    "CONNECTION_FAILED",
  ],
  [
    "a body that ends in no chunk",
    (socket) => socket.end(head("201 Created", { "transfer-encoding": "chunked" }) + "5\r\nhello\r\n"),
    "CONNECTION_FAILED",
  ],
  ["no HTTP", (socket) => socket.end("SSH-2.0-OpenSSH_9.2\r\n"), "CONNECTION_FAILED"],
  ["a closed connection", (socket) => socket.destroy(), "CONNECTION_FAILED"],
  [
    "a redirect",
    (socket) => socket.end(said("307 Temporary Redirect", "", { location: "https://elsewhere.example/" })),
    "REDIRECTED",
  ],
  [
    "100 MB announced",
    (socket) => socket.write(head("200 OK", { "content-length": 100_000_000, ...requestId })),
    "ANSWER_TOO_LARGE",
  ],
])("an answer that is %s", async (_, answer, code) => {
  const gerbang = await against(answer);
  const error = await failed(gerbang.payments.get("pay_01kan3t5q8e4vs0x7ybd2m9fjh"));
  expect(error).toMatchObject({ name: "GerbangError", code });
});

test("100 MB that nobody announced: 10 MB are read, and the connection is closed", async () => {
  let written = 0;
  const piece = Buffer.alloc(1_000_000, 32);
  const gerbang = await against(
    (socket) => {
      socket.write(head("200 OK", { ...requestId }));
      const more = (): void => {
        while (!socket.destroyed && written < 100_000_000) {
          written += piece.length;
          if (!socket.write(piece)) return;
        }
      };
      socket.on("drain", more);
      more();
    },
    { timeoutMs: 10_000 },
  );
  const error = await failed(gerbang.balances.get());
  expect(error).toMatchObject({ code: "ANSWER_TOO_LARGE", requestId: requestId["x-request-id"], retryable: false });
  expect(written).toBeLessThan(40_000_000);
});

test("a server that never answers: the call ends in time, five times tried, with its outcome open", async () => {
  const gerbang = await against(() => undefined, { timeoutMs: 30 });
  const body = { amount_minor: 1, currency: "IDR", payment_method: "qris", reference_id: "1" } as const;
  const error = await failed(gerbang.payments.create(body));
  expect(error).toMatchObject({ code: "TIMED_OUT", attempts: 5, outcomeUnknown: true, retryable: true });
  expect(error.idempotencyKey).toMatch(/^[0-9a-f-]{36}$/);
});

test("a call for which the service waits has its time-out after that wait, and its deadline before it", async () => {
  const answer = said("200 OK", JSON.stringify({ data: [], has_more: false }));
  const answers = (socket: Socket): void => void setTimeout(() => socket.write(answer), 100);
  const { sandbox } = await against(answers, { timeoutMs: 30 });
  expect(await sandbox.events.listen({ wait: 25 })).toMatchObject({ data: [] });
  expect(await sandbox.events.listen()).toMatchObject({ data: [] });
  expect(await failed(sandbox.events.listen({ wait: 0 }))).toMatchObject({ code: "TIMED_OUT" });
  expect(await failed(sandbox.events.listen({}, { deadlineMs: 50 }))).toMatchObject({ code: "TIMED_OUT" });
});

test("a body that comes drop by drop does not outlive the time for an attempt", async () => {
  const gerbang = await against(
    (socket) => {
      socket.write(head("200 OK", { "content-length": 1_000_000 }));
      const timer = setInterval(() => socket.write(" "), 5);
      socket.on("close", () => clearInterval(timer));
    },
    { timeoutMs: 60, deadlineMs: 70 },
  );
  expect(await failed(gerbang.balances.get())).toMatchObject({ code: "TIMED_OUT" });
});

test.each<[what: string, fetch: typeof fetch]>([
  ["never answers", () => new Promise(() => undefined)],
  ["answers, and its body never comes", () => Promise.resolve(new Response(new ReadableStream(), requestId200))],
])(
  "a fetch of one's own that %s and ignores its signal: the call ends in time, and when it is stopped",
  async (_what, own) => {
    const options = { clientId: "ak_test_1", secret: "sk_test_1", baseUrl: "https://pay.test/v1", fetch: own };
    const late = await failed(new Gerbang({ ...options, timeoutMs: 50, deadlineMs: 60 }).balances.get());
    expect(late).toMatchObject({ code: "TIMED_OUT" });
    const stopping = new AbortController();
    const stopped = failed(new Gerbang(options).balances.get({ signal: stopping.signal }));
    setTimeout(() => stopping.abort(), 50);
    expect(await stopped).toMatchObject({ code: "ABORTED" });
  },
);

test("nobody listens", async () => {
  const gerbang = await against(() => undefined);
  for (const server of servers) server.close();
  const error = await failed(gerbang.refunds.create({ payment_reference: "pay_01kan3t5q8e4vs0x7ybd2m9fjh" }));
  expect(error).toMatchObject({ code: "CONNECTION_FAILED", attempts: 5 });
  expect(error.message).toMatch(/^The call to http:\S+ failed \(connect ECONNREFUSED \S+\)\.$/);
});

test.each([
  [
    "its cause",
    new TypeError("fetch failed", { cause: new Error("self-signed certificate") }),
    "self-signed certificate",
  ],
  [
    "the code of several addresses",
    new TypeError("fetch failed", { cause: Object.assign(new AggregateError([]), { code: "ECONNREFUSED" }) }),
    "ECONNREFUSED",
  ],
  ["the error itself", new TypeError("terminated"), "terminated"],
  ["the text that a `fetch` of the caller's throws", "reset by peer", "reset by peer"],
  ["what was thrown, of a cause without words", new TypeError("lost", { cause: new Error() }), "TypeError: lost"],
])("a connection that failed says why: %s", async (_, thrown, why) => {
  const error = await failed(answeredBy(() => Promise.reject(thrown)).balances.get());
  expect(error.message).toBe(`The call to https://pay.example failed (${why}).`);
});

test("whoever stops a call gets it back at once, while it is sent and while it waits", async () => {
  const sending = new AbortController();
  const hanging = await against(() => sending.abort());
  expect(await failed(hanging.balances.get({ signal: sending.signal }))).toMatchObject({
    code: "ABORTED",
    attempts: 1,
  });
  const waiting = new AbortController();
  const refusing = await against((socket) => socket.end(said("503 Service Unavailable", "{}")), {
    sleep: (_, signal) =>
      new Promise((_, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason as Error));
        waiting.abort();
      }),
  });
  expect(await failed(refusing.balances.get({ signal: waiting.signal }))).toMatchObject({ code: "ABORTED" });
});

test("whoever stops a call before it is sent is not charged for it", async () => {
  let sent = 0;
  const gerbang = answeredBy(() => json({ reference: "pay_1" }, (sent++, 201)));
  const stopping = new AbortController();
  const call = failed(gerbang.payments.create(order, { signal: stopping.signal }));
  stopping.abort();
  expect(await call).toMatchObject({ code: "ABORTED" });
  const inHook = new AbortController();
  const hooked = answeredBy(() => json({ reference: "pay_1" }, (sent++, 201)), {
    hooks: { onRequest: () => inHook.abort() },
  });
  expect(await failed(hooked.payments.create(order, { signal: inHook.signal }))).toMatchObject({ code: "ABORTED" });
  expect(sent).toBe(0);
});

test("a wait ends where it was stopped before it began, and waitFor's is an error like any other", async () => {
  const pending = () => json({ reference: "pay_1", status: "pending" });
  const stopping = new AbortController();
  // The client's own waits, and an end within one of them.
  const waiting = answeredBy(pending, { sleep }).payments.waitFor("pay_1", "succeeded", {
    signal: stopping.signal,
  });
  setTimeout(() => stopping.abort(), 30);
  const error = await failed(waiting);
  expect(error).toBeInstanceOf(GerbangError);
  expect(error.code).toBe("ABORTED");
  const retried = new AbortController();
  const gerbang = answeredBy(() => json({ error: { code: "SERVICE_UNAVAILABLE", message: "no" } }, 503), {
    sleep,
    hooks: { onRetry: () => retried.abort() },
  });
  const took = await waitingFor(async () => {
    expect(await failed(gerbang.balances.get({ signal: retried.signal }))).toMatchObject({
      code: "ABORTED",
      attempts: 1,
    });
  });
  expect(took).toBeLessThan(700 * slowness());
});

test("after a lost answer the advice is the same key, whatever came after it", async () => {
  let asked = 0;
  const gerbang = answeredBy(() => {
    if (asked++ === 0) throw new TypeError("fetch failed");
    return json({ error: { code: "MERCHANT_SUSPENDED", message: "no" } }, 403);
  });
  const error = await failed(gerbang.refunds.create({ payment_reference: "pay_1" }));
  expect(error).toMatchObject({ code: "MERCHANT_SUSPENDED", outcomeUnknown: true });
  expect(error.advice).toBe("It may have been done. Once its cause is gone, call again with the same idempotency key.");
});

test.each<[what: string, options: GerbangOptions]>([
  ["no secret", { secret: "" }],
  ["an address that is none", { baseUrl: "pay.example.com" }],
  ["an address of a file", { baseUrl: "file:///etc/passwd" }],
  ["an address with a password", { baseUrl: "https://me:secret@pay.example.com" }],
  ["a client_id that would break a header", { clientId: 'ak"\r\nx: y' }],
  ["no time", { timeoutMs: 0 }],
])("a client with %s is refused where it is made", async (_, options) => {
  await expect(against(() => undefined, options)).rejects.toMatchObject({
    code: "CONFIGURATION_INVALID",
    advice: "Set it where the client is made.",
  });
});

test("a read is advised without an idempotency key, which it has not; a write with it", async () => {
  const answering = (status: number, code: string): Promise<Gerbang> =>
    against((socket) => socket.end(said(`${status} No`, JSON.stringify({ error: { code, message: "no" } }))));
  const missing = await answering(404, "PAYMENT_NOT_FOUND");
  expect((await failed(missing.payments.get("pay_1"))).advice).toBe("Once its cause is gone, call again.");
  const canceled = await failed(missing.payments.cancel("pay_1"));
  expect(canceled.advice).toBe("Once its cause is gone, call again with a new idempotency key.");
  const broken = await answering(503, "SERVICE_UNAVAILABLE");
  expect((await failed(broken.payments.get("pay_1"))).advice).toBe("Try again later.");
  const open = await failed(broken.payments.cancel("pay_1"));
  expect(open.advice).toBe("It may have been done. Try again later with the same idempotency key.");
  const ended = async (
    call: (client: Gerbang, options: { signal: AbortSignal }) => Promise<unknown>,
  ): Promise<string> => {
    const ending = new AbortController();
    const silent = await against(() => ending.abort());
    return (await failed(call(silent, { signal: ending.signal }))).advice;
  };
  expect(await ended(({ payments }, options) => payments.get("pay_1", options))).toBe("Nothing was changed.");
  expect(await ended(({ payments }, options) => payments.cancel("pay_1", {}, options))).toBe(
    "What was sent may have been done: look it up.",
  );
});

const json = (body: unknown, status = 200): Response => Response.json(body, { status, headers: requestId });
const order = { amount_minor: 1, currency: "IDR", payment_method: "qris", reference_id: "1" } as const;
/** A client whose answers are made by a function. */
const answeredBy = (answer: (url: URL, init: RequestInit) => Response | Promise<Response>, more: GerbangOptions = {}) =>
  new Gerbang({
    clientId: "ak_test_1",
    secret: "sk_test_1",
    baseUrl: "https://pay.example",
    sleep: () => Promise.resolve(),
    fetch: async (url, init) => answer(new URL(url as string), init ?? {}),
    ...more,
  });

test.each<[what: string, page: (asked: number) => unknown]>([
  ["repeats its cursor", () => ({ data: [{}], has_more: true, next_cursor: "pay_1" })],
  ["has cursors in a circle", (asked) => ({ data: [{}], has_more: true, next_cursor: `pay_${asked % 2}` })],
  ["has more, and no cursor", () => ({ data: [{}], has_more: true })],
  ["has more behind an empty cursor", () => ({ data: [{}], has_more: true, next_cursor: "" })],
  ["is no list", () => ({})],
  ["has a list of nothing", () => ({ data: [null], has_more: false, next_cursor: null })],
])("a list that %s ends in an error: neither does it go on for ever, nor is it taken for whole", async (_, page) => {
  let asked = 0;
  const gerbang = answeredBy(() => {
    asked++;
    return asked > 10 ? json({ data: [], has_more: false, next_cursor: null }) : json(page(asked));
  });
  expect(await failed(Array.fromAsync(gerbang.payments.list()))).toMatchObject({ code: "ANSWER_UNREADABLE" });
  expect(asked).toBeLessThanOrEqual(5);
});

test("a creation answered without a reference, or with an error, is not taken for done", async () => {
  for (const answer of [{ reference: "" }, { reference: "pay_1", error: {} }]) {
    const gerbang = answeredBy(() => json(answer, 201));
    expect(await failed(gerbang.payments.create(order)), JSON.stringify(answer)).toMatchObject({
      code: "ANSWER_UNREADABLE",
      outcomeUnknown: true,
    });
  }
});

test("a proxy's 429 is tried again, and 202 without an error is no answer of a creation", async () => {
  const page = (): Response =>
    new Response("<h1>Too many</h1>", { status: 429, headers: { "content-type": "text/html" } });
  const answers = [page(), json({ reference: "pay_1" }, 201)];
  expect(await answeredBy(() => answers.shift() ?? page()).payments.create(order)).toEqual({ reference: "pay_1" });
  const accepted = answeredBy(() => json({ reference: "pay_1" }, 202));
  expect(await failed(accepted.payments.create(order))).toMatchObject({
    code: "ANSWER_UNREADABLE",
    outcomeUnknown: true,
  });
});

test("a statement is CSV: another answer with status 200, and an empty one, are none", async () => {
  const answers: [body: string, type: string][] = [
    ["<h1>Maintenance</h1>", "text/html"],
    ['"maintenance"', "application/json"],
    ["{}", "application/json"],
    ["", "text/csv"],
  ];
  for (const [body, type] of answers) {
    const gerbang = answeredBy(() => new Response(body, { headers: { "content-type": type } }));
    expect(await failed(gerbang.settlements.statement("set_1")), body).toMatchObject({ code: "ANSWER_UNREADABLE" });
  }
  const csv = new Response("a,b", { headers: { "content-type": "text/csv; charset=utf-8" } });
  expect(await answeredBy(() => csv).settlements.statement("set_1")).toBe("a,b");
});

test("a page without objects that has more is followed by the next", async () => {
  const gerbang = answeredBy(({ searchParams }) =>
    json(
      searchParams.has("starting_after")
        ? { data: [{}], has_more: false, next_cursor: null }
        : { data: [], has_more: true, next_cursor: "lnk_1" },
    ),
  );
  expect(await Array.fromAsync(gerbang.paymentLinks.list({ status: "paid" }))).toHaveLength(1);
});

test("an answer that breaks off is known by its status and its request id", async () => {
  const gerbang = await against((socket) =>
    socket.end(head("201 Created", { "content-length": 100, ...requestId }) + '{"reference":'),
  );
  const error = await failed(gerbang.payments.create(order));
  expect(error).toMatchObject({
    code: "CONNECTION_FAILED",
    status: 201,
    requestId: requestId["x-request-id"],
    outcomeUnknown: true,
  });
});

test("an answer's words are kept as far as a thousand characters, and what is no id or no details is left out", async () => {
  const error = { code: "NEW_CODE", message: "x".repeat(1_000_000), request_id: { no: "text" }, details: "none" };
  const told = await failed(answeredBy(() => json({ error }, 422)).balances.get());
  expect(told).toMatchObject({ code: "NEW_CODE", message: "x".repeat(1_000), details: undefined });
  expect([told.requestId, typeof told.advice]).toEqual([requestId["x-request-id"], "string"]);
});

test.each(["constructor", "__proto__", "A".repeat(81), "A B", "A\n", "", 5, ["A"]])(
  "%j is no code of an error",
  async (code) => {
    const told = await failed(answeredBy(() => json({ error: { code, message: "no" } }, 422)).balances.get());
    expect(told).toMatchObject({ code: "ANSWER_UNREADABLE", status: 422, requestId: requestId["x-request-id"] });
  },
);

test("a hook that throws stops the call, and what was sent is not sent again", async () => {
  let sent = 0;
  const hooks = {
    onResponse: (): never => {
      throw new Error("the log is full");
    },
  };
  const gerbang = answeredBy(() => json({ reference: "pay_1" }, (sent++, 201)), { hooks });
  expect(await failed(gerbang.payments.create(order))).toMatchObject({
    code: "ABORTED",
    attempts: 1,
    outcomeUnknown: true,
    idempotencyKey: expect.any(String),
    cause: { message: "the log is full" },
  });
  expect(sent).toBe(1);
});

test("a hook that throws an error of another call does not pass it off as the outcome of this one", async () => {
  const missing = { error: { code: "PAYMENT_NOT_FOUND", message: "No such payment." } };
  const other = answeredBy(() => json(missing, 404));
  const hooks = { onResponse: () => other.payments.get("pay_2") };
  const gerbang = answeredBy(() => json({ reference: "pay_1" }, 201), { hooks });
  expect(await failed(gerbang.payments.create(order))).toMatchObject({
    code: "ABORTED",
    attempts: 1,
    outcomeUnknown: true,
    idempotencyKey: expect.any(String),
    cause: { code: "PAYMENT_NOT_FOUND" },
  });
});

test("a hook that throws the error that it was told ends the call with it", async () => {
  const hooks = {
    onRetry: ({ error }: { error: GerbangError }): never => {
      throw error;
    },
  };
  const gerbang = answeredBy(() => json({ error: { code: "SERVICE_UNAVAILABLE", message: "no" } }, 503), { hooks });
  const told = { code: "SERVICE_UNAVAILABLE", attempts: 1, outcomeUnknown: true };
  expect(await failed(gerbang.payments.create(order))).toMatchObject(told);
});

test.each(["onRequest", "onResponse", "onRetry"] as const)(
  "so does one whose promise is rejected: %s",
  async (name) => {
    const hooks = { [name]: () => Promise.reject(new Error("the log is full")) };
    const gerbang = answeredBy(() => json({ error: { code: "SERVICE_UNAVAILABLE", message: "no" } }, 503), { hooks });
    const told = { code: "ABORTED", outcomeUnknown: name !== "onRequest", cause: { message: "the log is full" } };
    expect(await failed(gerbang.payments.create(order))).toMatchObject(told);
    expect(await failed(gerbang.balances.get())).toMatchObject({ ...told, outcomeUnknown: false });
  },
);

test("headers for traces are added to those of the call: they see none of them and replace none", async () => {
  const seen: object[] = [];
  let sent: Headers | undefined;
  const propagate = (headers: Record<string, string>): void => {
    seen.push({ ...headers });
    Object.assign(headers, { traceparent: "00-1", authorization: "Bearer ak_live_2" });
  };
  await answeredBy((_, { headers }) => ((sent = new Headers(headers)), json({})), { propagate }).balances.get();
  expect(seen).toEqual([{}]);
  expect([sent?.get("traceparent"), sent?.get("authorization")]).toEqual(["00-1", "Bearer ak_test_1"]);
});

test("one deadline is for all of createOrFind and of waitFor, on a clock that the answers move", async () => {
  let now = 1_800_000_000_000;
  const slow = (): Promise<Response> => {
    now += 700;
    return Promise.reject(new TypeError("fetch failed"));
  };
  const sleep = (ms: number): Promise<void> => {
    now += ms;
    return Promise.resolve();
  };
  const gerbang = answeredBy(slow, { now: () => now, sleep });
  const begun = now;
  expect(await failed(gerbang.payments.createOrFind(order, { deadlineMs: 1_000 }))).toMatchObject({
    code: "CONNECTION_FAILED",
    outcomeUnknown: true,
  });
  // The lookup after the deadline has two seconds.
  expect(now - begun).toBeLessThan(4_500);
  const waited = now;
  await failed(gerbang.payments.waitFor("pay_1", "succeeded", { timeoutMs: 1_000 }));
  expect(now - waited).toBeLessThan(2_000);
});

test.each([
  ["failed", "The payment pay_1 is failed, not succeeded."],
  ["pending", "The payment pay_1 is pending, not succeeded in time."],
])("waitFor speaks of the time only if more of it could help: %s", async (status, message) => {
  const gerbang = answeredBy(() => json({ reference: "pay_1", status }));
  expect(await failed(gerbang.payments.waitFor("pay_1", "succeeded", { timeoutMs: 900 }))).toMatchObject({ message });
});

test("a clock that is set back again and again does not make waitFor wait for ever", async () => {
  let [now, asked] = [1_800_000_000_000, 0];
  const gerbang = answeredBy(() => json({ reference: "pay_1", status: asked++ < 50 ? "pending" : "succeeded" }), {
    now: () => now,
    sleep: () => Promise.resolve(void (now -= 3_600_000)),
  });
  const waiting = gerbang.payments.waitFor("pay_1", "succeeded", { timeoutMs: 20_000 });
  expect(await failed(waiting)).toMatchObject({ code: "STATE_NOT_REACHED" });
  expect(asked).toBe(7);
});

test("a wait that would last until the deadline is not begun: the call ends with what it was answered", async () => {
  let now = 1_800_000_000_000;
  const busy = (): Response => {
    now += 7_000;
    const error = { code: "SERVICE_UNAVAILABLE", message: "no" };
    return Response.json({ error }, { status: 503, headers: { "retry-after": "3" } });
  };
  const waits: number[] = [];
  const sleep = (ms: number): Promise<void> => Promise.resolve(void waits.push(ms));
  const gerbang = answeredBy(busy, { now: () => now, sleep, random: () => 0, deadlineMs: 10_000 });
  expect(await failed(gerbang.balances.get())).toMatchObject({ code: "SERVICE_UNAVAILABLE", attempts: 1 });
  expect(waits).toEqual([]);
});

test("a clock that is set back does not make a call try again beyond its deadline", async () => {
  let [now, asked] = [1_800_000_000_000, 0];
  const busy = (): Response => {
    asked++;
    now -= 3_600_000;
    return Response.json(
      { error: { code: "RATE_LIMITED", message: "no" } },
      { status: 429, headers: { "retry-after": "50" } },
    );
  };
  const gerbang = answeredBy(busy, { now: () => now, deadlineMs: 120_000 });
  expect(await failed(gerbang.payments.create(order))).toMatchObject({ code: "RATE_LIMITED" });
  expect(asked).toBeLessThanOrEqual(3);
});

test.each(["x".repeat(100_000), 'req_1\n{"level":"error"}', "req_1 ", "", "{}"])(
  "%j is no id of a request",
  async (id) => {
    const error = { code: "NEW_CODE", message: "no", request_id: id };
    const without = Response.json({ error }, { status: 422 });
    expect((await failed(answeredBy(() => without).balances.get())).requestId).toBeUndefined();
    expect((await failed(answeredBy(() => json({ error }, 422)).balances.get())).requestId).toBe(
      requestId["x-request-id"],
    );
  },
);

test("what cannot stand in a path is refused before it is sent, and what JSON leaves out is no pair", async () => {
  const sent: string[] = [];
  const gerbang = answeredBy((url) => (sent.push(url.pathname), json({ reference: "pay_1" }, 201)));
  for (const reference of ["", ".."])
    expect(() => gerbang.payments.get(reference)).toThrow(/^Name the object by its identity/);
  expect(() => gerbang.payments.get("\ud800")).toThrow("reference: must be Unicode text");
  expect(sent).toEqual([]);
  await gerbang.payments.create({ ...order, metadata: { a: undefined as never, b: "1" } });
  expect(sent).toEqual(["/v1/payments"]);
});

test.each([201, 200, 503])(
  "an order whose object is used for the next one meanwhile stays that order: answers with %d",
  async (status) => {
    const found = ({ searchParams }: URL) => {
      const reference_id = searchParams.get("reference_id");
      return {
        data: [{ ...order, reference_id, reference: `pay_${reference_id}` }],
        has_more: false,
        next_cursor: null,
      };
    };
    const gerbang = answeredBy(async (url, { body }) => {
      await sleep(1);
      if (body === undefined) return json(found(url));
      const { reference_id } = JSON.parse(body as string) as { reference_id: string };
      return json({ ...order, reference_id, reference: `pay_${reference_id}` }, status);
    });
    const body: { -readonly [Name in keyof typeof order]: string | number } = { ...order };
    const made = ["1", "2", "3"].map((reference_id) => {
      body.reference_id = reference_id;
      return gerbang.payments.createOrFind(body as never);
    });
    expect((await Promise.all(made)).map(({ reference }) => reference)).toEqual(["pay_1", "pay_2", "pay_3"]);
  },
);

test("what is looked for is what was given: every character, and never U+FFFD for half of one", async () => {
  const asked: string[] = [];
  const gerbang = answeredBy(({ search }) => (asked.push(search), json({ data: [], has_more: false })));
  const id = "a+b c&d=e'é☕~%#!*()";
  await gerbang.payments.list({ reference_id: id, status: undefined as never });
  expect(new URLSearchParams(asked[0]).get("reference_id")).toBe(id);
  // The address is signed as it is sent.
  expect(asked).toEqual(["?reference_id=a%2Bb%20c%26d%3De%27%C3%A9%E2%98%95~%25%23!*()"]);
  await gerbang.payments.list({ "a&b c": 1 } as never);
  expect(asked.pop()).toBe("?a%26b%20c=1");
  expect(await failed(Array.fromAsync(gerbang.payments.list({ reference_id: "a\ud800" })))).toMatchObject({
    code: "VALIDATION_ERROR",
    details: { field: "reference_id" },
  });
  expect(asked).toHaveLength(1);
});

test("all pages of a list have its filters, also when their object is used for another list", async () => {
  const asked: (string | null)[] = [];
  const gerbang = answeredBy(({ searchParams }) => {
    asked.push(searchParams.get("status"));
    return json({ data: [{}], has_more: asked.length < 3, next_cursor: `pay_${asked.length}` });
  });
  const filters: { status: "succeeded" | "failed" } = { status: "succeeded" };
  for await (const page of gerbang.payments.list(filters).pages()) if (page.has_more) filters.status = "failed";
  expect(asked).toEqual(["succeeded", "succeeded", "succeeded"]);
});

test.each<[what: string, call: (gerbang: Gerbang) => Promise<unknown>]>([
  ["a refund", (gerbang) => gerbang.refunds.get("rfd_1")],
  ["a settlement", (gerbang) => gerbang.settlements.get("set_1")],
  ["a dispute", (gerbang) => gerbang.disputes.get("dsp_1")],
  ["a payment link", (gerbang) => gerbang.paymentLinks.get("lnk_1")],
  ["an event", (gerbang) => gerbang.events.get("evt_1")],
  ["an event that is sent again", (gerbang) => gerbang.events.resend("evt_1")],
  ["a list that does not say whether it has more", (gerbang) => gerbang.refunds.list().take(1)],
])("an object of somebody else is not taken for %s", async (_, call) => {
  const maintenance = { status: "succeeded", data: [{ until: "noon" }] };
  expect(await failed(call(answeredBy(() => json(maintenance))))).toMatchObject({ code: "ANSWER_UNREADABLE" });
});

test.each<[what: string, options: GerbangOptions, call: () => CallOptions]>([
  ["a hook that takes longer than the deadline", { deadlineMs: 10, hooks: { onRequest: () => sleep(30) } }, () => ({})],
  ["a deadline that is over", {}, () => ({ deadlineMs: -5 })],
  ["no number as a deadline", {}, () => ({ deadlineMs: Number.NaN })],
  ["a signal that has stopped", {}, () => ({ signal: AbortSignal.abort() })],
])("what could not be answered in time is not sent, and known as not done: %s", async (_, options, call) => {
  let sent = 0;
  const gerbang = answeredBy(() => json({ uuid: "rfd_1" }, (sent++, 201)), options);
  const error = await failed(gerbang.refunds.create({ payment_reference: "pay_1" }, call()));
  expect(error).toMatchObject({ attempts: 0, outcomeUnknown: false });
  expect(["TIMED_OUT", "ABORTED"]).toContain(error.code);
  expect(sent).toBe(0);
});

test("an attempt that is not sent leaves the outcome of those before it unknown", async () => {
  const stopping = new AbortController();
  const lost = (): never => {
    throw new TypeError("fetch failed");
  };
  const hooks = { onRequest: ({ attempt }: AttemptInfo) => attempt > 1 && stopping.abort() };
  const refund = answeredBy(lost, { hooks }).refunds.create(
    { payment_reference: "pay_1" },
    { signal: stopping.signal },
  );
  expect(await failed(refund)).toMatchObject({ code: "ABORTED", attempts: 1, outcomeUnknown: true });
});

test("a hook that redacts what it is told changes no request: its key stays one of its own", async () => {
  const keys: (string | null)[] = [];
  const hooks = { onRequest: (info: AttemptInfo) => void (info.idempotencyKey = "[redacted]") };
  const gerbang = answeredBy(
    (_, { headers }) => {
      keys.push(new Headers(headers).get("idempotency-key"));
      return json({ uuid: "rfd_1" }, 201);
    },
    { hooks },
  );
  await gerbang.refunds.create({ payment_reference: "pay_1" }, { idempotencyKey: "refund-1" });
  await gerbang.refunds.create({ payment_reference: "pay_1" }, { idempotencyKey: "refund-2" });
  expect(keys).toEqual(["refund-1", "refund-2"]);
});

test("an answer about another payment is known by the key and the attempts of the call, as every open outcome is", async () => {
  const none = { data: [], has_more: false, next_cursor: null };
  const another = { ...order, reference_id: "2", reference: "pay_2" };
  const gerbang = answeredBy((_, { method }) => (method === "GET" ? json(none) : json(another, 201)));
  const error = await failed(gerbang.payments.createOrFind(order, { idempotencyKey: "create-order-1" }));
  expect(error).toMatchObject({
    code: "ANSWER_UNREADABLE",
    status: 201,
    requestId: requestId["x-request-id"],
    outcomeUnknown: true,
    idempotencyKey: "create-order-1",
    attempts: 1,
  });
});
