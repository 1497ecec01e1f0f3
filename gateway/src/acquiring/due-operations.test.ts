// Goal: a sandbox's clock moves on although an acquirer answers nothing. Method: due operations in a real database, and calls that take longer
// than the time until the next inquiry, by a clock of the test's own.
import { expect, onTestFinished, test } from "vitest";
import { asOwner, cloneDatabase, openDatabase } from "../../test/kit.ts";
import { SECOND, sqlTime } from "../ground/clock.ts";
import { idOf, uuidOf } from "../ground/ids.ts";
import { type DueParts, performDue } from "./operation-worker.ts";
import type { Operation } from "./operation.ts";

test("each operation that is due is carried on once, also when it is due again before the last of them was", async () => {
  const place = await cloneDatabase();
  const database = openDatabase(place);
  onTestFinished(() => database.end());
  let now = Date.parse("2026-11-23T00:00:00Z") * 1_000;
  const merchant = "01900000-0000-7000-8000-000000000001";
  await asOwner(place, async (owner) => {
    await owner.query("set session_replication_role = replica"); // no triggers and no foreign keys
    await owner.query(
      `insert into acquirer_operations (merchant_id, environment, operation_id, kind, payment_id, step, gateway_code, attempt, round, created_at, due_at)
select $1::uuid, 'sandbox', id, 'payment', id, 'inquiring', 'kawah', 1, 0, $2, $2
from (select gen_random_uuid() as id from generate_series(1, 40)) made`,
      [merchant, sqlTime(now)],
    );
  });
  const carried: string[] = [];
  const perform = async ({ id }: Operation): Promise<void> => {
    carried.push(id);
    now += SECOND;
    if (carried.length > 200) return; // its lease has not ended: nothing is due any more
    await asOwner(place, (owner) =>
      owner.query("update acquirer_operations set due_at = $2 where operation_id = $1::uuid", [
        uuidOf(id),
        sqlTime(now + SECOND),
      ]),
    );
  };
  const parts = { database, clock: { now: () => now }, paymentOperations: { perform } } as unknown as DueParts;
  await performDue(parts, { merchantId: idOf("merchant", merchant), environment: "sandbox" });
  expect(carried.length).toBe(40);
  expect(new Set(carried).size).toBe(40);
});
