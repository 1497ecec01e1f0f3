// Goal: nobody waits for admission longer than a client would. Method: a database that answers when the test says so, and a
// stopwatch that the test moves. What admission counts and burns is proved over a socket, in limits and authentication.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { systemClock } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import type { Client } from "../merchants/directory.ts";
import type { Database } from "../store/database.ts";
import { type Counted, SharedAdmission } from "./shared-admission.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const client = {
  clientId: "ak_test_1",
  merchant: { merchantId: `mer_${"0".repeat(26)}`, rateLimitPerMinute: 100 },
} as Client;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("while the database hangs, whoever has waited too long is refused and whoever has not is still admitted", async () => {
  const asked: PromiseWithResolvers<never[]>[] = [];
  const query = (): Promise<never[]> => {
    const answer = Promise.withResolvers<never[]>();
    asked.push(answer);
    return answer.promise;
  };
  const admission = new SharedAdmission({ query } as unknown as Database, systemClock);
  const admit = (digest: string): Promise<Counted> =>
    admission.admit(client, { merchantId: client.merchant.merchantId, validUntil: 1, digest: digest.repeat(32) });
  const first = admit("1");
  await turn();
  const early = admit("2");
  vi.advanceTimersByTime(4_000);
  const late = admit("3");
  vi.advanceTimersByTime(2_000);
  asked[0]?.resolve([]);
  await expect(first).resolves.toMatchObject({ count: 1 });
  const refused: unknown = await early.catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(Fault);
  expect(refused).toMatchObject({ code: "SERVICE_UNAVAILABLE", extras: { retryAfterSeconds: 1 } });
  await turn();
  expect(asked).toHaveLength(2);
  asked[1]?.resolve([]);
  await expect(late).resolves.toMatchObject({ count: 1 });
  const again = admit("4");
  await turn();
  asked[2]?.resolve([]);
  await expect(again).resolves.toMatchObject({ count: 1 });
});
