// Goal: one key, one effect, one answer (section 4.11 of the interface). Method: the pure command around commands that decide something,
// by table, and by property beside a plain model of keys.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NOW, type Then, given, row } from "../../test/given.ts";
import { aRecord, anIntent, deciding, under } from "../../test/intents.ts";
import { SECOND } from "../ground/clock.ts";
import { sha256 } from "../ground/crypto.ts";
import { Fault, type FaultCode, faultCodes } from "../ground/fault.ts";
import type { Reply } from "../ground/reply.ts";
import { otherBook } from "../merchants/books.ts";
import { payments } from "../payments/payments.sql.ts";
import { need } from "../store/working-set.ts";
import { clientAudit } from "./client-audit.sql.ts";
import { checkKey, completeKey, openRecord, refuseUnlessRecorded } from "./idempotency.ts";
import { type KeyRecord, keyRecords, openKeys } from "./idempotency.sql.ts";

const HOURS_72 = 72 * 3600 * SECOND;
const success: Reply = { status: 201, body: `{"reference":"pay_1"}` };

test("a new key runs its command, and keeps the answer with what it is bound to", () => {
  const intent = anIntent();
  given({ offsetSeconds: 100 })
    .when(under(intent, deciding(success)))
    .then((changes, reply) => {
      expect(reply).toEqual(success);
      expect(changes.inserted(payments)).toHaveLength(1);
      const { book, key, endpoint, bodyDigest } = intent;
      const firstSeenAt = NOW + 100 * SECOND;
      const answer = { status: 201, response: success.body };
      expect(changes.inserted(keyRecords)).toEqual([{ book, key, endpoint, bodyDigest, firstSeenAt, ...answer }]);
    });
});

test.each([
  [200, 200],
  [201, 200],
  [202, 202],
  [403, 403],
  [404, 404],
  [409, 409],
  [422, 422],
])("an answer of %i is replayed with %i, byte for byte, and nothing runs", (status, replayed) => {
  const never = deciding(success);
  given({ rows: [aRecord({ status, response: `{"a": 1}` })] })
    .when(under(anIntent({ requestId: "req_2" }), never))
    .then((changes, reply) => {
      expect(reply).toEqual({ status: replayed, body: `{"a": 1}`, replayed: true });
      expect([changes.isNothing, never.ran]).toEqual([true, 0]);
    });
});

test.each<[string, Reply | Fault, string | undefined]>([
  ["the object of the answer", { status: 201, body: "{}", subject: { id: "pay_2", status: "pending" } }, "pay_2"],
  ["the object of the path where the answer shows none", { status: 200, body: "{}" }, "pay_1"],
  [
    "the object of a refusal that keeps its changes",
    new Fault("PAYMENT_NOT_CANCELABLE", { keepsChanges: true }),
    "pay_1",
  ],
  ["nothing of a refusal that changed nothing", new Fault("PAYMENT_NOT_CANCELABLE"), undefined],
])("the audit of keys has %s", (_what, decision, subject) => {
  const signed = { clientId: "ak_test_1", address: "127.0.0.1", action: "cancel_payment", named: "pay_1" };
  given()
    .when(under(anIntent({ signed }), deciding(decision)))
    .then((changes) => {
      const kept = changes.inserted(clientAudit).map((change) => change.subject);
      expect(kept).toEqual(subject === undefined ? [] : [subject]);
    });
});

describe("the same key for something else conflicts", () => {
  const details = { idempotency_key: "key-of-order-1", first_seen_at: "2027-01-15T08:00:00Z" };
  test.each<[string, Parameters<typeof anIntent>[0]]>([
    ["another body", { body: "{} " }],
    ["no body", { body: "" }],
    ["another endpoint", { endpoint: "POST /v1/refunds" }],
    ["another object", { endpoint: "POST /v1/payments 1f" }],
    ["another method", { endpoint: "PUT /v1/payments" }],
    ["both", { endpoint: "POST /v1/refunds", body: "[]" }],
  ])("%s", (_name, changes) => {
    for (const record of [
      {},
      { status: 422 },
      { status: undefined, response: undefined },
    ] satisfies Partial<KeyRecord>[]) {
      const never = deciding(success);
      given({ rows: [aRecord(record)] })
        .when(under(anIntent(changes), never))
        .refuses("IDEMPOTENCY_CONFLICT", details);
      expect(never.ran).toBe(0);
    }
  });

  test("but one of the other environment is another key", () => {
    const elsewhere = aRecord({ book: otherBook(anIntent().book) });
    expect(given({ rows: [elsewhere] }).when(under(anIntent({ body: "[]" }), deciding(success))).answer).toEqual(
      success,
    );
  });
});

