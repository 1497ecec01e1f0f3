// Goal: whatever a service answers, a merchant's command prints text and nothing else, writes only its own files, and ends with a sentence.
// Method: the program itself, against a server that answers each request as a test says.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { type IncomingMessage, type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { compiled, plainEnvironment } from "./kit/service.ts";

const program = fileURLToPath(new URL("../gateway/bin/gerbang.js", import.meta.url));

type Answered = { status?: number; headers?: Record<string, string>; body: unknown };

const REQUEST = "req_01kan3t5pzh6c2nb8w4fy7gmsd";
const EVENT = "evt_01kan3t6b7r9md3kq5x1zc8evw";
const CLIENT = "ak_test_0123456789abcdefghjkmnpqrs";
/** A clipboard, a link, a cleared screen, a colour, controls of one byte, letters turned around, and a line of its own. */
const dirty =
  "x\u001B]52;c;eA==\u0007\u001B]8;;http://a\u001B\\\u001B[2J\u001B[31mred\u001B[0m\u009B1m\u0085\u202E\r\nSigned in: Toko Lain";

let server: Server;
let origin: string;
let folder: string;
/** The answer to each request. A text is sent as it is. */
let answer: (path: string, body: string) => Answered;
let asked: { path: string; at: number }[];

beforeAll(async () => {
  server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const path = request.url ?? "";
      asked.push({ path, at: Date.now() });
      const { status = 200, headers, body } = answer(path, Buffer.concat(parts).toString());
      const text = typeof body === "string" ? body : JSON.stringify(body);
      response.writeHead(status, { "content-type": "application/json", "x-request-id": REQUEST, ...headers }).end(text);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gerbang-answers-"));
  asked = [];
  return () => rmSync(folder, { recursive: true });
});

interface Ran {
  /** Undefined for a command that was still running when its time was over. */
  code: number | undefined;
  stdout: string;
  stderr: string;
}

/** Runs a command without a key. */
function keyless(args: string[], more: Record<string, string> = {}, timeout = 20_000): Promise<Ran> {
  const own = { XDG_CONFIG_HOME: folder, GERBANG_DATA: join(folder, "data") };
  const env = { ...plainEnvironment(), ...compiled(), ...own, ...more };
  const options = { env, timeout, maxBuffer: 3_000_000_000, killSignal: "SIGKILL" } as const;
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...args], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : undefined;
      resolve({ code, stdout, stderr });
    });
  });
}

const run = (...args: string[]): Promise<Ran> =>
  keyless(args, { GERBANG_CLIENT_ID: CLIENT, GERBANG_SECRET: "sk_test_x", GERBANG_BASE_URL: `${origin}/v1` });
const login = (timeout?: number): Promise<Ran> => keyless(["login", "--no-browser", "--base-url", origin], {}, timeout);

/** Text with line breaks and nothing else that a terminal would obey, in which no value begins a line of its own. */
function expectPlain(text: string): void {
  expect(text).not.toMatch(/(?![\n])[\p{Cc}\p{Bidi_Control}]/u);
  expect(text).not.toMatch(/^Signed in/m);
}

/** One sentence, the request, and no stack. */
function expectSentence({ code, stderr }: Ran): void {
  expect(code).toBe(1);
  expect(stderr).not.toMatch(/^\s+at /m);
  expect(stderr).toContain(`Request: ${REQUEST}`);
  expect(stderr.length).toBeLessThan(1_000);
  expectPlain(stderr);
}

const payment = { reference: "pay_1", status: dirty, amount_minor: 150_000, currency: dirty, exponent: 2 };
const page = (...data: unknown[]): unknown => ({ data, has_more: false, next_cursor: null });
const balance = { currency: dirty, exponent: 2, available_minor: 1, held_minor: 0, pending_settlement_minor: 0 };
const request = {
  at: dirty,
  method: dirty,
  path: dirty,
  query: dirty,
  status: 422,
  error_code: dirty,
  duration_ms: dirty,
  request_id: dirty,
  diagnosis: { explanation: dirty },
  replayed: true,
};

