// Goal: no successful answer names an object that does not exist, whatever statement is cancelled. Method: one client sends creations, then
// refunds, one at a time, while pg_cancel_backend cancels the service's statements. Every answer is compared with the tables, and a rejected
// request is repeated with the same key until it succeeds, once.
import { expect } from "vitest";
import type { Answer } from "../e2e/kit/client.ts";
import { idOf, uuidOf } from "../gateway/src/ground/ids.ts";
import { verifyBook } from "../gateway/src/ledger/verify.ts";
import { type TestService, asOwner, openDatabase, paymentBody, startService } from "../gateway/test/kit.ts";

const CREATIONS = 10_000;
const REFUNDS = 1_000;
/** So many rejections of one request mean that nothing gets through at all. */
const TRIES_MAX = 500;

let service: TestService;

export async function startRig(): Promise<void> {
  service = await startService({ roles: ["api"] });
}

export const stopRig = (): Promise<void> => service.stop();

/** Cancels the service's running statements without a rest, until the signal is aborted. Gives the number of cancellations. */
async function cancelling(told: AbortSignal): Promise<number> {
  return asOwner(service.database, async (owner) => {
    let hits = 0;
    const text = `select pg_cancel_backend(pid) from pg_stat_activity
where datname = current_database() and application_name ~ '^gerbang \\d+$' and pid <> pg_backend_pid() and state <> 'idle'`;
    while (!told.aborted) hits += (await owner.query(text)).rowCount ?? 0;
    return hits;
  });
}

interface Tally {
  /** The identities in successful answers, by the key of the request. */
  named: Map<string, string>;
  refused: number;
}

/** Sends a request until it succeeds. Each rejection must be one that leaves the outcome open. */
async function insist(tally: Tally, key: string, send: () => Promise<Answer>): Promise<void> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const { status, json } = await send();
    if (status === 201) {
      tally.named.set(key, (json.reference ?? json.uuid) as string);
      return;
    }
    expect(["SERVICE_UNAVAILABLE", "IDEMPOTENCY_IN_PROGRESS", "SIGNATURE_REPLAYED"], JSON.stringify(json)).toContain(
      json.error.code,
    );
    tally.refused++;
  }
  throw new Error(`${key} was refused ${TRIES_MAX} times`);
}

/** Runs requests one after another while statements are cancelled. Gives what was acknowledged. */
async function underFire(count: number, each: (number: number, tally: Tally) => Promise<void>): Promise<Tally> {
  const tally: Tally = { named: new Map(), refused: 0 };
  const ending = new AbortController();
  const firing = cancelling(ending.signal);
  try {
    for (let number = 0; number < count; number++) await each(number, tally);
  } finally {
    ending.abort();
  }
  const hits = await firing;
  console.log(`${count} acknowledged, ${tally.refused} refused and repeated, ${hits} statements cancelled`);
  expect(hits).toBeGreaterThan(count / 100);
  return tally;
}

/** Sends ten thousand creations, then a thousand refunds of one payment: each must be acknowledged, and exist once. */
export async function cancelOf(): Promise<void> {
  const { client, merchantId } = await service.merchant();
  const created = await underFire(CREATIONS, async (_, tally) => {
    const body = paymentBody();
    const key = String(body.reference_id);
    await insist(tally, key, () => client.post("/v1/payments", body, { key }));
  });
  const database = openDatabase(service.database);
  try {
    const rows = async (text: string): Promise<Record<string, unknown>[]> =>
      database.query({
        text: `${text} where merchant_id = $1::uuid and environment = 'sandbox'`,
        values: [uuidOf(merchantId)],
      });
    const payments = await rows("select payment_id, reference_id from payments");
    expect(payments.length).toBe(CREATIONS);
    const there = new Map(payments.map((row) => [row.reference_id, idOf("payment", row.payment_id as never)]));
    for (const [referenceId, reference] of created.named) expect(there.get(referenceId)).toBe(reference);

    const paid = [...created.named.values()][0] ?? "";
    expect((await client.post(`/v1/sandbox/payments/${paid}/simulate`, { outcome: "succeeded" })).status).toBe(200);
    const refunded = await underFire(REFUNDS, async (number, tally) => {
      const body = { payment_reference: paid, amount_minor: 100, reason: `part ${number}` };
      await insist(tally, `part ${number}`, () => client.post("/v1/refunds", body, { key: `refund-part-${number}` }));
    });
    const refunds = await rows("select refund_id, reason, amount_minor from refunds");
    expect(refunds.length).toBe(REFUNDS);
    const kept = new Map(refunds.map((row) => [row.reason, idOf("refund", row.refund_id as never)]));
    for (const [reason, reference] of refunded.named) expect(kept.get(reason)).toBe(reference);
    const { json } = await client.get(`/v1/payments/${paid}`);
    expect(json).toMatchObject({ refunded_minor: REFUNDS * 100 });
    expect((await verifyBook(database, { merchantId, environment: "sandbox" })).wrong).toBeUndefined();
  } finally {
    await database.end();
  }
}
