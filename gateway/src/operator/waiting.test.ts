// Goal: one call tells everything that waits for a person, and where each is read. Method: one of each kind, put into the tables as the rooms leave
// them behind; what does not wait beside it; a queue longer than is counted; and the plans of all statements.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Client } from "../../../e2e/kit/client.ts";
import { type TestService, asOwner, paymentBody, startService } from "../../test/kit.ts";
import { VIEWER_TOKEN, operatorCaller, outcomeOf } from "../../test/operator.ts";
import { systemClock } from "../ground/clock.ts";
import { idOf, newId, uuidOf } from "../ground/ids.ts";
import { createMetrics } from "../ground/metrics.ts";
import { meterWaiting, waitingEndpoint } from "./waiting.routes.ts";
import { WAITING_MAX } from "./waiting.sql.ts";

interface Told {
  kind: string;
  count: number;
  is_more: boolean;
  items: { id: string; merchant_id: string; merchant_name: string; due_at: string | null; note: string; url: string }[];
}

let service: TestService;
let shop: { client: Client; merchantId: string };
let reference: string;
const ask = operatorCaller(() => service, [waitingEndpoint({} as never)]);
beforeAll(async () => {
  service = await startService({ roles: ["api"], config: { operatorViewerToken: VIEWER_TOKEN } });
  shop = await service.merchant({ name: "Kopi Melati" });
  reference = (await shop.client.post("/v1/payments", paymentBody())).json.reference as string;
});
afterAll(() => service.stop());

async function waiting(query = ""): Promise<Map<string, Told>> {
  const { json } = await ask("GET", `/waiting${query}`, { token: VIEWER_TOKEN });
  return new Map((json.data as Told[]).map((one) => [one.kind, one]));
}

/** Adds a row as its room leaves it, to the shop's sandbox. `values` may use $3, the payment. Gives the object's identity. */
async function add(
  table: string,
  columns: string,
  values: string,
  id = newId("payment", systemClock.now()),
): Promise<string> {
  await asOwner(service.database, async (owner) => {
    await owner.query("set session_replication_role = replica"); // no triggers and no foreign keys
    await owner.query(
      `insert into ${table} (merchant_id, environment, ${columns}) select $1::uuid, 'sandbox', ${values} from (select $2::uuid as id, $3::uuid as payment) g`,
      [uuidOf(shop.merchantId), uuidOf(id), uuidOf(reference)],
    );
  });
  return uuidOf(id);
}

const dispute =
  "dispute_id, payment_id, status, reason, amount_minor, currency, opened_at, evidence_due_at, resolved_at";
const settlement =
  "settlement_id, status, currency, period_start, period_end, gross_minor, fee_minor, refund_minor, net_minor, payment_count, created_at, pay_due_at, payout_date, returned_at";
const operation = "operation_id, payment_id, kind, step, gateway_code, attempt, round, created_at, due_at";
const refund = "refund_id, payment_id, status, amount_minor, currency, created_at";
const batch = (status: string, due: string, returned = "null"): string =>
  `id, '${status}', 'IDR', now(), now(), 10, 0, 0, 10, 1, now(), ${due}, current_date, ${returned}`;
const approval =
  "approval_id, action, operation, method, path, body, body_digest, summary, payment_id, least_role, policy_version, request_id, asked_kind, asked_id, asked_by, asked_role, asked_at, status, decided_kind, decided_id, decided_by, decided_made_at, decided_at, run_id, ended_at";
const unknownSince = (ago: string): string =>
  `id, 'refund_payment', 'refundPayment', 'POST', '/ops/v1/payments/x/refunds', '', sha256(''), 'Refund it', payment, 'admin', 0, id, 'token', 'a', 'sari', 'admin', now() - ${ago}, 'unknown', 'token', 'b', 'budi', now() - ${ago} - interval '1 day', now() - ${ago}, id, now() - ${ago}`;
const longAgo = (): string => newId("payment", systemClock.now() - 30 * 86_400_000_000);

test("nothing waits in a service where nothing happened, and every kind says so", async () => {
  const told = await waiting();
  expect([...told.values()].every(({ count, items }) => count === 0 && items.length === 0)).toBe(true);
  expect(told.size).toBe(14);
});

