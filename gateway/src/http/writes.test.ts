// Goal: a write's signature is good once, whatever its request comes to, and a request runs once under its key. Method: writes of an endpoint over
// lanes that run its commands on rows in memory; replay.test.ts and idempotency.test.ts have the service and its processes.
import { setImmediate as turn } from "node:timers/promises";
import type { FastifyRequest } from "fastify";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type Given, type GivenRow, NOW, book, given, merchantWith } from "../../test/given.ts";
import { aNonce, aRecord, deciding } from "../../test/intents.ts";
import { consumeOnly } from "../auth/nonces.ts";
import { Fault } from "../ground/fault.ts";
import { createLog } from "../ground/log.ts";
import type { Reply } from "../ground/reply.ts";
import { clientAudit } from "../idempotency/client-audit.sql.ts";
import type { Client } from "../merchants/directory.ts";
import { payments } from "../payments/payments.sql.ts";
import type { Command } from "../store/command.ts";
import type { Call, WriteEndpoint } from "./endpoint.ts";
import { Writes } from "./writes.ts";

const success: Reply = { status: 201, body: `{"made":true}` };
const { nonce, fresh } = aNonce("signature");
const client = { clientId: "sk_test_1" } as Client;

interface Sent {
  body?: string;
  keys?: string[] | undefined;
  query?: Record<string, string>;
  params?: Record<string, string>;
  client?: Client | undefined;
  enter?: () => void;
  /** False for a request whose signature is looked at elsewhere: one that repeats another with a fresh signature. */
  signed?: boolean;
}

/** A service whose rows are in memory. `fails`: names of commands that fail, before they run or after it, or for want of a database. */
function aService(rows: readonly GivenRow[] = [], fails: Record<string, "before" | "after" | "away"> = {}) {
  let state: ReturnType<typeof given> = given({ rows: [fresh, ...rows] } satisfies Given);
  const log: string[] = [];
  let changes = given().when(consumeOnly(book, nonce)).changes;
  let underWay = 0;
  const execute = async <T>(command: Command<T>): Promise<T> => {
    await turn();
    if (fails[command.name] === "away") throw new Fault("SERVICE_UNAVAILABLE");
    if (fails[command.name] === "before") throw new Fault("INTERNAL_ERROR");
    const then = state.when(command);
    state = then;
    ({ changes } = then);
    if (fails[command.name] === "after") throw new Fault("INTERNAL_ERROR");
    if ("fault" in then.outcome) throw then.outcome.fault;
    return then.outcome.answer;
  };
  const lane = async <T>(name: string, command: Command<T>): Promise<T> => {
    log.push(`${name} ${command.name}`);
    underWay++;
    try {
      return await execute(command);
    } finally {
      underWay--;
    }
  };
  const lanes = {
    create: (command: Command<unknown>) => lane("create", command),
    move: (_merchantId: string, command: Command<unknown>) => lane("move", command),
  };
  const writes = new Writes({ lanes, database: undefined, log: createLog("silent") } as never);
  const run = (changed: Partial<WriteEndpoint>, sent: Sent = {}): Promise<Reply> => {
    const endpoint = {
      kind: "write",
      path: "/v1/things/{id}",
      operationId: "makeThing",
      body: { schema: z.strictObject({ note: z.string().optional() }), order: [] },
      command: () => deciding(success),
      ...changed,
    } as unknown as WriteEndpoint;
    const { body = "{}", params = { id: "pay_1" }, enter = () => undefined, query = {}, signed = true } = sent;
    const keys = "keys" in sent ? sent.keys : ["key-of-order-1"];
    const call = {
      requestId: "req_1",
      merchant: merchantWith(),
      book,
      realNow: NOW,
      params,
      nonce: signed ? nonce : undefined,
    } as unknown as Call;
    const request = { raw: { headersDistinct: { "idempotency-key": keys } }, query, ip: "203.0.113.1" };
    return writes.run(endpoint, call, {
      request: { ...request, sentContentType: "application/json" } as unknown as FastifyRequest,
      body: Buffer.from(body),
      client: "client" in sent ? sent.client : client,
      enter,
    });
  };
  /** Whether the signature is used up. */
  const isUsed = async (): Promise<boolean> => {
    try {
      await execute(consumeOnly(book, nonce));
      return false;
    } catch (error) {
      return error instanceof Fault && error.code === "SIGNATURE_REPLAYED";
    }
  };
  return { run, isUsed, log, changes: () => changes, underWay: () => underWay };
}

