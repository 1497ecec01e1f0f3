// Goal: each check of a signed request is made, in the order of section 7.4, and a replayed signature is charged to nobody but its sender. Method: the
// edge over a directory, an admission and lanes that the tests give; the tests of auth/ have the service.
import type { FastifyReply, FastifyRequest } from "fastify";
import { describe, expect, test } from "vitest";
import { movableClock } from "../../test/acquiring.ts";
import { NOW, book, given, merchantWith, row } from "../../test/given.ts";
import { deciding } from "../../test/intents.ts";
import type { Admitted } from "../auth/admission.ts";
import { nonceOf } from "../auth/nonces.ts";
import { usedNonces } from "../auth/nonces.sql.ts";
import { SECOND } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { createLog } from "../ground/log.ts";
import { SigningKey } from "../ground/signing-key.ts";
import type { Client } from "../merchants/directory.ts";
import type { Command } from "../store/command.ts";
import { Edge } from "./edge.ts";
import { type Endpoint, readEndpoint, writeEndpoint } from "./endpoint.ts";
import { nothingAsked } from "./fields.ts";

const CLIENT = `ak_test_${"a".repeat(20)}`;
const ADDRESS = "203.0.113.1";
const key = new SigningKey("a secret of nobody");

interface Setting {
  client?: Partial<Client>;
  suspended?: boolean;
  /** What admission says of the request. */
  admitted?: Partial<Admitted>;
  mayServe?: boolean;
}

function anEdge({ client: changes = {}, suspended = false, admitted = {}, mayServe = true }: Setting = {}) {
  const merchant = { ...merchantWith(), suspended };
  const client = {
    actor: CLIENT,
    clientId: CLIENT,
    merchant,
    book,
    scopes: new Set(["payments:read", "payments:write", "sandbox:write"]),
    key,
    signature: "any",
    expiresAt: undefined,
    allows: undefined,
    ...changes,
  } as unknown as Client;
  const seen = { used: [] as string[], rejected: 0, takenBack: 0, nonces: [] as unknown[][], consumed: 0, proven: 0 };
  const rate = { limit: 100, remaining: 99, reset: NOW / SECOND + 60 };
  const clock = movableClock();
  let state: ReturnType<typeof given> = given({ rows: [] });
  const lane = async <T>(command: Command<T>): Promise<T> => {
    const then = state.when(command);
    state = then;
    seen.consumed += then.changes.updated(usedNonces).filter(({ consumed }) => consumed).length;
    if ("fault" in then.outcome) throw then.outcome.fault;
    return then.outcome.answer;
  };
  const parts = {
    directory: { client: (id: string) => (id === CLIENT ? client : undefined) },
    admission: {
      admit: async (_principal: unknown, nonces: unknown[] = []) => {
        seen.nonces.push(nonces);
        return { replayed: false, count: 1, rate, ...admitted };
      },
      takeBack: () => void seen.takenBack++,
    },
    lanes: { create: lane, move: (_: string, command: Command<unknown>) => lane(command) },
    database: undefined,
    realClock: clock,
    clock,
    log: createLog("silent"),
    onRejected: () => void seen.rejected++,
    onUsed: (_: Client, address: string) => void seen.used.push(address),
    load: { prove: () => void seen.proven++ },
    publicRoot: undefined,
    mayServe: () => mayServe,
  };
  /** Puts the row of a write's signature in place: the database has not seen it. */
  const fresh = (signature: string) => {
    const validUntil = NOW / SECOND + 300;
    const nonce = nonceOf({ merchantId: book.merchantId, method: "POST", target: "/v1/things", signature, validUntil });
    state = given({ rows: [row(usedNonces, { ...nonce, consumed: false })] });
  };
  return { edge: new Edge(parts as unknown as ConstructorParameters<typeof Edge>[0]), seen, clock, fresh };
}

const reading = (handle: (call: unknown, recheck: (client: Client) => void) => void = () => undefined): Endpoint =>
  readEndpoint({
    path: "/v1/things",
    operationId: "listThings",
    scope: "payments:read",
    handle: async (call: unknown, recheck: (client: Client) => void) => {
      handle(call, recheck);
      return { status: 200, body: "{}" };
    },
  } as unknown as Parameters<typeof readEndpoint>[0]);
const writing: Endpoint = writeEndpoint({
  path: "/v1/things",
  operationId: "makeThing",
  scope: "payments:write",
  body: nothingAsked,
  command: () => deciding({ status: 201, body: "{}" }),
} as unknown as Parameters<typeof writeEndpoint>[0]);

/** A request as it is signed, and its reply. */
function signed(method = "GET", body = "", at = NOW / SECOND): { request: FastifyRequest; reply: FastifyReply } {
  const timestamp = String(at);
  const signature = key.sign("hex", timestamp, ".", Buffer.from(body));
  const request = {
    id: "req_1",
    method,
    url: "/v1/things",
    ip: ADDRESS,
    query: {},
    params: {},
    body: Buffer.from(body),
    sentContentType: "application/json",
    headers: { authorization: `Bearer ${CLIENT}`, "x-timestamp": timestamp, "x-signature": signature },
    raw: { headersDistinct: { "idempotency-key": ["key-of-order-1"] }, socket: { destroyed: false } },
  };
  return { request: request as unknown as FastifyRequest, reply: {} as FastifyReply };
}