describe("nothing that a terminal obeys is printed by", () => {
  test.each<[string, unknown]>([
    ["payments get pay_1", payment],
    ["payments list", page({ ...payment, payment_method: dirty, reference_id: dirty, created_at: dirty })],
    ["balances list", { data: [balance], as_of: dirty, environment: dirty }],
    ["logs tail --no-follow", page(request)],
    ["trigger payment.created", { event_id: dirty }],
    ["doctor req_1", { diagnosis: dirty, explanation: dirty, subject: dirty, signature_base: dirty.split("\r")[0] }],
    [
      "exam",
      {
        passed: true,
        checks: [{ name: dirty, passed: false, received: { status: null, reason: dirty }, guide: dirty }],
      },
    ],
  ])("%s", async (line, body) => {
    answer = () => ({ body });
    const { code, stdout, stderr } = await run(...line.split(" "));
    expect(code).toBe(0);
    expect(stdout + stderr).toContain("]52;c;eA==");
    expectPlain(stdout);
    expectPlain(stderr);
  });

  test("an error, and the line that says why a command tries again", async () => {
    answer = () =>
      asked.length === 1
        ? { status: 503, body: { error: { code: dirty, message: dirty } } }
        : {
            status: 422,
            body: { error: { code: dirty, message: dirty, request_id: dirty, details: { field: dirty } } },
          };
    const { code, stderr } = await run("payments", "get", "pay_1");
    expect([code, asked.length]).toEqual([1, 2]);
    expect(stderr).toContain("trying again");
    expectPlain(stderr);
  });

  test("a statement, whose lines stay", async () => {
    answer = () => ({ headers: { "content-type": "text/csv" }, body: `a,b\r\n1,x\u001B]52;c;eA==\u0007\u009B\r2\r\n` });
    const { code, stdout } = await run("settlements", "statement", "set_1");
    expect([code, stdout]).toEqual([0, "a,b\r\n1,x\ufffd]52;c;eA==\ufffd\ufffd\ufffd2\r\n"]);
  });

  test("--json, which stays the same value", async () => {
    answer = () => ({ body: payment });
    const { stdout } = await run("payments", "get", "pay_1", "--json");
    expectPlain(stdout);
    expect(stdout).toContain(String.raw`\u009b1m\u0085\u202e`);
    expect(JSON.parse(stdout)).toEqual(payment);
  });

  test("open and logout, from a profile", async () => {
    mkdirSync(join(folder, "gerbang"));
    const profile = { client_id: dirty, secret: "s", base_url: origin, environment: "sandbox", merchant_id: dirty };
    const kept = {
      current: "a",
      profiles: { a: { ...profile, merchant_name: dirty, portal_url: `${origin}/${dirty}` } },
    };
    writeFileSync(join(folder, "gerbang", "profiles.json"), JSON.stringify(kept), { mode: 0o600 });
    for (const args of [["open", "--print"], ["profiles", "list"], ["logout"]]) {
      const { code, stdout, stderr } = await keyless(args);
      expect([code, stdout + stderr]).toEqual([0, expect.stringContaining("Toko")]);
      expectPlain(stdout);
      expectPlain(stderr);
    }
  });

  test("login, whose key is then refused, and nothing is kept", async () => {
    const granted = {
      merchant_id: dirty,
      merchant_name: dirty,
      portal_url: origin,
      environment: "sandbox",
      secret: "s",
    };
    answer = (path) => ({ body: path.endsWith("/token") ? { status: "granted", ...granted } : begun(1) });
    const done = await login();
    expectSentence(done);
    expect(existsSync(join(folder, "gerbang"))).toBe(false);
  });

  test("listen", async () => {
    const event = { id: EVENT, type: dirty, body: "{}", headers: { "content-type": "application/json" } };
    const pages: Answered[] = [
      { body: { data: [], next_after: EVENT, has_more: false } },
      { body: { data: [event], next_after: EVENT, has_more: false, forgotten_before: dirty } },
      { status: 422, body: { error: { code: dirty, message: dirty } } },
    ];
    answer = (path) => (path.startsWith("/v1/") ? (pages.shift() ?? { body: {} }) : { status: 400, body: dirty });
    const { code, stdout, stderr } = await run("listen", "--as-sent", "--forward-to", `${origin}/hook`);
    expect(code).toBe(1);
    expect(stdout).toContain(EVENT);
    expect(stderr).toContain("Missed");
    expectPlain(stdout);
    expectPlain(stderr);
  });
});

const begun = (interval: number): unknown => ({
  device_code: "d",
  user_code: dirty,
  verification_uri_complete: `${origin}/portal/device`,
  expires_in: 600,
  interval,
});

const deep = (text: string, levels: number): string => `${text.repeat(levels)}1${"}".repeat(levels)}`;

