// Goal: a payment is read by its state and its money, whatever else Midtrans says of it. Method: inquiries with the answer that the test says.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { OpenRequest } from "../../acquirers/acquirer.ts";
import { systemClock } from "../../ground/clock.ts";
import { Host } from "./host.ts";
import { Payments } from "./payments.ts";
import { midtransSchema } from "./profile.ts";

const folder = mkdtempSync(join(tmpdir(), "midtrans-payments-"));
writeFileSync(join(folder, "key"), "SB-Mid-server-for-tests");
afterAll(() => rmSync(folder, { recursive: true }));

const limits = { minimum_minor: 100, maximum_minor: 1_000_000_000, cost: { basis_points: 0, flat_minor: 0 } };
const request: OpenRequest = {
  reference: "pay_01ksz3v0fm8m2k2ry6e5q4t7ag",
  operationKey: "test.1.s1",
  method: "va",
  amountMinor: 15_000_000n,
  currency: "IDR",
  merchantName: "Toko Rani",
  expiresAt: systemClock.now() + 900_000_000,
  payUrl: "https://pay.example/p/1",
  returnUrl: undefined,
  metadata: undefined,
  callbackUrl: "https://pay.example/acquirers/midtrans/callbacks",
  round: 0,
  isOver: false,
  providerIds: { order: "test.1.s1", transaction: "tx-1" },
};

/** Inquires once; Midtrans answers with this transaction. */
function inquire(change: object): ReturnType<Payments["inquire"]> {
  const methods = [{ method: "va", channels: ["bca"], ...limits }];
  const entry = { provider: "midtrans", code: "midtrans", name: "Midtrans", environment: "sandbox", methods };
  const host = new Host(midtransSchema.parse({ ...entry, server_key: { file: join(folder, "key") } }), systemClock);
  const transaction = {
    status_code: "200",
    transaction_id: "tx-1",
    order_id: "test.1.s1",
    gross_amount: "150000.00",
    currency: "IDR",
    payment_type: "bank_transfer",
    transaction_status: "settlement",
  };
  host.get = () => Promise.resolve({ status: 200, headers: {}, body: { ...transaction, ...change } });
  return new Payments(host).inquire(request, { signal: new AbortController().signal, record: undefined });
}

test.each([
  { va_numbers: [{ bank: "cimb niaga", va_number: "8888" }] },
  { va_numbers: [{ bank: "BCA2", va_number: "8888" }], transaction_status: "refund" },
])("a paid transaction counts, although no payer could use its account any more: %j", async (change) => {
  const receipt = { transactionId: "tx-1", amountMinor: 15_000_000n, currency: "IDR" };
  expect(await inquire(change)).toMatchObject({
    state: { status: "paid", receipt },
    instructions: { value: request.payUrl },
  });
});

test.each(["expire", "cancel", "deny"])("so does one that is over: %s", async (transaction_status) => {
  const found = await inquire({ va_numbers: [{ bank: "cimb niaga", va_number: "8888" }], transaction_status });
  expect(found).toMatchObject({ state: { status: "failed" } });
});

test("an account that waits must be one that its payer can use", async () => {
  const waiting = { va_numbers: [{ bank: "cimb niaga", va_number: "8888" }], transaction_status: "pending" };
  await expect(inquire(waiting)).rejects.toThrow("a bank that is not known here");
});