test("while the first runs the second is told so", () => {
  const never = deciding(success);
  given({ rows: [aRecord({ status: undefined, response: undefined })] })
    .when(under(anIntent(), never))
    .refuses("IDEMPOTENCY_IN_PROGRESS");
  expect(never.ran).toBe(0);
});

test.each([
  ["first seen just now", 0, true],
  ["a microsecond before 72 hours", HOURS_72 - 1, true],
  ["72 hours", HOURS_72, false],
  ["a week", 7 * 24 * 3600 * SECOND, false],
])("%s: the key is kept for 72 hours of the book's clock", (_age, age, kept) => {
  const offsetSeconds = 36 * 3600;
  const firstSeenAt = NOW + offsetSeconds * SECOND - age;
  const inner = deciding(success);
  const again = given({ rows: [aRecord({ firstSeenAt })], offsetSeconds }).when(under(anIntent(), inner));
  expect(again.answer).toEqual(kept ? { status: 200, body: `{"first":true}`, replayed: true } : success);
  expect(inner.ran).toBe(kept ? 0 : 1);
  const renewed = { firstSeenAt: NOW + offsetSeconds * SECOND, status: 201, response: success.body };
  if (!kept) expect(again.changes.updated(keyRecords)).toMatchObject([renewed]);
  // A replay does not prolong it.
  else expect(again.changes.updated(keyRecords)).toEqual([]);
});

test("a key that is forgotten may stand for anything, also when its first request never ended", () => {
  const stale = { status: undefined, response: undefined, firstSeenAt: NOW - HOURS_72 };
  const intent = anIntent({ endpoint: "POST /v1/refunds", body: "[]" });
  given({ rows: [aRecord(stale)] })
    .when(under(intent, deciding(success)))
    .then((changes, reply) => {
      expect(reply).toEqual(success);
      const { endpoint, bodyDigest } = intent;
      expect(changes.updated(keyRecords)).toMatchObject([{ endpoint, bodyDigest, firstSeenAt: NOW }]);
    });
});

/** Decisions of the business. Everything else is authentication, format, fields, rate, or a failure that may pass. */
const decisions: readonly FaultCode[] = [
  "ENVIRONMENT_MISMATCH",
  "CURRENCY_MISMATCH",
  "REFERENCE_ID_DUPLICATE",
  "PAYMENT_NOT_FOUND",
  "REFUND_NOT_FOUND",
  "OBJECT_NOT_FOUND",
  "PAYMENT_NOT_CANCELABLE",
  "PAYMENT_NOT_REFUNDABLE",
  "PAYMENT_NOT_PAYABLE",
  "DISPUTE_RESOLVED",
  "SETTLEMENT_CLOSED",
  "REFUND_EXCEEDS_PAYMENT",
  "PAYMENT_EXPIRED",
  "DISPUTE_LOCKED",
  "INSUFFICIENT_FUNDS",
  "WALLET_NOT_FOUND",
  "WALLET_FROZEN",
  "RISK_REJECTED",
  "RISK_REVIEW",
];

describe.each(faultCodes)("a refusal with %s", (code) => {
  const stored = decisions.includes(code);
  const fault = (keepsChanges: boolean): Fault => new Fault(code, { details: { why: "because" }, keepsChanges });

  test(`is ${stored ? "kept under its key, and nothing else of it" : "not kept: the key is free"}`, () => {
    const intent = anIntent();
    const refused = given().when(under(intent, deciding(fault(false))));
    if (!stored) {
      refused.refuses(code, { why: "because" });
      expect(refused.when(under(intent, deciding(success))).answer).toEqual(success);
      return;
    }
    refused.then((changes, reply) => {
      expect(reply.status).toBe(new Fault(code).status);
      const { error } = JSON.parse(reply.body) as { error: object };
      expect(error).toMatchObject({ code, request_id: "req_1", details: { why: "because" } });
      expect(changes.inserted(payments)).toEqual([]);
      expect(changes.inserted(keyRecords)).toMatchObject([{ status: reply.status, response: reply.body }]);
      const again = refused.when(under(anIntent({ requestId: "req_2" }), deciding(success))).answer;
      expect(again).toEqual({ ...reply, replayed: true });
    });
  });

  test("keeps what it says that it keeps", () => {
    const refused = given().when(under(anIntent(), deciding(fault(true))));
    if (!stored) refused.refuses(code, undefined, true);
    expect(refused.changes.inserted(payments)).toHaveLength(1);
    expect(refused.changes.inserted(keyRecords)).toHaveLength(stored ? 1 : 0);
  });
});

test("an error that is no answer is not kept", () => {
  expect(() => given().when(under(anIntent(), deciding(new Error("a defect") as Fault)))).toThrow("a defect");
});