describe("an answer in another form ends in a sentence:", () => {
  test.each<[string, string, unknown]>([
    ["an exponent without end", "payments get pay_1", { ...payment, exponent: 4e8 }],
    ["an exponent of 2^31", "payments list", page({ ...payment, exponent: 2 ** 31 })],
    ["an exponent below 0", "balances list", { data: [{ ...balance, exponent: -1 }], as_of: "", environment: "" }],
    ["an exponent of a movement", "balances entries IDR", page({ currency: "IDR", exponent: 4e8, amount_minor: 1 })],
    ["an amount that is no whole number", "payments get pay_1", { ...payment, amount_minor: 1.5 }],
    ["values within values", "payments get pay_1", `{"reference":"pay_1","a":${deep('{"a":', 200_000)}}`],
    ["empty rows", "payments list", page({})],
    ["no rows of balances", "balances list", {}],
    ["no payouts", "settlements run", {}],
    ["no checks", "exam", {}],
    ["no diagnosis", "doctor req_1", {}],
    ["no requests", "logs tail --no-follow", page({})],
    ["nothing to listen to", "listen --forward-to http://127.0.0.1:9/", {}],
  ])("%s", async (_what, line, body) => {
    answer = () => ({ body });
    const done = await run(...line.split(" "));
    expectSentence(done);
    expect(done.stdout.length).toBeLessThan(1_000);
  });

  test("a name that is longer than others does not make each line as long", async () => {
    const many = Object.fromEntries(Array.from({ length: 3_000 }, (_, n) => [`a${n}`, n]));
    answer = () => ({ body: { reference: "pay_1", ["n".repeat(300_000)]: 1, ...many } });
    const { code, stdout } = await run("payments", "get", "pay_1");
    expect(code).toBe(0);
    expect(stdout.length).toBeLessThan(1_000_000);
  });
});

describe("login", () => {
  const granted = (client_id: string): unknown => ({
    status: "granted",
    client_id,
    secret: "sk_test_x",
    environment: "sandbox",
    merchant_id: "mer_1",
    merchant_name: "Toko",
    portal_url: `${origin}/portal`,
  });

  test.each(["ak_test_/../../../../x", "ak_test_..", "ak_test_", "ak_TEST_x", "", `ak_test_${"x".repeat(300)}`])(
    "keeps no key whose identifier is %j",
    async (id) => {
      answer = (path) => ({ body: path.endsWith("/token") ? granted(id) : begun(1) });
      expectSentence(await login());
      expect(existsSync(join(folder, "gerbang"))).toBe(false);
    },
  );

  test.each([0, -1])("asks once a second at most, by an interval of %d", async (interval) => {
    answer = (path) => {
      if (!path.endsWith("/token")) return { body: begun(interval) };
      return { body: { status: asked.length < 4 ? "authorization_pending" : "access_denied", interval } };
    };
    expect((await login()).code).toBe(1);
    const waits = asked.slice(1).map(({ at }, n) => at - (asked[n]?.at ?? 0));
    expect(waits).toHaveLength(3);
    for (const wait of waits) expect(wait).toBeGreaterThan(900);
  });

  test("that lost an answer does not say that nobody confirmed the code: its key may be made", async () => {
    answer = (path) => {
      if (!path.endsWith("/token")) return { body: begun(1) };
      return asked.length === 2 ? { status: 502, body: "<h1>Bad gateway</h1>" } : { body: { status: "expired_token" } };
    };
    const { code, stderr } = await login();
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/If it was confirmed, its key gerbang CLI on .* was made and never came here/),
    ]);
    expect(stderr).not.toContain("nobody confirmed it");
  });

  test("asks once a minute at least, by an interval that is longer than a timer can be", async () => {
    answer = () => ({ body: begun(1e12) });
    await login(3_000);
    expect(asked).toHaveLength(1);
  });
});

