// Goal: observations about previous secrets are written by several processes at once. Method: a row that another transaction holds.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestService, asOwner, openDatabase, startService, waitingForLocks } from "../../test/kit.ts";
import { systemClock } from "../ground/clock.ts";
import { uuidOf } from "../ground/ids.ts";
import type { PreviousSecretMark } from "./merchants.ts";

let service: TestService;
beforeAll(async () => {
  service = await startService({ roles: ["api"] });
});
afterAll(() => service.stop());

test("books are locked in one order, however their observations came, so that two processes cannot deadlock", async () => {
  const { merchants } = service.app;
  const made = [await service.merchant(), await service.merchant(), await service.merchant()];
  const ids = made.map(({ merchantId }) => merchantId).toSorted();
  // Each write moves a row to the end of the table: they stand there the other way round.
  for (const merchantId of ids.toReversed())
    await merchants.rotateWebhook({ merchantId, environment: "sandbox" }, 3_600);
  const marks = ids.map((merchantId): PreviousSecretMark => ({
    book: { merchantId, environment: "sandbox" },
    at: systemClock.now(),
    fact: "carried",
  }));
  const [first, ...others] = ids.map(uuidOf);
  const peer = openDatabase(service.database);
  await asOwner(service.database, async (holder) => {
    await holder.query("begin");
    await holder.query("select from webhook_endpoints where merchant_id = $1::uuid for update", [first]);
    const marking = merchants.markPrevious(marks.toReversed());
    await expect.poll(() => waitingForLocks(holder)).toBeGreaterThan(0);
    // While it waits for the first row it holds no other.
    const free = "select from webhook_endpoints where merchant_id = any($1::uuid[]) for update skip locked";
    expect(await peer.query({ text: free, values: [others] })).toHaveLength(4);
    await holder.query("commit");
    await marking;
  });
  await peer.end();
  for (const { book, at } of marks) expect(await merchants.webhook(book)).toMatchObject({ previousCarriedAt: at });
});