async function outcome(of: ReturnType<typeof anEdge>, endpoint = reading(), sent = signed()): Promise<string> {
  return of.edge.handle(endpoint, sent.request, sent.reply).then(
    ({ status }) => String(status),
    (error: unknown) => (error instanceof Fault ? error.code : String(error)),
  );
}

const elsewhere = (): boolean => false;
const none = { client: { scopes: new Set<never>() } };
test.each<[string, string, Setting]>([
  ["as it should", "200", {}],
  ["by a key of production", "200", { client: { book: { ...book, environment: "production" } } }],
  ["from an address that is allowed", "200", { client: { allows: (address) => address === ADDRESS } }],
  ["in a process whose clock is wrong", "SERVICE_UNAVAILABLE", { mayServe: false }],
  ["by a key that expires now", "CLIENT_NOT_FOUND", { client: { expiresAt: NOW } }],
  ["by a key that expires in a moment", "200", { client: { expiresAt: NOW + 1 } }],
  ["for a second time", "SIGNATURE_REPLAYED", { admitted: { replayed: true }, suspended: true }],
  ["for a suspended merchant", "MERCHANT_SUSPENDED", { suspended: true, client: { allows: elsewhere } }],
  ["from an address that is not allowed", "FORBIDDEN", { client: { allows: elsewhere } }],
  ["without the scope, beyond the limit", "FORBIDDEN", { ...none, admitted: { count: 101 } }],
  ["at the limit", "200", { admitted: { count: 100 } }],
  ["beyond the limit", "RATE_LIMITED", { admitted: { count: 101 } }],
])("a read %s: %s", async (_what, expected, setting) => {
  expect(await outcome(anEdge(setting))).toBe(expected);
});

test("nobody's key, and what a read does not take in its query, are refused", async () => {
  const { request, reply } = signed();
  request.headers.authorization = `Bearer ${CLIENT}b`;
  expect(await outcome(anEdge(), reading(), { request, reply })).toBe("CLIENT_NOT_FOUND");
  const asking = signed();
  Object.assign(asking.request, { query: { limit: "1" } });
  expect(await outcome(anEdge(), reading(), asking)).toBe("VALIDATION_ERROR");
});

test("a request that is refused for another reason is its client's all the same", async () => {
  const one = anEdge(none);
  const sent = signed();
  expect(await outcome(one, reading(), sent)).toBe("FORBIDDEN");
  expect([one.seen.takenBack, one.seen.proven]).toEqual([0, 1]);
  expect(sent.request).toMatchObject({ isProven: true, actor: CLIENT, sender: { clientId: CLIENT } });
  expect(sent.reply.rate).toMatchObject({ limit: 100 });
});

test("what is for the sandbox alone takes no key of production", async () => {
  const endpoint = { ...reading(), sandboxOnly: true } as Endpoint;
  expect(await outcome(anEdge(), endpoint)).toBe("200");
  const live = { client: { book: { ...book, environment: "production" } } } as const;
  expect(await outcome(anEdge(live), endpoint)).toBe("ENVIRONMENT_MISMATCH");
});

test.each([
  [300, "200"],
  [-300, "200"],
  [301, "TIMESTAMP_OUT_OF_WINDOW"],
  [-301, "TIMESTAMP_OUT_OF_WINDOW"],
])("a timestamp that is %i seconds off: %s", async (seconds, expected) => {
  const one = anEdge();
  expect(await outcome(one, reading(), signed("GET", "", NOW / SECOND + seconds))).toBe(expected);
  expect(one.seen.rejected).toBe(expected === "200" ? 0 : 1);
});

test.each(["GET", "HEAD"])("a %s with a body is none: its signature would be good for every read", async (method) => {
  expect(await outcome(anEdge(), reading(), signed(method, "{}"))).toBe("MALFORMED_REQUEST");
});

test("a key's address is noted when it may be used from there, whatever its scopes are", async () => {
  const [good, poor, foreign] = [anEdge(), anEdge(none), anEdge({ client: { allows: elsewhere } })];
  for (const one of [good, poor, foreign]) await outcome(one);
  expect([good.seen.used, poor.seen.used, foreign.seen.used]).toEqual([[ADDRESS], [ADDRESS], []]);
});

