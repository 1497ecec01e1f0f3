// Goal: however many inquiries are due at an acquirer, a refund and a planned payment find room there, and other acquirers do not notice.
// Method: the worker's own bookkeeping before a table of due operations that it claims from; calls end when the test says.
import { expect, test } from "vitest";
import { anOperation, callParts, movableClock } from "../../test/acquiring.ts";
import { NOW, book } from "../../test/given.ts";
import { newId, uuidOf } from "../ground/ids.ts";
import type { Row, Statement } from "../store/database.ts";
import { DueOperations, type DueParts } from "./operation-worker.ts";
import type { Operation, OperationStep } from "./operation.ts";

function rowOf({ id, step, gatewayCode }: Operation): Row {
  return {
    merchant_id: uuidOf(book.merchantId),
    environment: book.environment,
    operation_id: uuidOf(id),
    kind: "payment",
    payment_id: uuidOf(id),
    step,
    gateway_code: gatewayCode,
    attempt: 1,
    round: 0,
    provider_ids: null,
    refused_by: "",
    inquiries: 0,
    idempotency_key: null,
    due_at: NOW,
    created_at: NOW,
  };
}

/** A worker before what is due, and the calls that it has under way. */
function worker() {
  let due: Operation[] = [];
  const underWay: { operation: Operation; end: () => void }[] = [];
  const query = ({ values = [] }: Statement): Promise<Row[]> => {
    const [limit, busy, inquiring] = [values[2] as number, values[5] as string[], values[6] as string[]];
    const claimed = due
      .filter(({ gatewayCode }) => !busy.includes(gatewayCode))
      .filter(({ gatewayCode, step }) => step === "planned" || !inquiring.includes(gatewayCode))
      .slice(0, limit);
    due = due.filter((one) => !claimed.includes(one));
    return Promise.resolve(claimed.map((one) => rowOf(one.step === "planned" ? { ...one, step: "calling" } : one)));
  };
  const perform = (operation: Operation): Promise<void> =>
    new Promise((resolve) => {
      underWay.push({ operation, end: resolve });
    });
  const parts = { ...callParts(movableClock()), database: { query }, paymentOperations: { perform } };
  const operations = new DueOperations(parts as unknown as DueParts);
  return {
    poll: () => operations.poll(),
    add: (step: OperationStep, gatewayCode: string, count: number): void => {
      for (let one = 0; one < count; one++)
        due.push(anOperation(newId("payment", NOW), { step, gatewayCode, dueAt: NOW }));
    },
    count: (gatewayCode: string, calls: boolean) =>
      underWay.filter(
        ({ operation }) => operation.gatewayCode === gatewayCode && (operation.step === "calling") === calls,
      ).length,
    end: async (count: number): Promise<void> => {
      for (const { end } of underWay.splice(0, count)) end();
      await new Promise(setImmediate);
    },
  };
}

test("a thousand inquiries at one acquirer leave room for what is called there, and for all that others do", async () => {
  const { poll, add, count, end } = worker();
  add("polling", "kawah", 1_000);
  await poll();
  const inquiries = count("kawah", false);
  expect(inquiries).toBeGreaterThan(16);
  expect(inquiries).toBeLessThanOrEqual(32);
  add("planned", "kawah", 10);
  add("inquiring", "lawu", 10);
  await poll();
  expect([count("kawah", true), count("lawu", false)]).toEqual([10, 10]);
  expect(count("kawah", false)).toBe(inquiries);
  // What has ended makes room again.
  await end(inquiries);
  await poll();
  expect(count("kawah", false)).toBeGreaterThan(16);
});

test("no acquirer has more calls under way than its share, whatever is due", async () => {
  const { poll, add, count } = worker();
  add("planned", "kawah", 1_000);
  add("inquiring", "kawah", 1_000);
  for (let round = 0; round < 5; round++) await poll();
  expect(count("kawah", true) + count("kawah", false)).toBeLessThanOrEqual(48);
  expect(count("kawah", true)).toBeGreaterThan(32);
});

test("it stops though its last round hears nothing from the database", async () => {
  const database = { query: () => Promise.reject(new Error("Query read timeout")) };
  const operations = new DueOperations({ ...callParts(movableClock()), database } as unknown as DueParts);
  const round = operations.poll();
  await expect(operations.stop()).resolves.toBeUndefined();
  await expect(round).rejects.toThrow("timeout");
});