const refusing = (fault: Error): (() => never) => {
  return () => {
    throw fault;
  };
};
const refused = (code: Fault["code"], keepsChanges = false) => ({
  command: () => deciding(new Fault(code, { keepsChanges })),
});
const codeOf = (error: unknown): string => (error instanceof Fault ? error.code : String(error));
const outcome = async (answer: Promise<Reply>): Promise<string> =>
  answer.then(({ status, replayed }) => `${status}${replayed ? " replayed" : ""}`, codeOf);

test.each<[string, string, Partial<WriteEndpoint>, Sent, GivenRow[]?]>([
  ["is done", "201", {}, {}],
  ["has no right", "FORBIDDEN", {}, { enter: refusing(new Fault("FORBIDDEN")) }],
  ["is beyond its limit", "RATE_LIMITED", {}, { enter: refusing(new Fault("RATE_LIMITED")) }],
  ["has no JSON", "MALFORMED_JSON", {}, { body: "{" }],
  ["has no key", "IDEMPOTENCY_KEY_REQUIRED", {}, { keys: undefined }],
  ["has two keys", "IDEMPOTENCY_KEY_INVALID", {}, { keys: ["key-of-order-1", "key-of-order-2"] }],
  ["breaks a field's rule", "VALIDATION_ERROR", {}, { body: `{"note":1}` }],
  ["asks for something in its query", "VALIDATION_ERROR", {}, { query: { limit: "1" } }],
  ["is refused for good", "404", refused("PAYMENT_NOT_FOUND"), {}],
  ["is refused for now", "NO_ROUTE_AVAILABLE", refused("NO_ROUTE_AVAILABLE"), {}],
  ["was done before", "200 replayed", {}, {}, [aRecord({ endpoint: "POST /v1/things" })]],
  ["is another request than before", "IDEMPOTENCY_CONFLICT", {}, {}, [aRecord()]],
  [
    "is still being done",
    "IDEMPOTENCY_IN_PROGRESS",
    {},
    {},
    [aRecord({ endpoint: "POST /v1/things", status: undefined })],
  ],
  ["meets a mistake of ours", "TypeError: oops", { judge: refusing(new TypeError("oops")) }, {}],
  ["is refused by its judgement", "INVALID_AMOUNT", { judge: refusing(new Fault("INVALID_AMOUNT")) }, {}],
])("the signature of a request that %s is used up, once: %s", async (_what, expected, endpoint, sent, rows = []) => {
  for (const actsFirst of [false, true]) {
    const { run, isUsed, underWay } = aService(rows);
    const path = rows.length > 0 ? { path: "/v1/things" } : {};
    const answer = await outcome(
      run({ ...endpoint, ...path, actsFirst }, { params: rows.length > 0 ? {} : { id: "pay_1" }, ...sent }),
    );
    expect(answer).toBe(expected);
    expect(underWay(), "whether the answer waits").toBe(0);
    expect(await isUsed()).toBe(true);
  }
});

test.each(["before", "after"] as const)(
  "the signature of a request that fails %s its transaction is used up, and the failure is told",
  async (when) => {
    const { run, isUsed, underWay } = aService([], { decide: when });
    expect([await outcome(run({})), underWay()]).toEqual(["INTERNAL_ERROR", 0]);
    expect(await isUsed()).toBe(true);
  },
);

test("without a database to use the signature up in there is no other answer than that", async () => {
  const { run } = aService([], { decide: "before", "consume nonce": "away" });
  expect(await outcome(run({}))).toBe("SERVICE_UNAVAILABLE");
  expect(await outcome(run({}, { enter: refusing(new Fault("FORBIDDEN")) }))).toBe("SERVICE_UNAVAILABLE");
});

test("a mistake of ours in a judgement breaks no batch of others", async () => {
  const { run, log } = aService();
  await outcome(run({ judge: refusing(new TypeError("oops")) }));
  expect(log).toEqual(["create consume nonce"]);
});

test("creations have a lane of their own, and changes the merchant's", async () => {
  const [creating, changing] = [aService(), aService()];
  await creating.run({ lane: "create" });
  await changing.run({});
  expect([creating.log, changing.log]).toEqual([["create decide"], ["move decide"]]);
});

test("an endpoint that acts first acts only on a signature that is used up", async () => {
  const service = aService();
  let before: boolean | undefined;
  const judge = async () => {
    before = await service.isUsed();
    return {};
  };
  expect(await outcome(service.run({ actsFirst: true, judge }))).toBe("201");
  expect(before).toBe(true);
  const other = aService();
  expect(await outcome(other.run({ judge: async () => ({}) }))).toBe("201");
  expect(other.log).toEqual(["move decide"]);
});

