// Goal: the client is that of today's contract: its types and rules are made from it, and every operation can be called.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { contractHash, faces } from "../../portal/types/contracts.ts";
import { rulesText } from "../rules.ts";
import Gerbang, { type ErrorDetails, version } from "../src/index.ts";

const root = join(import.meta.dirname, "..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");

test("types and rules are of the contract as it is now: npm run sdk:types", () => {
  const face = faces.find(({ file }) => file.endsWith("sdk/src/contract.ts"));
  if (face === undefined) throw new Error("nobody makes the client's types");
  expect(read("src/contract.ts").split("\n")[1]).toBe(`// contracts: ${contractHash(face)}`);
  expect(read("src/rules.ts")).toBe(rulesText());
});

test("the version that the client names is its package's", () => {
  expect(version).toBe((JSON.parse(read("package.json")) as { version: string }).version);
});

test("the details of every error of the contract have a type", () => {
  const { components } = JSON.parse(read("../openapi/merchant.json")) as {
    components: { examples: Record<string, { value: { error?: { details?: object } } }> };
  };
  const shown = Object.entries(components.examples).flatMap(([code, { value }]) =>
    value.error?.details === undefined ? [] : [[code, value.error.details] as const],
  );
  // `npm run types` judges these by the client's types: a code or a field that it does not know is no part of them.
  const details: Partial<ErrorDetails> = {
    VALIDATION_ERROR: { field: "reference_id", value: null },
    INVALID_AMOUNT: { field: "amount_minor", value: 0, minimum_minor: 1, maximum_minor: 10_000_000_000 },
    IDEMPOTENCY_CONFLICT: { idempotency_key: "order-1042-pay", first_seen_at: "2026-11-22T03:15:00Z" },
    REFUND_EXCEEDS_PAYMENT: { remaining_refundable_minor: 50_000 },
    REFERENCE_ID_DUPLICATE: { reference: "pay_01kan3t5q8e4vs0x7ybd2m9fjh" },
    RISK_REJECTED: { reference: "pay_01kan3t5q8e4vs0x7ybd2m9fjh" },
    RISK_REVIEW: { reference: "pay_01kan3t5q8e4vs0x7ybd2m9fjh", status: "pending" },
    FORBIDDEN: { scope: "payments:write" },
    PAYMENT_NOT_PAYABLE: { status: "canceled" },
    DISPUTE_RESOLVED: { status: "won" },
    SETTLEMENT_CLOSED: { status: "paid" },
  };
  expect(Object.fromEntries(shown)).toEqual(details);
});

test("every operation of the contract can be called", async () => {
  const contract = JSON.parse(read("../openapi/merchant.json")) as { paths: Record<string, Record<string, unknown>> };
  const called = new Set<string>();
  const gerbang = new Gerbang({
    clientId: "ak_test_1",
    secret: "sk_test_1",
    baseUrl: "https://pay.example",
    fetch: (url, init) => {
      const { pathname } = new URL(url as string);
      called.add(`${init?.method} ${pathname}`);
      const csv = new Response("reference", { headers: { "content-type": "text/csv" } });
      const json = Response.json({
        reference: "pay_1",
        id: "evt_1",
        uuid: "rfd_1",
        data: [],
        has_more: false,
        next_cursor: null,
      });
      return Promise.resolve(pathname.endsWith("/statement") ? csv : json);
    },
  });
  const { payments, refunds, balances, settlements, disputes, events, paymentLinks, sandbox } = gerbang;
  const payment = { amount_minor: 1, currency: "IDR", payment_method: "qris", reference_id: "1" } as const;
  const id = "{id}";
  const reference = "pay_01kan3t5q8e4vs0x7ybd2m9fjh";
  await Promise.all([
    payments.create(payment),
    payments.get(id),
    payments.list(),
    payments.cancel(id),
    refunds.create({ payment_reference: reference }),
    refunds.get(id),
    refunds.list(),
    balances.get(),
    balances.entries(id),
    settlements.get(id),
    settlements.list(),
    settlements.statement(id),
    disputes.get(id),
    disputes.list(),
    events.get(id),
    events.list(),
    events.deliveries(id),
    events.resend(id),
    events.resendSince("2026-11-01", { state: "all" }),
    events.resendMany(["evt_01kan3t6b7r9md3kq5x1zc8evw"]),
    paymentLinks.create({ currency: "IDR", reusable: false, amount_minor: 1 }),
    paymentLinks.get(id),
    paymentLinks.list(),
    paymentLinks.deactivate(id),
    gerbang.health(),
    sandbox.payments.simulate(id, "succeeded"),
    sandbox.payments.dispute(id, { reason: "general" }),
    sandbox.refunds.simulate(id, "failed"),
    sandbox.disputes.resolve(id, "won"),
    sandbox.settlements.run(),
    sandbox.settlements.pay(id),
    sandbox.clock.get(),
    sandbox.clock.advance(60),
    sandbox.events.trigger("payment.succeeded"),
    sandbox.events.listen({ wait: 1 }),
    sandbox.webhook.exam(),
    sandbox.webhook.doctor({ headers: {}, body: "{}" }),
    sandbox.webhook.misbehave({ mode: "none" }),
    sandbox.webhook.misbehaviour(),
    sandbox.requests.list(),
    sandbox.requests.get(id),
    sandbox.requests.doctor(id),
  ]);
  const operations = Object.entries(contract.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, "%7Bid%7D")}`),
  );
  expect([...called].toSorted()).toEqual(operations.toSorted());
});
