// Goal: what the policy demands two operators for happens when two have agreed, once, and never otherwise. Method: a service with tokens of
// several people; each attack that one person could try; two approvals at once; a process that stops in the middle of a change.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Answer, type Client, readAnswer } from "../../../e2e/kit/client.ts";
import { OPERATOR_TOKEN, type TestService, asOwner, openDatabase, paymentBody, startService } from "../../test/kit.ts";
import { contractFaults, contractOf } from "../../test/hostile-input.ts";
import { type OperatorAsk, VIEWER_TOKEN, outcomeOf } from "../../test/operator.ts";
import { type Browser, operates } from "../../test/portal.ts";
import { systemClock } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { uuidOf } from "../ground/ids.ts";
import { createLog } from "../ground/log.ts";
import { putAcquirerState } from "../routing/routing.sql.ts";
import { nextEpoch } from "../store/settings-watch.ts";
import { ApprovalRuns, type ApprovalsParts } from "./approval-runs.ts";
import { approvalRecordSchema, approvalSchema, askedSchema, policySchema } from "./approvals.schema.ts";
import { type Approval, approvalOfRow, selectApproval, takeUpExecuting } from "./approvals.sql.ts";
import { Approvals } from "./approvals.ts";
import { Audit } from "./audit.ts";
import type { OperatorCall, OperatorEndpoint } from "./endpoint.ts";
import { operatorPaymentEndpoints } from "./payments.routes.ts";

const contract = contractOf("operator");
let service: TestService;
const tokens: Record<string, string> = {};
let keys = 0;
const newKey = (): string => `four-eyes-key-${++keys}`;