describe("a command that goes on after its commit", () => {
  const goesOn: Reply = { status: 201, body: "", continues: () => Promise.reject(new Error("nobody goes on")) };
  const record = (first: Then<Reply>): KeyRecord => first.changes.inserted(keyRecords)[0] as KeyRecord;

  test("keeps its key in progress, in its own batch too", () => {
    const first = given().when(under(anIntent(), deciding(goesOn)));
    expect(first.answer).toEqual(goesOn);
    expect(record(first)).toMatchObject({ status: undefined, response: undefined, firstSeenAt: NOW });
    first.when(under(anIntent(), deciding(success))).refuses("IDEMPOTENCY_IN_PROGRESS", undefined, true);
    first.when(under(anIntent({ body: "[]" }), deciding(success))).refuses("IDEMPOTENCY_CONFLICT", undefined, true);
  });

  const open = { ...anIntent(), firstSeenAt: NOW, status: undefined, response: undefined };
  const { book, key } = open;
  const complete = (rows: Partial<KeyRecord>[], kept: { key?: string | undefined; firstSeenAt?: number }, now = NOW) =>
    given({ rows: rows.map((changes) => row(openKeys, { ...open, ...changes })) }).when({
      name: "complete",
      book,
      needs: [need(openKeys, { book, key })],
      execute: (set) => {
        const name = { book, key, firstSeenAt: NOW, ...kept };
        const found = openRecord(set, name, now) !== undefined;
        completeKey(set, name, { status: 422, body: "late" }, now);
        return found;
      },
    });

  test.each<
    [string, Partial<KeyRecord>[], { key?: string | undefined; firstSeenAt?: number }, number, boolean, boolean]
  >([
    ["gets its answer later", [{}], {}, NOW, true, true],
    ["is forgotten by then", [{}], {}, NOW + HOURS_72, false, false],
    ["is just not forgotten", [{}], {}, NOW + HOURS_72 - 1, true, true],
    ["stands for another request by then", [{ firstSeenAt: NOW + 1 }], {}, NOW, false, false],
    ["has its answer already", [{ status: 201, response: "first" }], {}, NOW, true, false],
    ["is gone", [], {}, NOW, false, false],
    ["was none", [{}], { key: undefined }, NOW, false, false],
  ])("its key %s", (_name, rows, kept, now, found, answered) => {
    complete(rows, kept, now).then((changes, wasFound) => {
      expect(wasFound).toBe(found);
      const answer = { ...open, status: 422, response: "late" };
      expect(changes.updated(openKeys)).toEqual(answered ? [answer] : []);
    });
  });
});

describe("two commands of one batch with one key", () => {
  test.each<[string, Reply | Fault, string]>([
    ["a success", success, "200 replayed"],
    ["a review", new Fault("RISK_REVIEW", { keepsChanges: true }), "202 replayed"],
    ["a refusal that is a decision", new Fault("PAYMENT_NOT_FOUND"), "404 replayed"],
    ["a refusal that is none", new Fault("NO_ROUTE_AVAILABLE"), "201"],
  ])("after %s the second gets its answer", (_name, decision, expected) => {
    const second = deciding(success);
    const first = given().when(under(anIntent(), deciding(decision)));
    const { status, replayed } = first.when(under(anIntent(), second)).answer;
    expect([status, replayed && "replayed"].filter(Boolean).join(" ")).toBe(expected);
    expect(second.ran).toBe(expected === "201" ? 1 : 0);
  });

  test("with another body the second conflicts, and leaves the first as it is", () => {
    const first = given().when(under(anIntent(), deciding(success)));
    first.when(under(anIntent({ body: "[]" }), deciding(success))).refuses("IDEMPOTENCY_CONFLICT", undefined, true);
    expect(first.changes.inserted(keyRecords)).toMatchObject([{ bodyDigest: sha256("{}") }]);
  });

  test("both renewing one that is forgotten: the second sees the first", () => {
    const first = given({ rows: [aRecord({ firstSeenAt: NOW - HOURS_72 })] }).when(
      under(anIntent(), deciding(success)),
    );
    expect(first.when(under(anIntent(), deciding(success))).answer).toMatchObject({ status: 200, replayed: true });
    expect(first.changes.updated(keyRecords)).toHaveLength(1);
  });
});