test("two at once under one key run one after the other, and the second's signature is used up though it may not wait", async () => {
  const held = Promise.withResolvers<object>();
  const { run, isUsed, underWay } = aService();
  const first = run({ judge: () => held.promise }, { signed: false });
  const second = outcome(run({}));
  expect([await second, underWay()]).toEqual(["IDEMPOTENCY_IN_PROGRESS", 0]);
  expect(await isUsed()).toBe(true);
  held.resolve({});
  expect(await outcome(first)).toBe("201");
});

describe("a key", () => {
  const again: Sent = { signed: false };

  test.each<[string, Sent]>([
    ["another object", { params: { id: "pay_2" } }],
    ["another body", { body: `{"note":"x"}` }],
    ["another body that breaks a rule", { body: `{"note":1}` }],
  ])("that is used again for %s is a conflict", async (_what, changed) => {
    const { run, changes } = aService();
    expect(await outcome(run({}))).toBe("201");
    expect(await outcome(run({}, { ...again, ...changed }))).toBe("IDEMPOTENCY_CONFLICT");
    expect(await outcome(run({}, again))).toBe("200 replayed");
    expect(changes().inserted(payments)).toHaveLength(1);
  });

  test("with a body that may be left out is bound to what was sent", async () => {
    const { run } = aService();
    expect(await outcome(run({}, { body: "" }))).toBe("201");
    expect(await outcome(run({}, { ...again, body: "" }))).toBe("200 replayed");
    expect(await outcome(run({}, again))).toBe("IDEMPOTENCY_CONFLICT");
    const needed = { body: { schema: z.strictObject({ note: z.string() }), order: [] } };
    expect(await outcome(aService().run(needed as never, { body: "" }))).toBe("MALFORMED_JSON");
  });

  const inProgress = aRecord({ endpoint: "POST /v1/things", status: undefined, response: undefined });
  test("whose first request waits for its continuation is resumed where the endpoint can", async () => {
    const here = { path: "/v1/things" };
    const resumed = { ...deciding({ status: 201, body: "{}" }), name: "resume" };
    const able = aService([inProgress]);
    expect(await outcome(able.run({ ...here, resume: async () => resumed }, { params: {} }))).toBe("201");
    expect(able.log).toEqual(["move decide", "move resume"]);
    const unable = aService([inProgress]);
    expect(await outcome(unable.run({ ...here, resume: async () => undefined }, { params: {} }))).toBe(
      "IDEMPOTENCY_IN_PROGRESS",
    );
    const other = aService();
    const never = { ...here, ...refused("NO_ROUTE_AVAILABLE"), resume: async () => resumed };
    expect(await outcome(other.run(never, { params: {} }))).toBe("NO_ROUTE_AVAILABLE");
    expect(other.log).toEqual(["move decide"]);
  });
});

describe("after the commit", () => {
  test("comes what the answer waits for, then what follows; a failure there alters no answer", async () => {
    const order: string[] = [];
    const later = async () => {
      await turn();
      order.push("continues");
      return { status: 201, body: "{}" };
    };
    const after = async () => {
      await turn();
      order.push("after");
      throw new Error("no event stream");
    };
    const { run } = aService();
    expect(await outcome(run({ command: () => deciding({ ...success, continues: later }), after }))).toBe("201");
    expect(order).toEqual(["continues", "after"]);
  });

  test("nothing follows a replay", async () => {
    let followed = 0;
    const after = async () => void followed++;
    const { run } = aService();
    await run({ after });
    expect(await outcome(run({ after }, { signed: false }))).toBe("200 replayed");
    expect(followed).toBe(1);
  });

  test("the change is its key's, unless nothing changes or a person asks", async () => {
    const audited = async (endpoint: Partial<WriteEndpoint>, sent: Sent): Promise<unknown[]> => {
      const { run, changes } = aService();
      await run(endpoint, sent);
      return changes().inserted(clientAudit);
    };
    const entry = { clientId: "sk_test_1", address: "203.0.113.1", action: "make_thing", subject: "pay_1", at: NOW };
    expect(await audited({}, {})).toMatchObject([entry]);
    expect(await audited({ changesNothing: true }, {})).toEqual([]);
    expect(await audited({}, { client: undefined })).toEqual([]);
  });
});