describe("listen", () => {
  test("writes no file for a key whose identifier is a path", async () => {
    answer = () => ({ body: { data: [], next_after: EVENT, has_more: false } });
    mkdirSync(join(folder, "data", "listen", "ak_test_"), { recursive: true });
    writeFileSync(join(folder, "x.lock"), "1");
    const args = ["--client-id", "ak_test_/../../../x", "--secret", "s", "--base-url", origin];
    const { code, stderr } = await keyless(["listen", ...args, "--forward-to", `${origin}/hook`]);
    expect(code).toBe(1);
    expect(stderr).toContain("is not the client_id of a key");
    expect(readFileSync(join(folder, "x.lock"), "utf8")).toBe("1");
    expect(readdirSync(folder).toSorted()).toEqual(["data", "x.lock"]);
  });

  test.each([
    ["next_after", { data: [], next_after: "later", has_more: false }],
    ["seen", { data: [], next_after: EVENT, has_more: false, seen: ["later"] }],
    [
      "more than can be read again of seen",
      { data: [], next_after: EVENT, has_more: false, seen: Array(1_001).fill(EVENT) },
    ],
    [
      "the id of an event",
      { data: [{ id: "later", type: "a", body: "{}", headers: {} }], next_after: EVENT, has_more: false },
    ],
  ])("keeps no place that it could not read again: %s", async (_what, body) => {
    answer = () => ({ body });
    for (const _ of [1, 2]) {
      const done = await run("listen", "--forward-to", `${origin}/hook`);
      expectSentence(done);
      expect(done.stderr).not.toContain("damaged");
    }
    expect(readdirSync(join(folder, "data", "listen"))).toEqual([]);
  });

  test.each(["http://user:pw@127.0.0.1:9/", "http://user@127.0.0.1:9/", "http://:pw@127.0.0.1:9/"])(
    "refuses the address %s at its start",
    async (address) => {
      answer = () => ({ body: { data: [], next_after: EVENT, has_more: false } });
      const { code, stderr } = await run("listen", "--forward-to", address);
      expect([code, asked]).toEqual([2, []]);
      expect(stderr).toContain("--forward-to takes no name and no password");
      expect(stderr).not.toContain("pw@");
    },
  );
});

/** Runs a command against a service that takes a request and never answers, and presses Ctrl-C then: what was sent, and what was said. */
async function interrupted(...args: string[]): Promise<{ sent: string; code: number; stderr: string; key: string }> {
  const silent = createServer().listen(0, "127.0.0.1");
  await once(silent, "listening");
  const keys = { GERBANG_CLIENT_ID: CLIENT, GERBANG_SECRET: "sk_test_x", XDG_CONFIG_HOME: folder };
  const base = { GERBANG_BASE_URL: `http://127.0.0.1:${(silent.address() as AddressInfo).port}/v1` };
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...plainEnvironment(), ...compiled(), ...keys, ...base },
  });
  const [ended, stderr] = [once(child, "exit"), text(child.stderr)];
  const [request] = (await once(silent, "request")) as [IncomingMessage];
  const sent = await text(request);
  child.kill("SIGINT");
  const [code] = (await ended) as [number];
  silent.closeAllConnections();
  silent.close();
  return { sent, code, stderr: await stderr, key: String(request.headers["idempotency-key"]) };
}

test("Ctrl-C ends a refund with the key that it was sent with: without it the same command would refund again", async () => {
  const { code, stderr, key } = await interrupted("refunds", "create", "pay_01kan3t5q8e4vs0x7ybd2m9fjh");
  expect(code).toBe(130);
  expect(stderr).toContain("What was sent may have been done: look it up.");
  expect(stderr).toContain(`To run the same again safely: --idempotency-key ${key}`);
});

test("Ctrl-C ends a trigger with the key of the command, which is not that of one of several types", async () => {
  const one = await interrupted("trigger", "payment.succeeded");
  expect(one.stderr).toContain(`To run the same again safely: --idempotency-key ${one.key}`);
  const all = await interrupted("trigger", "all");
  const [, key = ""] = /again safely: --idempotency-key (\S+)/.exec(all.stderr) ?? [];
  expect(all.key).toBe(`${key}-payment.created`);
  expect((await interrupted("trigger", "all", "--idempotency-key", key)).key).toBe(all.key);
});

test("a payment without an order of one's own is the same payment under the key that it was sent with", async () => {
  const create = ["payments", "create", "--amount-minor", "150000"];
  const first = await interrupted(...create);
  const again = await interrupted(...create, "--idempotency-key", first.key);
  expect([again.key, again.sent]).toEqual([first.key, first.sent]);
  expect((await interrupted(...create)).sent).not.toBe(first.sent);
});

test("whoever names a profile is not given the environment's key", async () => {
  const { code, stderr } = await run("payments", "list", "--profile", "shop");
  expect([code, asked]).toEqual([1, []]);
  expect(stderr).toBe(
    "GERBANG_CLIENT_ID is set, and --profile names another key: unset the one, or leave out the other.\n",
  );
});