async function ask(
  method: string,
  path: string,
  { body, token = OPERATOR_TOKEN, key }: OperatorAsk = {},
): Promise<Answer> {
  const answer = await readAnswer(
    await fetch(`${service.operatorOrigin}/ops/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        ...(key === undefined ? {} : { "idempotency-key": key }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  );
  expect(contractFaults(contract, method, `/ops/v1${path}`, answer), answer.text).toEqual([]);
  return answer;
}
const by = (name: string): { token: string } => ({ token: tokens[name] ?? "" });

async function newToken(name: string, role: string, maker: { token?: string } = {}): Promise<void> {
  const { json } = await ask("POST", "/tokens", { ...maker, body: { name, role } });
  tokens[name] = json.token as string;
}

/** People whom sari let in, by one way or another, and one whom she did not. */
let ghosts: Browser[] = [];
let outsider: Browser;

/** A person who accepted an invitation of this operator. */
async function invitedBy(name: string): Promise<Browser> {
  return operates(service, "admin", name);
}

beforeAll(async () => {
  service = await startService({ roles: ["api"], config: { operatorViewerToken: VIEWER_TOKEN } });
  for (const name of ["sari", "budi", "wati"]) await newToken(name, "admin");
  await newToken("sita", "support");
  await newToken("sinta", "support");
  // Before anything is asked: tokens that one person has made for themselves.
  await newToken("sari-two", "admin", by("sari"));
  await newToken("sari-three", "admin", by("sari-two"));
  ghosts = [await invitedBy("sari"), await invitedBy("sari-two")];
  const [first] = ghosts;
  if (first) ghosts.push(await invitedBy(first.email));
  outsider = await invitedBy("command-line");
  shop = await service.merchant();
  for (let count = 0; count < 3; count++) await paid(shop.client);
});
afterAll(() => service.stop());

/** Whatever was demanded before, this is demanded now: as the database's owner, whom no policy binds. */
async function demand(actions: Record<string, unknown>): Promise<void> {
  await asOwner(service.database, (owner) =>
    owner.query(
      `insert into operator_approval_policies (version, rules, changed_by)
select coalesce(max(version), 0) + 1, $1, 'test' from operator_approval_policies`,
      [JSON.stringify(actions)],
    ),
  );
}
const policy = async (): Promise<Answer["json"]> => (await ask("GET", "/approvals/policy")).json;

const AMOUNT = 1_000_000;

async function paid(client: Client, changes: object = {}): Promise<string> {
  const { reference } = (await client.post("/v1/payments", paymentBody({ amount_minor: AMOUNT, ...changes }))).json;
  await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  return reference as string;
}

let shop: { client: Client; merchantId: string };

/** A paid payment of a merchant who has enough money of others, so that funds are not what limits a refund. */
async function sold(): Promise<{ client: Client; merchantId: string; reference: string }> {
  return { ...shop, reference: await paid(shop.client) };
}

const refund = (reference: string, how: OperatorAsk = {}): Promise<Answer> =>
  ask("POST", `/payments/${reference}/refunds`, { key: newKey(), body: { reason: "Paid twice" }, ...how });
const refunded = async (client: Client, reference: string): Promise<number> =>
  (await client.get(`/v1/payments/${reference}`)).json.refunded_minor as number;
const approve = (uuid: string, how: OperatorAsk): Promise<Answer> =>
  ask("POST", `/approvals/${uuid}/approve`, { body: {}, ...how });

/** A refund that waits. */
async function waiting(how: OperatorAsk = by("sari")) {
  const sale = await sold();
  const answer = await refund(sale.reference, how);
  expect(answer.status, answer.text).toBe(202);
  askedSchema.parse(answer.json);
  return { ...sale, uuid: answer.json.approval.uuid as string };
}

describe("a refund for which the policy demands two", () => {
  beforeEach(() => demand({ refund_payment: {} }));

  test("is kept and not done, and runs once when another one approves it", async () => {
    const { client, merchantId, reference, uuid } = await waiting();
    expect(await refunded(client, reference)).toBe(0);
    const { json: record } = await ask("GET", `/approvals/${uuid}`, by("budi"));
    approvalRecordSchema.parse(record);
    expect(record).toMatchObject({
      status: "waiting",
      action: "refund_payment",
      summary: `Refund IDR 10,000.00 of ${reference} to its payer, for Test Shop: Paid twice`,
      merchant_id: merchantId,
      amount_minor: AMOUNT,
      asked_by: "sari",
      objection: null,
      would_fail: null,
      is_yours: false,
    });
    const changes = record.effects.map((one: Record<string, unknown>) => [
      one.account,
      one.change_minor,
      (one.after_minor as number) - (one.before_minor as number),
    ]);
    expect(changes).toEqual([
      ["merchant:available", AMOUNT, AMOUNT],
      [expect.stringMatching(/^acquirer:\w+:receivable$/), -AMOUNT, -AMOUNT],
    ]);
    expect(record.effects[0].before_minor).toBeLessThan(-AMOUNT);
    const answer = await approve(uuid, { ...by("budi"), body: { note: "Asked the merchant" } });
    approvalSchema.parse(answer.json);
    expect(answer.json).toMatchObject({
      status: "executed",
      decided_by: "budi",
      note: "Asked the merchant",
      result: { status: 201, body: { amount_minor: AMOUNT, payment_reference: reference } },
    });
    expect(await refunded(client, reference)).toBe(AMOUNT);
    expect((await client.get(`/v1/refunds?payment_reference=${reference}`)).json.data).toHaveLength(1);
    const verified = await ask("GET", `/merchants/${merchantId}/books/sandbox/verify`);
    expect(verified.json.clean).toBe(true);
  });

  test("is in the audit as asked, as approved, and as done with both names, also where the payment is read", async () => {
    const { merchantId, reference, uuid } = await waiting();
    await approve(uuid, by("budi"));
    const path = `/ops/v1/payments/${reference}/refunds`;
    const { data } = (await ask("GET", `/audit?merchant_id=${merchantId}`)).json;
    expect(
      data.map((one: Record<string, unknown>) => [one.path, one.actor, one.approved_by, one.status]).slice(0, 3),
    ).toEqual([
      [path, "sari", "budi", 201],
      [`/ops/v1/approvals/${uuid}/approve`, "budi", null, 200],
      [path, "sari", null, 202],
    ]);
    const { audit } = (await ask("GET", `/payments/${reference}`)).json;
    expect(audit.map((one: Record<string, unknown>) => [one.actor, one.approved_by, one.status])).toEqual([
      ["sari", "budi", 201],
      ["sari", null, 202],
    ]);
  });

  test.each<[string, string, RegExp]>([
    ["who asked", "sari", /yourself/],
    ["another token of who asked", "sari-two", /sari has held/],
    ["a token that was made with that one", "sari-three", /sari has held/],
    ["a token of a lower role", "sita", /takes the role admin/],
  ])("is not approved by %s", async (_what, name, message) => {
    const { client, reference, uuid } = await waiting();
    const answer = await approve(uuid, by(name));
    expect([outcomeOf(answer), answer.json.error.message]).toEqual(["403 FORBIDDEN", expect.stringMatching(message)]);
    expect(await refunded(client, reference)).toBe(0);
    const { objection, status } = (await ask("GET", `/approvals/${uuid}`, by(name))).json;
    expect([status, objection]).toEqual(["waiting", expect.stringMatching(message)]);
  });

  test("is not approved by a token that was made after it was asked for, nor by one of the environment, nor by nobody", async () => {
    const { client, reference, uuid } = await waiting();
    await newToken("late", "admin");
    expect((await approve(uuid, by("late"))).json.error.message).toMatch(/after it was asked for/);
    expect((await approve(uuid, { token: OPERATOR_TOKEN })).json.error.message).toMatch(/nobody's own/);
    expect(outcomeOf(await approve(uuid, { token: VIEWER_TOKEN }))).toBe("403 FORBIDDEN");
    expect(outcomeOf(await approve(uuid, { token: "op_nobody" }))).toBe("401 UNAUTHORIZED");
    expect(await refunded(client, reference)).toBe(0);
    await ask("DELETE", "/tokens/late");
  });

  test("asked with a token that somebody made is not approved by who made it, nor by a sister of it", async () => {
    const { uuid } = await waiting(by("sari-two"));
    for (const name of ["sari", "sari-three"])
      expect((await approve(uuid, by(name))).json.error.message, name).toMatch(/sari(-two)? has held/);
    expect((await approve(uuid, by("budi"))).json.status).toBe("executed");
  });

  test("approved again, refused or taken back after that answers that it is decided, and nothing happens again", async () => {
    const { client, reference, uuid } = await waiting();
    expect((await approve(uuid, by("budi"))).status).toBe(200);
    for (const answer of [
      await approve(uuid, by("budi")),
      await approve(uuid, by("wati")),
      await ask("POST", `/approvals/${uuid}/refuse`, { ...by("wati"), body: {} }),
      await ask("POST", `/approvals/${uuid}/withdraw`, by("sari")),
    ])
      expect([outcomeOf(answer), answer.json.error.details]).toEqual(["409 APPROVAL_CLOSED", { status: "executed" }]);
    expect(await refunded(client, reference)).toBe(AMOUNT);
    expect((await client.get(`/v1/refunds?payment_reference=${reference}`)).json.data).toHaveLength(1);
  });

  test("is not approved by people whom its asker let in, also when one in between is an operator no more", async () => {
    const { client, reference, uuid } = await waiting();
    const approvalBy = (browser: Browser): Promise<Answer> => browser.post(`/ops/v1/approvals/${uuid}/approve`, {});
    for (const ghost of ghosts) {
      const { status, json } = await approvalBy(ghost);
      expect([status, json.error.message]).toEqual([403, expect.stringMatching(/^You and sari count as one: sari/)]);
    }
    const [first, , last] = ghosts as [Browser, Browser, Browser];
    await asOwner(service.database, (owner) =>
      owner.query("delete from operators where person_id = (select person_id from persons where email = $1)", [
        first.email,
      ]),
    );
    expect((await approvalBy(last)).json.error?.message).toMatch(/^You and sari count as one: sari/);
    expect(await refunded(client, reference)).toBe(0);
    expect((await approvalBy(outsider)).json).toMatchObject({ status: "executed" });
    expect(await refunded(client, reference)).toBe(AMOUNT);
  });

  test("approved by two at once has one approver and one effect", async () => {
    const { client, reference, uuid } = await waiting();
    const answers = await Promise.all(["budi", "wati", "budi", "wati"].map((name) => approve(uuid, by(name))));
    expect(answers.map(outcomeOf).toSorted()).toEqual(["200", ...Array<string>(3).fill("409 APPROVAL_CLOSED")]);
    expect((await client.get(`/v1/refunds?payment_reference=${reference}`)).json.data).toHaveLength(1);
  });

  test("approved and refused at once is one of the two", async () => {
    const { client, reference, uuid } = await waiting();
    const answers = await Promise.all([
      approve(uuid, by("budi")),
      ask("POST", `/approvals/${uuid}/refuse`, { ...by("wati"), body: {} }),
    ]);
    expect(answers.map(outcomeOf).toSorted()).toEqual(["200", "409 APPROVAL_CLOSED"]);
    const { status } = (await ask("GET", `/approvals/${uuid}`)).json;
    expect(await refunded(client, reference)).toBe(status === "executed" ? AMOUNT : 0);
  });

  test("is judged again when it runs: what has changed since is its result", async () => {
    const { client, reference, uuid } = await waiting();
    await client.post("/v1/refunds", { payment_reference: reference, amount_minor: AMOUNT });
    const { would_fail: fault } = (await ask("GET", `/approvals/${uuid}`, by("budi"))).json;
    expect(fault.code).toBe("REFUND_EXCEEDS_PAYMENT");
    const { json } = await approve(uuid, by("budi"));
    expect(json).toMatchObject({
      status: "failed",
      result: { status: 422, body: { error: { code: "REFUND_EXCEEDS_PAYMENT" } } },
    });
    expect(await refunded(client, reference)).toBe(AMOUNT);
  });

  test("says that its merchant's wallet is frozen, and is not asked for while it is", async () => {
    const { merchantId } = await service.merchant();
    const client = await service.client(merchantId);
    const reference = await paid(client);
    const { uuid } = (await refund(reference, by("sari"))).json.approval;
    await service.app.merchants.patch(merchantId, { wallet_frozen: { IDR: true } });
    const { json } = await ask("GET", `/approvals/${uuid}`, by("budi"));
    expect(json.would_fail).toMatchObject({ code: "WALLET_FROZEN" });
    const asked = await refund(reference, { ...by("sari"), body: { reason: "Again" } });
    expect(outcomeOf(asked)).toBe("403 WALLET_FROZEN");
  });

  test("says that its merchant's funds do not cover it any more", async () => {
    const client = await service.client((await service.merchant()).merchantId);
    const [reference, other] = [await paid(client), await paid(client)];
    const { uuid } = (await refund(reference, by("sari"))).json.approval;
    const seen = async () => (await ask("GET", `/approvals/${uuid}`, by("budi"))).json.would_fail;
    expect(await seen()).toBeNull();
    await client.post("/v1/refunds", { payment_reference: other, amount_minor: AMOUNT });
    expect(await seen()).toMatchObject({ code: "INSUFFICIENT_FUNDS" });
    expect((await approve(uuid, by("budi"))).json.result.body.error.code).toBe("INSUFFICIENT_FUNDS");
    expect(await refunded(client, reference)).toBe(0);
  });

  test("is refused with a note by another one, and taken back by who asked alone", async () => {
    const first = await waiting();
    expect(outcomeOf(await ask("POST", `/approvals/${first.uuid}/refuse`, { ...by("sari"), body: {} }))).toBe(
      "403 FORBIDDEN",
    );
    expect(outcomeOf(await ask("POST", `/approvals/${first.uuid}/refuse`, { ...by("sita"), body: {} }))).toBe(
      "403 FORBIDDEN",
    );
    const refused = await ask("POST", `/approvals/${first.uuid}/refuse`, { ...by("budi"), body: { note: "No" } });
    expect(refused.json).toMatchObject({ status: "refused", decided_by: "budi", note: "No", result: null });
    const second = await waiting();
    expect(outcomeOf(await ask("POST", `/approvals/${second.uuid}/withdraw`, by("budi")))).toBe("403 FORBIDDEN");
    const back = await ask("POST", `/approvals/${second.uuid}/withdraw`, by("sari"));
    expect(back.json).toMatchObject({ status: "withdrawn", decided_by: "sari" });
    for (const { client, reference } of [first, second]) expect(await refunded(client, reference)).toBe(0);
  });

  test("asked for again under its key is the one that waits; under the key another one is a conflict", async () => {
    const { reference, client } = await sold();
    const key = newKey();
    const [one, two] = [
      await refund(reference, { ...by("sari"), key }),
      await refund(reference, { ...by("sari"), key }),
    ];
    expect([two.status, two.headers.get("x-idempotent-replay"), two.json]).toEqual([202, "true", one.json]);
    const other = await refund(reference, { ...by("sari"), key, body: { amount_minor: 5, reason: "Other" } });
    expect(outcomeOf(other)).toBe("409 IDEMPOTENCY_CONFLICT");
    await approve(one.json.approval.uuid as string, by("budi"));
    const after = await refund(reference, { ...by("sari"), key });
    expect([after.status, after.json.approval.status]).toEqual([200, "executed"]);
    expect(await refunded(client, reference)).toBe(AMOUNT);
  });

  test("that was refused is not done by its key, also when nothing is demanded any more", async () => {
    const { reference, client } = await sold();
    const key = newKey();
    const { json } = await refund(reference, { ...by("sari"), key });
    await ask("POST", `/approvals/${json.approval.uuid}/refuse`, { ...by("budi"), body: {} });
    await demand({});
    const again = await refund(reference, { ...by("sari"), key });
    expect([again.status, again.json.approval.status]).toEqual([200, "refused"]);
    expect(await refunded(client, reference)).toBe(0);
  });

  test("that was done under its key before is answered again, and waits for nobody", async () => {
    await demand({});
    const { reference } = await sold();
    const key = newKey();
    const first = await refund(reference, { ...by("sari"), key });
    await demand({ refund_payment: {} });
    const again = await refund(reference, { ...by("sari"), key });
    expect([again.status, again.headers.get("x-idempotent-replay"), again.text]).toEqual([200, "true", first.text]);
  });

  test("asked for at once under one key waits once", async () => {
    const { reference } = await sold();
    const key = newKey();
    const answers = await Promise.all(Array.from({ length: 8 }, () => refund(reference, { ...by("sari"), key })));
    expect(new Set(answers.map(({ status, json }) => `${status} ${json.approval.uuid}`)).size).toBe(1);
  });

  test("that is no good is refused when it is asked for", async () => {
    const { reference } = await sold();
    const wrong = [
      [{ body: { reason: "" } }, "422 VALIDATION_ERROR reason"],
      [{ body: { amount_minor: AMOUNT + 1, reason: "x" } }, "422 REFUND_EXCEEDS_PAYMENT"],
      [{ key: undefined as never }, "422 IDEMPOTENCY_KEY_REQUIRED"],
      [by("sita"), "403 FORBIDDEN"],
    ] as const;
    for (const [how, expected] of wrong) expect(outcomeOf(await refund(reference, how)), expected).toBe(expected);
    expect(outcomeOf(await refund(`pay_${"0".repeat(26)}`))).toBe("404 PAYMENT_NOT_FOUND");
    const { data } = (await ask("GET", `/approvals?payment_reference=${reference}`)).json;
    expect(data).toEqual([]);
  });

  test("expires after 72 hours of the database's clock, and can be asked for again", async () => {
    const { client, reference, uuid } = await waiting();
    const age = (hours: number) =>
      asOwner(service.database, async (owner) => {
        await owner.query("alter table operator_approvals disable trigger operator_approvals_decided_once");
        await owner.query(
          `update operator_approvals set asked_at = clock_timestamp() - make_interval(hours => $2) where approval_id = $1`,
          [uuidOf(uuid), hours],
        );
        await owner.query("alter table operator_approvals enable trigger operator_approvals_decided_once");
      });
    await age(73);
    expect(outcomeOf(await approve(uuid, by("budi")))).toBe("409 APPROVAL_CLOSED");
    expect((await ask("GET", `/approvals/${uuid}`)).json.status).toBe("expired");
    const listed = async (status: string): Promise<string[]> =>
      (await ask("GET", `/approvals?status=${status}&payment_reference=${reference}`)).json.data.map(
        (one: { uuid: string }) => one.uuid,
      );
    expect([await listed("waiting"), await listed("expired")]).toEqual([[], [uuid]]);
    expect((await refund(reference, by("sari"))).status).toBe(202);
    expect([await listed("expired"), await refunded(client, reference)]).toEqual([[uuid], 0]);
  });

  test("of somebody whose token has ended since is not approved", async () => {
    await newToken("gone", "admin");
    const { uuid } = await waiting(by("gone"));
    await ask("DELETE", "/tokens/gone");
    expect((await approve(uuid, by("budi"))).json.error.message).toMatch(/gone, who asked for this, may not/);
  });

  test("stays under the rules it was asked under when the policy changes, and what is asked later is done at once", async () => {
    const { client, reference, uuid } = await waiting();
    await demand({});
    expect(outcomeOf(await approve(uuid, by("sari")))).toBe("403 FORBIDDEN");
    expect((await refund(reference, { ...by("sari"), body: { amount_minor: 5, reason: "x" } })).status).toBe(201);
    // All that was left has changed: what was asked for is not what would be done.
    const { json: record } = await ask("GET", `/approvals/${uuid}`, by("budi"));
    expect(record.would_fail).toMatchObject({
      code: "APPROVAL_CLOSED",
      message: expect.stringContaining("IDR 9,999.95"),
    });
    expect((await approve(uuid, by("budi"))).json).toMatchObject({ status: "failed", result: { status: 409 } });
    expect(await refunded(client, reference)).toBe(5);
  });

  test("of all that is left never moves more than was approved, however much is left by then", async () => {
    const { client } = shop;
    const reference = await paid(client, { metadata: { "sandbox.scenario": "slow" } });
    const under = await client.post("/v1/refunds", { payment_reference: reference, amount_minor: AMOUNT - 10_000 });
    expect(under.json.status).toBe("pending");
    const asked = (await refund(reference, by("sari"))).json.approval;
    expect(asked.amount_minor).toBe(10_000);
    await client.post(`/v1/sandbox/refunds/${under.json.uuid}/simulate`, { outcome: "failed" });
    expect((await approve(asked.uuid as string, by("budi"))).json).toMatchObject({
      status: "failed",
      amount_minor: 10_000,
      result: { status: 409, body: { error: { code: "APPROVAL_CLOSED" } } },
    });
    expect(await refunded(client, reference)).toBe(0);
  });

  test("waits at most a hundred times for each who asks", async () => {
    const { reference } = await sold();
    await newToken("busy", "admin");
    await asOwner(service.database, (owner) =>
      owner.query(`insert into operator_approvals (approval_id, action, operation, method, path, body, body_digest, summary, least_role,
  policy_version, request_id, asked_kind, asked_id, asked_by, asked_role)
select gen_random_uuid(), 'refund_payment', 'refundPayment', 'POST', '/x/' || n, '', sha256(''), 'x', 'admin',
  (select max(version) from operator_approval_policies), gen_random_uuid(), 'token', 'x', 'busy', 'admin'
from generate_series(1, 100) n`),
    );
    expect(outcomeOf(await refund(reference, by("busy")))).toBe("429 RATE_LIMITED");
    expect((await refund(reference, by("sari"))).status).toBe(202);
  });
});

describe("with a bound", () => {
  beforeEach(() => demand({ refund_payment: { above_minor: { IDR: 300_000 } } }));
  const part = (amount_minor: number) => ({ ...by("sari"), body: { amount_minor, reason: "part" } });

  test("what is within it is done at once, and all that went back of a payment counts", async () => {
    const { client, reference } = await sold();
    expect((await refund(reference, part(300_000))).status).toBe(201);
    expect((await refund(reference, part(1))).status).toBe(202);
    expect(await refunded(client, reference)).toBe(300_000);
  });

  test("many small refunds at once never add up to more than it", async () => {
    const { client, reference } = await sold();
    const answers = await Promise.all(Array.from({ length: 10 }, () => refund(reference, part(100_000))));
    expect(await refunded(client, reference)).toBe(300_000);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3);
    for (const { status } of answers) expect([201, 202, 403]).toContain(status);
    expect((await refund(reference, part(100_000))).status).toBe(202);
  });

  test("nothing is free beside the stored answer of what was done under a key, which may end meanwhile", async () => {
    const rules = JSON.stringify({ refund_payment: { above_minor: { IDR: 300_000 } } });
    const database = { first: async () => undefined, query: async () => [{ version: 1, rules }] };
    const approvals = new Approvals({ database } as unknown as ApprovalsParts);
    const endpoint = { approval: { action: "refund_payment", foresee: async () => undefined } };
    const sent = { method: "POST", path: "/", body: Buffer.alloc(0), key: newKey() };
    const judged = await approvals.judge(endpoint as unknown as OperatorEndpoint, {} as OperatorCall, sent);
    expect(judged).toEqual({ freeUpToMinor: 0n });
  });
});

describe("the policy", () => {
  test("is tightened at once, and loosened by two admins", async () => {
    await demand({});
    const { version } = await policy();
    const tight = await ask("PUT", "/approvals/policy", {
      ...by("sari"),
      body: { version, actions: { refund_payment: { above_minor: { IDR: 500 } } } },
    });
    policySchema.parse(tight.json);
    expect([tight.status, tight.json.version, tight.json.changed_by]).toEqual([200, version + 1, "sari"]);
    const put = (actions: unknown, from: number = version + 1) =>
      ask("PUT", "/approvals/policy", { ...by("sari"), body: { version: from, actions } });
    const loose = [
      {},
      { refund_payment: { above_minor: { IDR: 501 } } },
      { refund_payment: { above_minor: { IDR: 500, USD: 1 } } },
      { resolve_dispute: {} },
    ];
    for (const actions of loose) expect((await put(actions)).status, JSON.stringify(actions)).toBe(202);
    expect((await policy()).version).toBe(version + 1);
    const { uuid } = (await put({})).json.approval;
    expect(outcomeOf(await approve(uuid, by("sari")))).toBe("403 FORBIDDEN");
    expect(outcomeOf(await approve(uuid, by("sita")))).toBe("403 FORBIDDEN");
    expect((await put({ refund_payment: { above_minor: { IDR: 499 } } })).json.version).toBe(version + 2);
    // What was approved would loosen another policy than the one that was read.
    expect((await approve(uuid, by("budi"))).json).toMatchObject({
      status: "failed",
      result: { body: { error: { details: { field: "version" } } } },
    });
    const again = (await put({}, version + 2)).json.approval;
    expect((await approve(again.uuid as string, by("budi"))).json.status).toBe("executed");
    expect(await policy()).toMatchObject({ version: version + 3, actions: {} });
  });

  test.each<[string, unknown, string]>([
    ["an unknown action", { actions: { delete_everything: {} } }, "actions.delete_everything"],
    ["a negative bound", { actions: { refund_payment: { above_minor: { IDR: -1 } } } }, "actions.refund_payment"],
    ["an unknown currency", { actions: { refund_payment: { above_minor: { XXX: 1 } } } }, "actions.refund_payment"],
    ["no actions", {}, "actions"],
    ["another version", { actions: {}, version: 77 }, "version"],
  ])("is not set with %s", async (_what, body, field) => {
    const { version } = await policy();
    const answer = await ask("PUT", "/approvals/policy", { body: { version, ...(body as object) } });
    expect(outcomeOf(answer)).toMatch(new RegExp(`^422 VALIDATION_ERROR ${field}`));
  });

  test("is never set by two at once from one version", async () => {
    await demand({});
    const { version } = await policy();
    const answers = await Promise.all(
      ["refund_payment", "resolve_dispute", "record_payout"].map((action) =>
        ask("PUT", "/approvals/policy", { ...by("sari"), body: { version, actions: { [action]: {} } } }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 422, 422]);
  });
});

describe("other changes", () => {
  test("a review is let go on by two of support", async () => {
    await demand({ approve_review: {} });
    const { client } = await service.merchant();
    const { reference } = (await client.post("/v1/payments", paymentBody({ customer: { email: "a@review.test" } })))
      .json.error.details;
    const asked = await ask("POST", `/reviews/${reference}/approve`, by("sita"));
    expect(asked.status).toBe(202);
    expect((await ask("POST", `/reviews/${reference}/approve`, by("sita"))).json.approval.uuid).toBe(
      asked.json.approval.uuid,
    );
    const { json } = await approve(asked.json.approval.uuid as string, by("sinta"));
    expect([json.status, json.result.status, json.result.body.reference]).toEqual(["executed", 200, reference]);
    // Who pays is not kept with what somebody decided.
    expect(JSON.stringify(json)).not.toContain("a@review.test");
    expect((await client.get(`/v1/payments/${reference}`)).json.instructions).not.toBeNull();
  });

  test("a dispute that is answered after the question is not decided by it", async () => {
    await demand({ resolve_dispute: {} });
    const { client, merchantId, reference } = await sold();
    const { uuid } = (await client.post(`/v1/sandbox/payments/${reference}/dispute`, { reason: "general" })).json;
    const dispute = `/merchants/${merchantId}/books/sandbox/disputes/${uuid}`;
    const asked = await ask("POST", `${dispute}/resolve`, { ...by("sari"), body: { outcome: "lost" } });
    const approval = asked.json.approval.uuid as string;
    expect(
      (await ask("POST", `${dispute}/evidence`, { body: { statement: "Sent on Monday", files: [] } })).status,
    ).toBe(200);
    const { json: record } = await ask("GET", `/approvals/${approval}`, by("budi"));
    expect(record.would_fail.message).toContain("Decide the answered dispute");
    expect((await approve(approval, by("budi"))).json.status).toBe("failed");
    expect((await client.get(`/v1/disputes/${uuid}`)).json.status).toBe("under_review");
  });

  test("nobody decides a dispute alone by recording it and waiting", async () => {
    await demand({ resolve_dispute: {} });
    const { client, merchantId, reference } = await sold();
    const path = `/merchants/${merchantId}/books/sandbox/disputes`;
    const body = { payment_reference: reference, reason: "general" };
    const asked = await ask("POST", path, { ...by("sari"), body });
    expect(asked.status, asked.text).toBe(202);
    expect(asked.json.approval).toMatchObject({ action: "resolve_dispute", amount_minor: AMOUNT });
    expect((await client.get(`/v1/disputes?payment_reference=${reference}`)).json.data).toEqual([]);
    for (const wrong of [
      { amount_minor: AMOUNT + 1 },
      { payment_reference: await paid((await service.merchant()).client) },
    ])
      expect((await ask("POST", path, { ...by("sari"), body: { ...body, ...wrong } })).status).toBeGreaterThan(400);
    const live = path.replace("/books/sandbox/", "/books/production/");
    expect(outcomeOf(await ask("POST", live, { ...by("sari"), body }))).toBe("403 ENVIRONMENT_MISMATCH");
    expect((await approve(asked.json.approval.uuid as string, by("budi"))).json.status).toBe("executed");
    expect((await client.get(`/v1/disputes?payment_reference=${reference}`)).json.data).toMatchObject([
      { status: "needs_response", amount_minor: AMOUNT },
    ]);
  });

  test.each([{}, { resolve_dispute: {}, record_payout: {} }])(
    "what is asked of the other book is refused alike, whatever is demanded: %o",
    async (demanded) => {
      await demand({});
      const { client, merchantId } = await service.merchant();
      const disputed = await paid(client);
      const [batch] = (await client.post("/v1/sandbox/settlements/run", {})).json.data;
      const { uuid } = (await client.post(`/v1/sandbox/payments/${disputed}/dispute`, { reason: "general" })).json;
      await demand(demanded);
      const asks = async (path: string, body?: object): Promise<string> =>
        outcomeOf(await ask("POST", `/merchants/${merchantId}/books/production${path}`, { ...by("sari"), body }));
      expect([
        await asks("/disputes", { payment_reference: disputed, reason: "general" }),
        await asks(`/disputes/${uuid}/resolve`, { outcome: "won" }),
        await asks(`/settlements/${batch.uuid}/pay`, { bank_reference: "TRF1" }),
        await asks(`/settlements/${batch.uuid}/return`),
      ]).toEqual([
        "403 ENVIRONMENT_MISMATCH",
        "404 OBJECT_NOT_FOUND",
        "403 ENVIRONMENT_MISMATCH",
        "403 ENVIRONMENT_MISMATCH",
      ]);
    },
  );

  test("a dispute is decided by two, and the book before and after is told", async () => {
    await demand({ resolve_dispute: {} });
    const { client, merchantId } = await service.merchant();
    const reference = await paid(client);
    await paid(client);
    const { uuid } = (await client.post(`/v1/sandbox/payments/${reference}/dispute`, { reason: "general" })).json;
    const asked = await ask("POST", `/merchants/${merchantId}/books/sandbox/disputes/${uuid}/resolve`, {
      ...by("sari"),
      body: { outcome: "lost" },
    });
    const id = asked.json.approval.uuid as string;
    const { effects } = (await ask("GET", `/approvals/${id}`)).json;
    expect(effects.map((one: Record<string, unknown>) => [one.account, one.before_minor, one.after_minor])).toEqual([
      ["merchant:held", -AMOUNT, 0],
      [expect.stringMatching(/receivable$/), 2 * AMOUNT, AMOUNT],
    ]);
    expect((await approve(id, by("budi"))).json.result.body.status).toBe("lost");
    expect(
      outcomeOf(
        await ask("POST", `/merchants/${merchantId}/books/sandbox/disputes/${uuid}/resolve`, {
          body: { outcome: "won" },
        }),
      ),
    ).toBe("409 DISPUTE_RESOLVED");
  });

  test("a batch is recorded as paid by two", async () => {
    await demand({ record_payout: {} });
    const { client, merchantId } = await service.merchant();
    await paid(client);
    const [{ uuid }] = (await client.post("/v1/sandbox/settlements/run", {})).json.data;
    const path = `/merchants/${merchantId}/books/sandbox/settlements/${uuid}`;
    const asked = await ask("POST", `${path}/pay`, { ...by("sari"), body: { bank_reference: "TRF1" } });
    expect((await approve(asked.json.approval.uuid as string, by("budi"))).json.result.body).toMatchObject({
      status: "paid",
      bank_reference: "TRF1",
    });
    expect(outcomeOf(await ask("POST", `${path}/return`, by("sari")))).toBe("409 SETTLEMENT_CLOSED");
  });

  test("an acquirer is switched off by one, and on again by two", async () => {
    await demand({ enable_acquirer: {} });
    const patch = (body: unknown) => ask("PATCH", "/acquirers/nusantara", { ...by("sari"), body });
    expect((await patch({ enabled: false })).json.enabled).toBe(false);
    expect((await patch({ health: "down" })).status).toBe(200);
    const { uuid } = (await patch({ enabled: true, health: "healthy" })).json.approval;
    expect((await approve(uuid, by("budi"))).json.result.body).toMatchObject({ enabled: true, health: "healthy" });
    // What is no better than now needs nobody else, and does not keep the acquirer on.
    expect((await patch({ health: "healthy" })).status).toBe(200);
    expect((await patch({ enabled: false, health: "healthy" })).json.enabled).toBe(false);
    expect((await patch({ enabled: false, health: "degraded" })).json.health).toBe("degraded");
    // Better than what another process has just stated.
    const database = openDatabase(service.database);
    await database.transaction(async (query) => {
      await query(putAcquirerState("nusantara", { health: "down" }, await nextEpoch(query)));
    });
    await database.end();
    expect((await patch({ health: "degraded" })).status).toBe(202);
  });

  test("routing rules decide when two say so", async () => {
    await demand({ activate_routing: {} });
    const rules = [{ gateway_code: "cendana", priority: 1, weight: 1 }];
    const { version } = (await ask("POST", "/routing/rules", { ...by("sari"), body: { rules } })).json;
    const asked = await ask("POST", `/routing/rules/${version}/activate`, by("sari"));
    expect(asked.status).toBe(202);
    const [newest] = (await ask("GET", "/routing/rules")).json.data;
    expect([newest.version, newest.active]).toEqual([version, false]);
    const { json } = await approve(asked.json.approval.uuid as string, by("budi"));
    expect(json.result.body).toMatchObject({ version, active: true });
  });

  test("rules are rolled back when two say so, and meanwhile those before decide", async () => {
    await demand({});
    const rules = [{ gateway_code: "merapi", priority: 1, weight: 1 }];
    const { version } = (await ask("POST", "/routing/rules", { ...by("sari"), body: { rules } })).json;
    await ask("POST", `/routing/rules/${version}/activate`, by("sari"));
    await demand({ activate_routing: {} });
    const deciding = async (): Promise<unknown> =>
      (await ask("GET", "/routing/activations?limit=1")).json.data[0].version;
    const asked = await ask("POST", "/routing/rules/1/roll-back", { ...by("sari"), body: { note: "Merapi is slow" } });
    expect(asked.status, asked.text).toBe(202);
    askedSchema.parse(asked.json);
    expect(asked.json.approval).toMatchObject({
      action: "activate_routing",
      status: "waiting",
      summary: expect.stringMatching(
        new RegExp(`^Let the \\d+ rules of version 1 decide again, as a new version; now it is version ${version}$`),
      ),
    });
    expect(await deciding()).toBe(version);
    const uuid = asked.json.approval.uuid as string;
    // Neither whoever asked, nor a role that may not roll back.
    for (const name of ["sari", "sita"]) expect((await approve(uuid, by(name))).status).toBe(403);
    expect(await deciding()).toBe(version);
    const { json } = await approve(uuid, by("budi"));
    expect(json).toMatchObject({ status: "executed", decided_by: "budi" });
    expect(json.result).toMatchObject({
      status: 201,
      body: { restores: 1, active: true, note: "Merapi is slow", activated_by: "sari" },
    });
    expect(await deciding()).toBe(json.result.body.version);
    // Once: approved again nothing is rolled back a second time.
    expect(outcomeOf(await approve(uuid, by("wati")))).toBe("409 APPROVAL_CLOSED");
    expect(await deciding()).toBe(json.result.body.version);
    // A version that there is not is refused when it is asked for, and nobody has to look at it.
    expect(outcomeOf(await ask("POST", "/routing/rules/999999/roll-back", { ...by("sari"), body: {} }))).toBe(
      "404 OBJECT_NOT_FOUND",
    );
  });
});

describe("a process that stops in the middle of an approved change", () => {
  beforeEach(() => demand({ refund_payment: {}, activate_routing: {} }));

  /** As if the process had decided, done `what`, and said nothing more. */
  async function stoppedAfter(uuid: string, attempts = 1): Promise<void> {
    await asOwner(service.database, async (owner) => {
      await owner.query("alter table operator_approvals disable trigger operator_approvals_decided_once");
      await owner.query(
        `update operator_approvals
set status = 'executing', decided_kind = 'token', decided_id = 'x', decided_by = 'budi', decided_made_at = asked_at - interval '1 day',
  decided_at = coalesce(decided_at, clock_timestamp()), run_id = gen_random_uuid(), attempts = $2,
  leased_until = clock_timestamp() - interval '1 second', answer_status = null, answer = null, ended_at = null
where approval_id = $1`,
        [uuidOf(uuid), attempts],
      );
      await owner.query("alter table operator_approvals enable trigger operator_approvals_decided_once");
    });
  }
  const read = async (uuid: string): Promise<Answer["json"]> => (await ask("GET", `/approvals/${uuid}`)).json;

  test("before its effect: it happens, once", async () => {
    const { client, reference, uuid } = await waiting();
    await stoppedAfter(uuid);
    expect((await read(uuid)).status).toBe("executing");
    await Promise.all([service.app.sweepOperators(), service.app.sweepOperators()]);
    expect(await read(uuid)).toMatchObject({ status: "executed", result: { status: 201 } });
    expect(await refunded(client, reference)).toBe(AMOUNT);
  });

  /** Runs a change in a process of its own, which has these endpoints. */
  async function runElsewhere(change: Approval, endpoints: readonly OperatorEndpoint[]): Promise<void> {
    const database = openDatabase(service.database);
    const log = createLog("silent");
    const runs = new ApprovalRuns({ database, audit: new Audit(database, systemClock), clock: systemClock, log });
    runs.serve(endpoints);
    await runs.run(change);
    await database.end();
  }
  /** The change as it stands; `takenUp`: after another attempt has begun. */
  async function standing(uuid: string, { takenUp = false } = {}): Promise<Approval> {
    const database = openDatabase(service.database);
    if (takenUp) await database.query(takeUpExecuting(10));
    const found = await database.first(selectApproval(uuid), approvalOfRow);
    await database.end();
    return found ?? expect.unreachable();
  }
  const leaseEnds = (uuid: string): Promise<unknown> =>
    asOwner(service.database, (owner) =>
      owner.query("update operator_approvals set leased_until = clock_timestamp() where approval_id = $1", [
        uuidOf(uuid),
      ]),
    );

  test("and wakes when another has taken it up: what it is refused by then is no outcome", async () => {
    const { client, reference, uuid } = await waiting();
    await stoppedAfter(uuid);
    const first = await standing(uuid);
    await standing(uuid, { takenUp: true });
    const made = (): Promise<never> => Promise.reject(new Fault("PAYMENT_NOT_PAYABLE"));
    const approval = { action: "refund_payment", foresee: made } as const;
    const endpoints = operatorPaymentEndpoints({} as never).map((one) => ({ ...one, approval, handle: made }));
    await runElsewhere(first, endpoints);
    expect((await read(uuid)).status).toBe("executing");
    // The other one stops too, and the next one finds out.
    await leaseEnds(uuid);
    await service.app.sweepOperators();
    expect(await read(uuid)).toMatchObject({ status: "executed", result: { status: 201 } });
    expect(await refunded(client, reference)).toBe(AMOUNT);
  });

  test("after its effect, and is followed by one that does not know the operation: that tells nothing", async () => {
    const { client, reference, uuid } = await waiting();
    await approve(uuid, by("budi"));
    await stoppedAfter(uuid);
    await runElsewhere(await standing(uuid, { takenUp: true }), []);
    expect((await read(uuid)).status).toBe("executing");
    await leaseEnds(uuid);
    await service.app.sweepOperators();
    expect(await read(uuid)).toMatchObject({ status: "executed", result: { status: 200 } });
    expect(await refunded(client, reference)).toBe(AMOUNT);
  });

  test("and one that cannot be read holds up none that came after it, and is unknown in the end", async () => {
    const [unread, other, last] = [await waiting(), await waiting(), await waiting()];
    await stoppedAfter(unread.uuid);
    const becomes = (statement: string): Promise<void> =>
      asOwner(service.database, async (owner) => {
        await owner.query("alter table operator_approvals disable trigger operator_approvals_decided_once");
        await owner.query(`update operator_approvals set ${statement} where approval_id = $1`, [uuidOf(unread.uuid)]);
        await owner.query("alter table operator_approvals enable trigger operator_approvals_decided_once");
      });
    await becomes("body = '{', body_digest = sha256('{')");
    // Written last, it is taken up last.
    await stoppedAfter(other.uuid);
    await expect(service.app.sweepOperators()).rejects.toThrow("JSON");
    expect(await read(other.uuid)).toMatchObject({ status: "executed", result: { status: 201 } });
    // As often as the database counts.
    await becomes("attempts = 100, leased_until = clock_timestamp()");
    await stoppedAfter(last.uuid);
    await service.app.sweepOperators();
    expect(await read(last.uuid)).toMatchObject({ status: "executed", result: { status: 201 } });
    await becomes("body = '{}', body_digest = sha256('{}')");
    expect((await read(unread.uuid)).status).toBe("unknown");
  });

  test("and finds more left of the payment afterwards: it moves what was approved", async () => {
    const { client } = shop;
    const reference = await paid(client, { metadata: { "sandbox.scenario": "slow" } });
    const under = await client.post("/v1/refunds", { payment_reference: reference, amount_minor: AMOUNT - 10_000 });
    const { uuid } = (await refund(reference, by("sari"))).json.approval as { uuid: string };
    await stoppedAfter(uuid);
    await client.post(`/v1/sandbox/refunds/${under.json.uuid}/simulate`, { outcome: "failed" });
    await service.app.sweepOperators();
    expect(await read(uuid)).toMatchObject({
      status: "executed",
      result: { status: 201, body: { amount_minor: 10_000 } },
    });
  });

  test("before a dispute is recorded or decided: the amount and the answer are those that were approved", async () => {
    await demand({ resolve_dispute: {} });
    const { client, merchantId } = shop;
    const reference = await paid(client, { metadata: { "sandbox.scenario": "slow" } });
    const under = await client.post("/v1/refunds", { payment_reference: reference, amount_minor: AMOUNT - 10_000 });
    const path = `/merchants/${merchantId}/books/sandbox/disputes`;
    const body = { payment_reference: reference, reason: "general" };
    const recording = (await ask("POST", path, { ...by("sari"), body })).json.approval;
    expect(recording.amount_minor).toBe(10_000);
    await stoppedAfter(recording.uuid as string);
    await client.post(`/v1/sandbox/refunds/${under.json.uuid}/simulate`, { outcome: "failed" });
    await service.app.sweepOperators();
    const recorded = await read(recording.uuid as string);
    expect(recorded).toMatchObject({ status: "executed", result: { status: 201, body: { amount_minor: 10_000 } } });
    const dispute = `${path}/${recorded.result.body.uuid as string}`;
    const { uuid } = (await ask("POST", `${dispute}/resolve`, { ...by("sari"), body: { outcome: "lost" } })).json
      .approval as { uuid: string };
    await stoppedAfter(uuid);
    await ask("POST", `${dispute}/evidence`, { body: { statement: "Sent on Monday", files: [] } });
    await service.app.sweepOperators();
    expect(await read(uuid)).toMatchObject({
      status: "failed",
      result: { body: { error: { code: "APPROVAL_CLOSED" } } },
    });
  });

  test("after its effect: it is found by its key, and does not happen again", async () => {
    const { client, reference, uuid } = await waiting();
    const { result } = (await approve(uuid, by("budi"))).json;
    await stoppedAfter(uuid);
    await service.app.sweepOperators();
    const after = await read(uuid);
    expect([after.status, after.result.body.uuid]).toEqual(["executed", result.body.uuid]);
    expect((await client.get(`/v1/refunds?payment_reference=${reference}`)).json.data).toHaveLength(1);
  });

  test("nor when the sandbox's clock has outrun the key: the refund is the approval's own", async () => {
    const { client, reference } = await sold();
    const body = { amount_minor: AMOUNT / 4, reason: "A quarter" };
    const { uuid } = (await refund(reference, { ...by("sari"), body })).json.approval as { uuid: string };
    const { result } = (await approve(uuid, by("budi"))).json;
    await client.post("/v1/sandbox/clock/advance", { seconds: 73 * 3_600 });
    await stoppedAfter(uuid);
    await service.app.sweepOperators();
    const after = await read(uuid);
    expect([after.status, after.result.body.uuid]).toEqual(["executed", result.body.uuid]);
    expect(await refunded(client, reference)).toBe(AMOUNT / 4);
  });

  test("a setting that was not made is not made late: nobody knows what has been decided since", async () => {
    const rules = [{ gateway_code: "cendana", priority: 1, weight: 1 }];
    const { version } = (await ask("POST", "/routing/rules", { ...by("sari"), body: { rules } })).json;
    const { uuid } = (await ask("POST", `/routing/rules/${version}/activate`, by("sari"))).json.approval;
    await stoppedAfter(uuid);
    await service.app.sweepOperators();
    expect((await read(uuid)).status).toBe("unknown");
    expect((await ask("GET", `/routing/rules/${version}`)).json.active).toBe(false);
  });

  test("nor is a policy taken for set because the same operator has set another one since", async () => {
    const { version } = await policy();
    const put = (actions: object) => ask("PUT", "/approvals/policy", { ...by("sari"), body: { version, actions } });
    const { uuid } = (await put({})).json.approval;
    await stoppedAfter(uuid);
    const stricter = { activate_routing: {}, record_payout: {}, refund_payment: {} };
    expect((await put(stricter)).json).toMatchObject({ version: version + 1, changed_by: "sari" });
    await service.app.sweepOperators();
    expect(await read(uuid)).toMatchObject({ status: "unknown", result: null });
    expect(Object.keys((await policy()).actions as object).toSorted()).toEqual(Object.keys(stricter));
  });

  test("it is given up as unknown after ten attempts, never as failed", async () => {
    const { client, reference, uuid } = await waiting();
    await stoppedAfter(uuid, 10);
    await service.app.sweepOperators();
    expect(await read(uuid)).toMatchObject({ status: "unknown", result: null });
    expect(await refunded(client, reference)).toBe(0);
  });

  test("it is given up as unknown a day after the decision, and is found out before that", async () => {
    const ages = { 25: "unknown", 23: "executed" };
    for (const [hours, status] of Object.entries(ages)) {
      const { client, reference, uuid } = await waiting();
      await stoppedAfter(uuid);
      await asOwner(service.database, async (owner) => {
        await owner.query("set session_replication_role = replica");
        await owner.query(
          "update operator_approvals set decided_at = decided_at - make_interval(hours => $2) where approval_id = $1",
          [uuidOf(uuid), Number(hours)],
        );
      });
      await service.app.sweepOperators();
      expect((await read(uuid)).status, hours).toBe(status);
      expect(await refunded(client, reference)).toBe(status === "executed" ? AMOUNT : 0);
    }
  });
});

describe("the database itself", () => {
  beforeEach(() => demand({ refund_payment: {} }));
  const decided = `status = 'executing', decided_kind = asked_kind, decided_by = 'budi', decided_at = now(), run_id = gen_random_uuid(),
  leased_until = now(), decided_made_at = asked_at - interval '1 day'`;

  test.each<[string, string, RegExp]>([
    ["that the asker approves", `${decided}, decided_id = asked_id`, /operator_approvals_two/],
    [
      "an approver of the asker's name",
      `${decided.replace("'budi'", "upper(asked_by)")}, decided_id = 'y'`,
      /operator_approvals_two/,
    ],
    [
      "an approver who came later",
      `${decided.replace("- interval '1 day'", "")}, decided_id = 'y'`,
      /operator_approvals_two/,
    ],
    ["another body", "body = 'x', body_digest = sha256('x')", /never changes/],
    ["another body under the old digest", "body = 'x'", /never changes|operator_approvals_digest/],
    ["another amount", "amount_minor = 1", /never changes/],
    ["another asker", "asked_by = 'budi'", /never changes/],
    ["an effect without a decision", "status = 'executed', answer_status = 201", /decided once|operator_approvals_two/],
  ])("refuses %s", async (_what, change, message) => {
    const { uuid } = await waiting();
    await asOwner(service.database, async (owner) => {
      await expect(
        owner.query(`update operator_approvals set ${change} where approval_id = $1`, [uuidOf(uuid)]),
      ).rejects.toThrow(message);
    });
  });

  test("refuses a second decision, and to forget one", async () => {
    const { uuid } = await waiting();
    await ask("POST", `/approvals/${uuid}/refuse`, { ...by("budi"), body: {} });
    await asOwner(service.database, async (owner) => {
      for (const sql of [
        `update operator_approvals set status = 'waiting', decided_id = null, decided_at = null where approval_id = $1`,
        `update operator_approvals set note = 'other' where approval_id = $1`,
        `delete from operator_approvals where approval_id = $1`,
      ])
        await expect(owner.query(sql, [uuidOf(uuid)]), sql).rejects.toThrow();
      await expect(owner.query("update operator_approval_policies set rules = '{}'")).rejects.toThrow();
    });
  });
});

test("the list pages, newest first, and knows its cursors and filters", async () => {
  await demand({ refund_payment: {} });
  const { reference } = await sold();
  const made: string[] = [];
  for (const amount_minor of [1, 2, 3]) {
    const { json } = await refund(reference, { ...by("sari"), body: { amount_minor, reason: "x" } });
    made.unshift(json.approval.uuid as string);
  }
  const list = async (query: string) => (await ask("GET", `/approvals?payment_reference=${reference}${query}`)).json;
  const first = await list("&limit=2");
  expect([first.data.map((one: { uuid: string }) => one.uuid), first.next_cursor]).toEqual([made.slice(0, 2), made[1]]);
  expect((await list(`&limit=2&starting_after=${made[1]}`)).data[0].uuid).toBe(made[2]);
  for (const [query, expected] of [
    ["status=maybe", "status"],
    ["payment_reference=x", "payment_reference"],
    [`starting_after=apr_${"0".repeat(26)}`, "starting_after"],
  ])
    expect(outcomeOf(await ask("GET", `/approvals?${query}`))).toBe(`422 VALIDATION_ERROR ${expected}`);
  expect(outcomeOf(await ask("GET", "/approvals/apr_1"))).toBe("404 OBJECT_NOT_FOUND");
  expect(outcomeOf(await approve(`apr_${"0".repeat(26)}`, by("budi")))).toBe("404 OBJECT_NOT_FOUND");
});