test.each<[kind: string, waits: () => Promise<string>, doesNot: () => Promise<unknown>]>([
  [
    "approval_unknown",
    async () => idOf("approval", await add("operator_approvals", approval, unknownSince("interval '13 days'"))),
    () => add("operator_approvals", approval, unknownSince("interval '15 days'")),
  ],
  [
    "dispute_deadline",
    async () =>
      idOf(
        "dispute",
        await add(
          "disputes",
          dispute,
          "id, payment, 'needs_response', 'general', 5, 'IDR', now(), now() + interval '1 day', null",
        ),
      ),
    () =>
      add(
        "disputes",
        dispute,
        "id, gen_random_uuid(), 'needs_response', 'general', 5, 'IDR', now(), now() + interval '9 days', null",
      ),
  ],
  [
    "dispute_decision",
    // Of another payment: one has one running dispute.
    async () =>
      idOf(
        "dispute",
        await add(
          "disputes",
          dispute,
          "id, gen_random_uuid(), 'under_review', 'general', 5, 'IDR', now(), now() + interval '9 days', null",
        ),
      ),
    () => add("disputes", dispute, "id, payment, 'won', 'general', 5, 'IDR', now(), now(), now()"),
  ],
  [
    "receipt",
    async () =>
      idOf(
        "receipt",
        await add(
          "receipts",
          "receipt_id, gateway_code, transaction_id, payment_id, amount_minor, currency, status, received_at",
          "id, 'nusantara', 'T-1', payment, 7, 'IDR', 'unapplied', now()",
        ),
      ),
    () =>
      add(
        "receipts",
        "receipt_id, gateway_code, transaction_id, payment_id, amount_minor, currency, status, received_at",
        "id, 'nusantara', 'T-2', payment, 7, 'IDR', 'applied', now()",
      ),
  ],
  [
    "payout_overdue",
    async () =>
      idOf("settlement", await add("settlements", settlement, batch("processing", "now() - interval '1 hour'"))),
    () => add("settlements", settlement, batch("processing", "now() + interval '1 hour'")),
  ],
  [
    "payout_returned",
    // However old the batch is: what counts is when the bank returned it.
    async () => idOf("settlement", await add("settlements", settlement, batch("failed", "now()", "now()"), longAgo())),
    () => add("settlements", settlement, batch("failed", "now()", "now() - interval '15 days'")),
  ],
  [
    "refund_pending",
    async () =>
      idOf("refund", await add("refunds", refund, "id, payment, 'pending', 3, 'IDR', now() - interval '25 hours'")),
    () => add("refunds", refund, "id, payment, 'pending', 3, 'IDR', now()"),
  ],
  [
    "outcome_unknown",
    async () =>
      idOf(
        "refund",
        await add(
          "acquirer_operations",
          `${operation}, inquiries`,
          "id, payment, 'refund', 'inquiring', 'nusantara', 1, 0, now(), now() + interval '9 minutes', 14",
        ),
      ),
    async () => {
      for (const [step, inquiries] of [
        ["inquiring", 13],
        ["polling", 40],
      ])
        await add(
          "acquirer_operations",
          `${operation}, inquiries`,
          `id, payment, 'refund', '${step}', 'nusantara', 1, 0, now(), now() + interval '9 minutes', ${inquiries}`,
        );
    },
  ],
  [
    "operation_overdue",
    async () =>
      idOf(
        "refund",
        await add(
          "acquirer_operations",
          operation,
          "id, payment, 'refund', 'inquiring', 'nusantara', 1, 0, now(), now() - interval '6 minutes'",
        ),
      ),
    () =>
      add(
        "acquirer_operations",
        operation,
        "id, payment, 'refund', 'polling', 'nusantara', 1, 0, now(), now() + interval '1 minute'",
      ),
  ],
  [
    "endpoint_failing",
    async () =>
      idOf(
        "event",
        await add(
          "deliveries",
          "event_id, url, state, attempts, next_attempt_at",
          "id, 'https://shop.example/hook', 'undelivered', 8, now()",
          // However old the event is: what counts is when it was given up.
          longAgo(),
        ),
      ),
    async () => {
      for (const rest of ["'pending', 1, now()", "'undelivered', 8, now() - interval '25 hours'"]) {
        await add(
          "deliveries",
          "event_id, url, state, attempts, next_attempt_at",
          `id, 'https://shop.example/hook', ${rest}`,
        );
      }
    },
  ],
])(
  "%s: what waits is told, with whose it is and where it is read; what does not wait is not",
  async (kind, waits, doesNot) => {
    await doesNot();
    const id = await waits();
    const told = (await waiting()).get(kind);
    expect(told).toMatchObject({ count: 1, is_more: false });
    const [item] = told?.items ?? [];
    expect(item).toMatchObject({ id, merchant_id: shop.merchantId, merchant_name: "Kopi Melati" });
    expect((await waiting("?environment=production")).get(kind)?.count).toBe(0);
    if (kind !== "dispute_decision") {
      const read = await service.askOperator((item?.url ?? "").replace("/ops/v1", ""));
      expect([read.status, item?.url]).toEqual([200, item?.url]);
    }
  },
);