describe("a signature that comes again", () => {
  test("is refused by this process without a look at the database, and charged to its sender's address", async () => {
    const one = anEdge();
    expect(await outcome(one)).toBe("200");
    const sent = signed();
    expect(await outcome(one, reading(), sent)).toBe("SIGNATURE_REPLAYED");
    expect([one.seen.nonces.length, one.seen.takenBack]).toEqual([1, 0]);
    expect(sent.request).toMatchObject({ isProven: false, actor: undefined, book: undefined });
  });

  test("and is found elsewhere is taken back from the client's count, and shows none of it", async () => {
    const one = anEdge({ admitted: { replayed: true } });
    const sent = signed();
    expect(await outcome(one, reading(), sent)).toBe("SIGNATURE_REPLAYED");
    expect(one.seen.takenBack).toBe(1);
    expect(sent.request).toMatchObject({ isProven: false, actor: undefined, book: undefined });
    expect(sent.reply.rate).toBeUndefined();
  });

  test("after a failure of ours is looked up again, and after a refusal is not", async () => {
    const failing = reading(() => {
      throw new Fault("SERVICE_UNAVAILABLE");
    });
    const one = anEdge();
    expect([await outcome(one, failing), await outcome(one)]).toEqual(["SERVICE_UNAVAILABLE", "200"]);
    const other = anEdge(none);
    expect([await outcome(other), await outcome(other)]).toEqual(["FORBIDDEN", "SIGNATURE_REPLAYED"]);
  });

  test("of a read is consumed by its admission, and of a write by its transaction", async () => {
    const one = anEdge();
    await outcome(one);
    const sent = signed("POST", "{}");
    one.fresh(sent.request.headers["x-signature"] as string);
    expect(await outcome(one, writing, sent)).toBe("201");
    expect(one.seen.nonces.map((nonces) => nonces.length)).toEqual([1, 0]);
    expect(one.seen.consumed).toBe(1);
    expect(sent.reply.rate).toMatchObject({ limit: 100 });
    expect(sent.request).toMatchObject({ isProven: true, actor: CLIENT, book });
  });
});

test("a write whose nonce admission knows already is refused before it runs", async () => {
  const one = anEdge({ admitted: { replayed: true } });
  const sent = signed("POST", "{}");
  one.fresh(sent.request.headers["x-signature"] as string);
  expect(await outcome(one, writing, sent)).toBe("SIGNATURE_REPLAYED");
  expect(one.seen.consumed).toBe(0);
});

test("an answer that waits ends with its key: expired, suspended, elsewhere or without the scope", async () => {
  let recheck: (client: Client) => void = () => expect.unreachable();
  let client: Client | undefined;
  const waiting = reading((call, check) => {
    recheck = check;
    client = (call as { principal: Client }).principal;
  });
  expect(await outcome(anEdge(), waiting)).toBe("200");
  const now = client ?? expect.unreachable();
  recheck(now);
  for (const [changes, code] of [
    [{ expiresAt: NOW }, "CLIENT_NOT_FOUND"],
    [{ merchant: { ...now.merchant, suspended: true } }, "MERCHANT_SUSPENDED"],
    [{ allows: elsewhere }, "FORBIDDEN"],
    [{ scopes: new Set<never>() }, "FORBIDDEN"],
  ] as const)
    expect(() => recheck({ ...now, ...changes })).toThrow(expect.objectContaining({ code }));
});

describe("a person who is signed in", () => {
  const principal = (suspended = false) =>
    ({ actor: "per_1", merchant: { ...merchantWith(), suspended }, book, scopes: new Set() }) as never;

  test.each<[string, Setting, boolean, string]>([
    ["at the limit", { admitted: { count: 100 } }, false, "in"],
    ["beyond it", { admitted: { count: 101 } }, false, "RATE_LIMITED"],
    ["of a suspended merchant", { admitted: { count: 101 } }, true, "MERCHANT_SUSPENDED"],
    ["in a process whose clock is wrong", { mayServe: false }, false, "SERVICE_UNAVAILABLE"],
  ])("%s: %s", async (_what, setting, suspended, expected) => {
    const reply = { request: { raw: {} } } as FastifyReply;
    const entered = anEdge(setting).edge.enterAs(principal(suspended), reply);
    const code = await entered.then(
      () => "in",
      (error: Fault) => error.code,
    );
    expect(code).toBe(expected);
    expect(reply.rate?.limit).toBe(setting.mayServe === false ? undefined : 100);
    expect(reply.request.actor).toBe(setting.mayServe === false ? undefined : "per_1");
  });

  test("has no more scopes than the role, and is not counted twice", async () => {
    const admitted = { replayed: false, count: 1, rate: { limit: 100, remaining: 99, reset: 0 } };
    for (const [endpoint, sent] of [
      [reading(), signed()],
      [writing, signed("POST", "{}")],
    ] as const) {
      const one = anEdge();
      const refused = one.edge.handleAs(principal(), admitted, endpoint, sent.request, sent.reply);
      await expect(refused).rejects.toMatchObject({ code: "FORBIDDEN" });
      expect([one.seen.nonces, one.seen.used]).toEqual([[], []]);
      const late = anEdge({ mayServe: false }).edge.handleAs(principal(), admitted, endpoint, sent.request, sent.reply);
      await expect(late).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
    }
  });
});
