// Goal: an approved change ends as failed only when nothing has happened, and nothing will when the same request comes again; else it is looked up
// again. Method: runs of an endpoint that fails in each way; approvals.test.ts has the changes themselves, and processes that die.
import { expect, test } from "vitest";
import { movableClock } from "../../test/acquiring.ts";
import { NOW } from "../../test/given.ts";
import { SECOND } from "../ground/clock.ts";
import { sha256 } from "../ground/crypto.ts";
import { Fault, type FaultCode } from "../ground/fault.ts";
import { newId } from "../ground/ids.ts";
import { createLog } from "../ground/log.ts";
import type { Reply } from "../ground/reply.ts";
import type { Statement } from "../store/database.ts";
import { ApprovalRuns, type ApprovalsParts } from "./approval-runs.ts";
import type { Approval } from "./approvals.sql.ts";
import type { OperatorCall, OperatorEndpoint } from "./endpoint.ts";

const person = (name: string) => ({ kind: "person", id: name, name, role: "admin" }) as const;

function anApproval(changes: Partial<Approval> = {}): Approval {
  const body = Buffer.from("{}");
  return {
    uuid: newId("approval", NOW),
    action: "refund_payment",
    status: "executing",
    request: { operation: "act", method: "POST", path: "/ops/v1/act", body, digest: sha256(body), key: undefined },
    summary: "acts",
    book: undefined,
    merchantName: undefined,
    paymentReference: undefined,
    amount: undefined,
    leastRole: "admin",
    requestId: "req_asked",
    askedBy: person("sari"),
    askedAt: NOW,
    decision: { by: person("budi"), at: NOW, note: undefined },
    runId: "req_run",
    attempts: 1,
    answer: undefined,
    ...changes,
  };
}

interface Ways {
  handle?: (call: OperatorCall) => Promise<Reply>;
  lookUp?: () => Promise<Reply | undefined>;
}

/** Runs an approval. Gives the status under which it ended, if it did, and what was called. */
async function run(approval: Approval, { handle, lookUp }: Ways, at = NOW): Promise<[string | undefined, string[]]> {
  const called: string[] = [];
  let ended: string | undefined;
  const query = async ({ values }: Statement) => {
    ended = values?.[1] as string;
    return [{}];
  };
  const noting =
    <T>(name: string, work: (call: OperatorCall) => Promise<T>) =>
    (call: OperatorCall) => {
      called.push(name);
      return work(call);
    };
  const parts = {
    database: { transaction: (work: (run: unknown) => Promise<unknown>) => work(async (one: Statement) => query(one)) },
    audit: { has: async () => true, answerOf: () => ({ values: [undefined, ended] }) },
    clock: movableClock(at),
    log: createLog("silent"),
  };
  const endpoint = {
    operationId: "act",
    path: "/ops/v1/act",
    approval: {
      action: "refund_payment",
      foresee: async () => ({ summary: "acts" }),
      ...(lookUp && { lookUp: noting("lookUp", lookUp) }),
    },
    handle: noting("handle", handle ?? (async () => ({ status: 200, body: "{}" }))),
  };
  const runs = new ApprovalRuns(parts as unknown as ApprovalsParts);
  runs.serve([endpoint as unknown as OperatorEndpoint]);
  await runs.run(approval);
  return [ended, called];
}

const failing = (code: FaultCode): Ways => ({ handle: () => Promise.reject(new Fault(code)) });

test.each([
  ["INSUFFICIENT_FUNDS", "failed"],
  ["PAYMENT_NOT_REFUNDABLE", "failed"],
  ["NO_ROUTE_AVAILABLE", "failed"],
  // The same request may do it later, or does it now.
  ["RATE_LIMITED", undefined],
  ["IDEMPOTENCY_IN_PROGRESS", undefined],
  ["SERVICE_UNAVAILABLE", undefined],
  ["GATEWAY_TIMEOUT", undefined],
  ["INTERNAL_ERROR", undefined],
] as const)("a change that ends with %s: %s", async (code, status) => {
  expect((await run(anApproval(), failing(code)))[0]).toBe(status);
  expect((await run(anApproval({ attempts: 2 }), failing(code)))[0]).toBe(status);
});

test("a change that breaks has no outcome yet", async () => {
  const broken = { handle: () => Promise.reject(new TypeError("no such thing")) };
  expect(await run(anApproval(), broken)).toEqual([undefined, ["handle"]]);
});

test.each([
  [200, "executed"],
  [399, "executed"],
  [400, "failed"],
  [422, "failed"],
])("an answer of %i means %s", async (answered, status) => {
  expect((await run(anApproval(), { handle: async () => ({ status: answered, body: "{}" }) }))[0]).toBe(status);
});

test("a first attempt acts, and a later one looks up what the first did, where it can", async () => {
  const lookUp = async () => ({ status: 200, body: "{}" });
  expect(await run(anApproval(), { lookUp })).toEqual(["executed", ["handle"]]);
  expect(await run(anApproval({ attempts: 2 }), { lookUp })).toEqual(["executed", ["lookUp"]]);
  expect(await run(anApproval({ attempts: 2 }), {})).toEqual(["executed", ["handle"]]);
  const found = await run(anApproval({ attempts: 2 }), { lookUp: async () => undefined });
  expect(found).toEqual(["unknown", ["lookUp"]]);
});

test("a first attempt does nothing else than what was approved; a later one finds out what the first did", async () => {
  expect(await run(anApproval({ summary: "did something else" }), {})).toEqual(["failed", []]);
  expect(await run(anApproval({ summary: "did something else", attempts: 2 }), {})).toEqual(["executed", ["handle"]]);
});

test("the tenth attempt, a day after the decision, is the last; then nobody knows", async () => {
  const DAY = 86_400 * SECOND;
  expect(await run(anApproval({ attempts: 10 }), {}, NOW + DAY)).toEqual(["executed", ["handle"]]);
  expect(await run(anApproval({ attempts: 11 }), {})).toEqual(["unknown", []]);
  expect(await run(anApproval(), {}, NOW + DAY + 1)).toEqual(["unknown", []]);
});

test("what cannot be read any more has failed at the first attempt; later the first one may have done it", async () => {
  const { request } = anApproval();
  const forgotten = { ...request, operation: "act_before" };
  expect(await run(anApproval({ request: forgotten }), {})).toEqual(["failed", []]);
  expect(await run(anApproval({ request: forgotten, attempts: 2 }), {})).toEqual([undefined, []]);
});

test("a stored request that is not the one that was asked for is not run", async () => {
  const { request } = anApproval();
  const altered = { ...request, body: Buffer.from('{"amount_minor":2}') };
  expect(await run(anApproval({ request: altered }), {})).toEqual([undefined, []]);
});

test("it runs under its asker's key, or one of its own, for the amount that was approved", async () => {
  const { request } = anApproval();
  let seen: OperatorCall | undefined;
  const handle = async (call: OperatorCall) => {
    seen = call;
    return { status: 200, body: "{}" };
  };
  const amount = { amountMinor: 5n, currency: "IDR" };
  await run(anApproval({ request: { ...request, key: "key-00000001" }, amount }), { handle });
  expect(seen).toMatchObject({ keyed: { key: "key-00000001" }, approved: { amountMinor: 5n }, requestId: "req_run" });
  const own = anApproval();
  await run(own, { handle });
  expect(seen).toMatchObject({ keyed: { key: `approval.${own.uuid}` }, approvalId: own.uuid });
});