test("a payment under review waits until it is judged, with the time by which that must be", async () => {
  const customer = { email: "a@review.test" };
  const { json } = await shop.client.post("/v1/payments", paymentBody({ customer, reference_id: "to-be-judged" }));
  const { reference: reviewed } = json.error.details as { reference: string };
  const [item] = (await waiting()).get("review")?.items ?? [];
  expect(item).toMatchObject({ id: reviewed, note: "to-be-judged", url: `/ops/v1/reviews/${reviewed}` });
  expect(item?.due_at).not.toBeNull();
  expect((await service.askOperator(`/reviews/${reviewed}`)).status).toBe(200);
  await service.operate("POST", `/reviews/${reviewed}/refuse`);
  expect((await waiting()).get("review")?.count).toBe(0);
});

test("an exception waits until it is closed", async () => {
  const id = newId("refund", systemClock.now());
  await add("acquirer_operations", operation, "id, payment, 'refund', 'done', 'nusantara', 1, 0, now(), null", id);
  await add(
    "reconciliation_exceptions",
    "exception_id, operation_id, attempt, kind, gateway_code, noticed_at",
    `'${randomUUID()}', id, 1, 'receipt', 'nusantara', now()`,
    id,
  );
  const [item] = (await waiting()).get("exception")?.items ?? [];
  expect(item).toMatchObject({ note: "nusantara receipt", url: `/ops/v1/reconciliation-exceptions/${item?.id}` });
  await service.operate("POST", `/reconciliation-exceptions/${item?.id}/close`, { note: "Done." });
  expect((await waiting()).get("exception")?.count).toBe(0);
});

test("a queue is counted to a hundred, and its first few are the oldest", async () => {
  await asOwner(service.database, async (owner) => {
    await owner.query("set session_replication_role = replica");
    await owner.query(
      `insert into receipts (merchant_id, environment, receipt_id, gateway_code, transaction_id, payment_id, amount_minor, currency, status, received_at)
select $1::uuid, 'sandbox', gen_random_uuid(), 'nusantara', 'M-' || n, $2::uuid, 7, 'IDR', 'unapplied', now() from generate_series(1, 150) n`,
      [uuidOf(shop.merchantId), uuidOf(reference)],
    );
  });
  const told = (await waiting()).get("receipt");
  expect([told?.count, told?.is_more, told?.items.length]).toEqual([WAITING_MAX, true, 5]);
  expect((await waiting("?limit=100")).get("receipt")?.items).toHaveLength(100);
});

test("what waits in production is on the meters, with the age of the oldest, and the sandbox's is not", async () => {
  const { app } = service;
  const meters = createMetrics();
  const measured = async (): Promise<(string | undefined)[]> => {
    await meterWaiting({ database: app.database, clock: systemClock, metrics: meters });
    const text = await meters.registry.metrics();
    return ["items", "oldest_seconds"].map(
      (name) => new RegExp(`gerbang_waiting_${name}\\{kind="receipt"\\} (.+)`).exec(text)?.[1],
    );
  };
  expect(await measured()).toEqual(["0", "0"]);
  await asOwner(service.database, async (owner) => {
    await owner.query("set session_replication_role = replica");
    await owner.query(
      "update receipts set environment = 'production', received_at = received_at - interval '2 days' where transaction_id like 'M-1%'",
    );
  });
  const [items, age] = await measured();
  expect(items).toBe("62");
  expect(Number(age)).toBeGreaterThan(2 * 86_400);
});

test.each([
  ["?environment=live", "422 VALIDATION_ERROR environment"],
  ["?limit=101", "422 VALIDATION_ERROR limit"],
])("GET /ops/v1/waiting%s is answered with %s", async (query, expected) => {
  expect(outcomeOf(await ask("GET", `/waiting${query}`))).toBe(expected);
});

test("nobody without a token sees what waits", async () => {
  expect(outcomeOf(await ask("GET", "/waiting", { token: "op_nobody" }))).toBe("401 UNAUTHORIZED");
});
