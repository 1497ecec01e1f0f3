// Goal: a write's signature is good once, whatever its request comes to. Method: the pure commands around it, in one batch and with rows of others.
import { expect, test } from "vitest";
import { given } from "../../test/given.ts";
import { aNonce, aRecord, anIntent, deciding, under } from "../../test/intents.ts";
import { consumeOnly } from "../auth/nonces.ts";
import { Fault } from "../ground/fault.ts";
import type { Reply } from "../ground/reply.ts";
import { refuseUnlessRecorded } from "./idempotency.ts";
import { keyRecords } from "./idempotency.sql.ts";

const success: Reply = { status: 201, body: "{}" };
const { nonce, fresh } = aNonce("signature");

test.each<[string, Parameters<typeof aRecord>[0] | undefined, Reply | Fault]>([
  ["a success", undefined, success],
  ["a stored refusal", undefined, new Fault("PAYMENT_NOT_FOUND")],
  ["a refusal that is not stored", undefined, new Fault("NO_ROUTE_AVAILABLE")],
  ["a refusal that keeps its changes", undefined, new Fault("RISK_REJECTED", { keepsChanges: true })],
  ["a replay", {}, success],
  ["a conflict", { endpoint: "POST /v1/refunds" }, success],
  ["a key in progress", { status: undefined, response: undefined }, success],
  ["a key that is forgotten", { firstSeenAt: 0 }, success],
])("it is used up by %s: under no other key is it good again", (_name, record, decision) => {
  const rows = [fresh, ...(record ? [aRecord(record)] : [])];
  const thief = deciding(success);
  const first = given({ rows }).when(under(anIntent({ nonce }), deciding(decision)));
  const kept = first.changes.inserted(keyRecords).length;
  const second = first.when(under(anIntent({ nonce, key: "the-key-of-a-thief" }), thief));
  expect("fault" in second.outcome && second.outcome.fault.code).toBe("SIGNATURE_REPLAYED");
  expect([thief.ran, second.changes.inserted(keyRecords).length]).toEqual([0, kept]);
});

test("one that was used before is refused before the key is looked at", () => {
  for (const rows of [[], [aRecord()], [aRecord({ endpoint: "POST /v1/refunds" })]]) {
    const never = deciding(success);
    given({ rows })
      .when(under(anIntent({ nonce }), never))
      .refuses("SIGNATURE_REPLAYED");
    given({ rows })
      .when(refuseUnlessRecorded(anIntent({ nonce }), new Fault("VALIDATION_ERROR")))
      .refuses("SIGNATURE_REPLAYED");
    expect(never.ran).toBe(0);
  }
});

test("alone it is consumed once", () => {
  const consuming = consumeOnly(anIntent().book, nonce);
  given({ rows: [fresh] })
    .when(consuming)
    .then(() => undefined)
    .when(consuming)
    .refuses("SIGNATURE_REPLAYED");
  given().when(consuming).refuses("SIGNATURE_REPLAYED");
});

test("two of one batch do not disturb each other", () => {
  const other = aNonce("other");
  const first = given({ rows: [fresh, other.fresh] }).when(under(anIntent({ nonce }), deciding(success)));
  expect(first.when(under(anIntent({ nonce: other.nonce }), deciding(success))).answer.replayed).toBe(true);
});

test("it is used up by a request that breaks a field rule", () => {
  given({ rows: [fresh] })
    .when(refuseUnlessRecorded(anIntent({ nonce }), new Fault("VALIDATION_ERROR")))
    .refuses("VALIDATION_ERROR")
    .when(under(anIntent({ nonce }), deciding(success)))
    .refuses("SIGNATURE_REPLAYED");
});
