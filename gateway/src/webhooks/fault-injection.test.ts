// Goal: what is changed on purpose is changed in that way only, and deliveries of other books cost nothing.
// Method: changes by property; a database that counts its queries, and one that is away.
import fc from "fast-check";
import { expect, test } from "vitest";
import { systemClock } from "../ground/clock.ts";
import { newId, uuidOf } from "../ground/ids.ts";
import { createLog } from "../ground/log.ts";
import type { Book } from "../merchants/books.ts";
import { webhookSecret } from "../merchants/directory.ts";
import type { Database, Row, Statement } from "../store/database.ts";
import { FaultInjection, sendWithFaults, planFault, reordered, unheardOf } from "./fault-injection.ts";
import { type InjectedFault, modes } from "./fault-injection.sql.ts";
import type { AttemptResult, OutgoingDelivery } from "./sender.ts";

const now = systemClock.now();
const timing = { faultRefreshMs: 30, reorderMs: 3, delayMs: 5 };
const log = createLog("silent");
const sandbox: Book = { merchantId: newId("merchant", now), environment: "sandbox" };

function deliveryOf(body: string): OutgoingDelivery {
  const secrets = [webhookSecret("whsec_c2VjcmV0")] as const;
  const url = "https://hook.merchant.com/";
  return { url, secrets, eventId: "evt_1", type: "payment.created", body, attempt: 3 };
}

/** Answers with `rows` whatever is asked, and keeps what was asked. */
function database(rows: Row[] | Error): { asked: string[]; database: Database } {
  const asked: string[] = [];
  const query = ({ name = "" }: Statement): Promise<Row[]> => {
    asked.push(name);
    return rows instanceof Error ? Promise.reject(rows) : Promise.resolve(rows);
  };
  return { asked, database: { query } as unknown as Database };
}

const switchedOn = (mode: InjectedFault): Row => ({
  merchant_id: uuidOf(sandbox.merchantId),
  environment: "sandbox",
  mode,
  remaining: null,
});

test("the fields of a body change their order and nothing else, at every depth", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 }), { minKeys: 1 }), (value) => {
      const body = JSON.stringify(value);
      const turned = reordered(deliveryOf(body)).body;
      expect(JSON.parse(turned)).toEqual(JSON.parse(body));
      const names = Object.keys(JSON.parse(body) as object).filter((name) => !/^\d+$/.test(name));
      expect(Object.keys(JSON.parse(turned) as object).filter((name) => !/^\d+$/.test(name))).toEqual(
        names.toReversed(),
      );
      expect(Buffer.byteLength(turned)).toBe(Buffer.byteLength(body));
    }),
  );
});

test("an event of an unknown type is another event with the same data, at its first attempt", () => {
  const delivery = deliveryOf('{"id":"evt_1","type":"payment.created","data":{"amount_minor":9007199254740991}}');
  const unknown = unheardOf(delivery, now);
  expect(unknown).toMatchObject({ url: delivery.url, secrets: delivery.secrets, attempt: 1 });
  expect(unknown.body).toBe(
    `{"id":"${unknown.eventId}","type":"sandbox.unheard_of","data":{"amount_minor":9007199254740991}}`,
  );
});

test("every plan but that of drop sends the delivery once or twice, and waits for five seconds at most", () => {
  const delivery = deliveryOf('{"id":"evt_1"}');
  for (const mode of modes.filter((name) => name !== "none")) {
    const steps = planFault(mode, delivery, now);
    const counted = steps.flatMap((step) => (step.do === "send" && step.counts ? [step.copies] : []));
    expect([mode, counted]).toEqual([mode, mode === "drop" ? [] : [mode === "duplicate" ? 2 : 1]]);
    expect(steps.reduce((sum, step) => sum + (step.do === "wait" ? step.ms : 0), 0)).toBeLessThanOrEqual(5_000);
  }
});

test("while no fault is switched on, one query a second serves all deliveries together, and production needs none", async () => {
  const { asked, database: counting } = database([]);
  const faults = new FaultInjection({ database: counting, clock: systemClock, log, timing });
  const live: Book = { ...sandbox, environment: "production" };
  await Promise.all(Array.from({ length: 100 }, () => faults.take(live)));
  expect(asked).toEqual([]);
  const taken = await Promise.all(
    Array.from({ length: 1_000 }, () => faults.take({ ...sandbox, merchantId: newId("merchant", now) })),
  );
  expect(new Set(taken)).toEqual(new Set([undefined]));
  expect(asked).toEqual(["select active faults"]);
  await new Promise((resolve) => setTimeout(resolve, timing.faultRefreshMs + 20));
  await faults.take(sandbox);
  expect(asked).toHaveLength(2);
});

test("each delivery of a book with a fault takes one, and no other book's does", async () => {
  const { asked, database: counting } = database([switchedOn("drop")]);
  const faults = new FaultInjection({ database: counting, clock: systemClock, log });
  expect(await faults.take({ ...sandbox, merchantId: newId("merchant", now) })).toBeUndefined();
  expect(asked).toEqual(["select active faults"]);
  expect(await faults.take(sandbox)).toBe("drop");
  expect(asked).toEqual(["select active faults", "take fault"]);
});

test("each attempt with a fault says what was done, and keeps the body only where it is not the event's own", async () => {
  const delivery = deliveryOf('{"id":"evt_1","type":"payment.created"}');
  let sent = 0;
  const sender = {
    send(): Promise<AttemptResult> {
      const answered: Partial<AttemptResult> =
        sent++ === 0 ? { status: 200, durationMs: 7 } : { reason: "It hung up." };
      return Promise.resolve(answered as AttemptResult);
    },
  };
  for (const mode of [
    "duplicate",
    "drop",
    "stale_timestamp",
    "wrong_signature",
    "unknown_type",
    "byte_order",
  ] as const) {
    sent = 0;
    const faults = new FaultInjection({ ...database([switchedOn(mode)]), clock: systemClock, log });
    const { note, requestBody } = await sendWithFaults(sender, faults, sandbox, delivery);
    expect(note).toMatch(/^On purpose: /);
    expect(requestBody).toBe(mode === "byte_order" ? '{"type":"payment.created","id":"evt_1"}' : undefined);
    if (mode === "duplicate") expect(note).toMatch(/ The other copy got no answer \(It hung up\)\.$/);
    if (mode === "unknown_type")
      expect(note).toMatch(/ That was evt_\w+, with the same data, and was answered 200 in 7 ms\.$/);
  }
});

test("with the database away a delivery is made as usual", async () => {
  const faults = new FaultInjection({ ...database(new Error("away")), clock: systemClock, log });
  const sent: OutgoingDelivery[] = [];
  const sender = {
    send(delivery: OutgoingDelivery): Promise<AttemptResult> {
      sent.push(delivery);
      return Promise.resolve({ succeeded: true } as AttemptResult);
    },
  };
  const delivery = deliveryOf('{"id":"evt_1"}');
  expect(await sendWithFaults(sender, faults, sandbox, delivery)).toMatchObject({ succeeded: true });
  expect(sent).toEqual([delivery]);
});