describe("a request that breaks a field rule", () => {
  const fault = new Fault("VALIDATION_ERROR", { details: { field: "amount_minor" } });
  const refusing = (changes: Parameters<typeof anIntent>[0] = {}): ReturnType<typeof refuseUnlessRecorded> =>
    refuseUnlessRecorded(anIntent(changes), fault);

  test.each<[string, Partial<KeyRecord> | undefined, FaultCode]>([
    ["a new key", undefined, "VALIDATION_ERROR"],
    ["a key that is forgotten", { firstSeenAt: NOW - HOURS_72 }, "VALIDATION_ERROR"],
    ["a key of another body", { bodyDigest: sha256("[]") }, "IDEMPOTENCY_CONFLICT"],
    ["a key of another endpoint", { endpoint: "POST /v1/refunds" }, "IDEMPOTENCY_CONFLICT"],
    ["a key in progress", { status: undefined, response: undefined }, "IDEMPOTENCY_IN_PROGRESS"],
  ])("under %s is refused, and stores nothing", (_name, record, code) => {
    given({ rows: record ? [aRecord(record)] : [] })
      .when(refusing())
      .refuses(code);
  });

  test("under a key that has its answer gets that answer", () => {
    expect(given({ rows: [aRecord()] }).when(refusing()).answer).toMatchObject({ status: 200, replayed: true });
  });
});

test.each<[string, string[] | undefined, FaultCode | "good"]>([
  ["none", undefined, "IDEMPOTENCY_KEY_REQUIRED"],
  ["no value", [], "IDEMPOTENCY_KEY_INVALID"],
  ["an empty one", [""], "IDEMPOTENCY_KEY_INVALID"],
  ["7 characters", ["1234567"], "IDEMPOTENCY_KEY_INVALID"],
  ["8 characters", ["12345678"], "good"],
  ["255 characters", ["k".repeat(255)], "good"],
  ["256 characters", ["k".repeat(256)], "IDEMPOTENCY_KEY_INVALID"],
  ["beyond ASCII", ["caf\u00e9-caf\u00e9"], "IDEMPOTENCY_KEY_INVALID"],
  ["every sign that ASCII has", ["!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ \t azAZ09"], "good"],
  ["two, the same", ["a-key-twice", "a-key-twice"], "IDEMPOTENCY_KEY_INVALID"],
  ["two, not the same", ["a-key-of-two", "another-of-two"], "IDEMPOTENCY_KEY_INVALID"],
])("Idempotency-Key: %s", (_name, sent, expected) => {
  const check = (): string => checkKey(sent);
  if (expected === "good") expect(check()).toBe(sent?.[0]);
  else expect(check).toThrow(expect.objectContaining({ code: expected }));
});

test("whatever comes in whatever order, a key answers as a plain model of it says", () => {
  const replies: Record<string, Reply | Fault> = {
    "201": success,
    "404": new Fault("PAYMENT_NOT_FOUND"),
    "202": new Fault("RISK_REVIEW", { keepsChanges: true }),
    NO_ROUTE_AVAILABLE: new Fault("NO_ROUTE_AVAILABLE"),
    "in progress": { status: 201, body: "", continues: () => Promise.reject(new Error("nobody goes on")) },
  };
  const request = fc.record({
    key: fc.constantFrom("key-number-1", "key-number-2"),
    body: fc.constantFrom("{}", "[]"),
    decision: fc.constantFrom(...Object.keys(replies)),
    hours: fc.constantFrom(0, 0, 0, 1, 36, 72),
  });
  fc.assert(
    fc.property(fc.array(request, { maxLength: 15 }), (requests) => {
      const model = new Map<string, { body: string; decision: string; hour: number }>();
      let [hour, ran, expected] = [0, 0, 0];
      let last: Then<unknown> = given().when(refuseUnlessRecorded(anIntent(), new Fault("VALIDATION_ERROR")));
      for (const { key, body, decision, hours } of requests) {
        hour += hours;
        // It writes nothing: a set has no place for two payments of one name.
        const execute = (): Reply => (ran++, outcomeOf(replies[decision]));
        const inner = { ...deciding(success), execute };
        const done = last.when(under(anIntent({ key, body }), inner), NOW + hour * 3600 * SECOND);
        const record = model.get(key);
        const kept = record && hour - record.hour < 72 ? record : undefined;
        const { outcome } = done;
        const told = "fault" in outcome ? outcome.fault.code : `${outcome.answer.status}`;
        if (kept && kept.body !== body) expect(told).toBe("IDEMPOTENCY_CONFLICT");
        else if (kept?.decision === "in progress") expect(told).toBe("IDEMPOTENCY_IN_PROGRESS");
        else if (kept) expect(told).toBe(kept.decision === "201" ? "200" : kept.decision);
        else {
          expected++;
          expect(told).toBe(decision === "in progress" ? "201" : decision);
          if (decision !== "NO_ROUTE_AVAILABLE") model.set(key, { body, decision, hour });
        }
        expect(ran).toBe(expected);
        last = done;
      }
    }),
  );
});

function outcomeOf(decision: Reply | Fault | undefined): Reply {
  if (decision === undefined) expect.unreachable();
  if (decision instanceof Fault) throw decision;
  return decision;
}
