// The suite that every acquirer's adapter must pass: each promise of `Acquirer` and `AcquirerCalls` as a sentence.
// docs/guides/acquirers.md says how to run the suite for a new adapter.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { AcquirerRefused, type Instructions } from "../src/acquirers/acquirer.ts";
import { wireTime } from "../src/ground/clock.ts";
import { isCurrency } from "../src/ground/money.ts";
import type { PaymentMethod } from "../src/merchants/settings.ts";
import {
  type AdapterRig,
  Bench,
  DEADLINE_MS,
  type Outside,
  expectInTime,
  expectRefused,
  expectUnknown,
  thrown,
} from "./adapter-bench.ts";
import { callbackTests } from "./adapter-suite.callbacks.ts";
import { networkTests } from "./adapter-suite.network.ts";
import { refundTests } from "./adapter-suite.refunds.ts";

/**
 * Runs the suite. `local` is for acquirers whose calls never leave this process and store nothing: tests that need a network, the acquirer's
 * records, a refund or a callback are left out.
 */
export function adapterSuite(
  name: string,
  setUp: () => Promise<AdapterRig>,
  scope: "outside" | "local" = "outside",
): void {
  describe(name, () => {
    const bench = new Bench();
    beforeAll(() => bench.start(setUp));
    afterEach(() => bench.tidy());
    afterAll(() => bench.close());
    describe("what it says of itself", () => selfTests(bench));
    describe("opening a payment", () => openingTests(bench));
    if (scope === "local") return;
    describe("a key of a payment", () => keyTests(bench));
    describe("asking what became of a payment", () => askingTests(bench));
    describe("the network", () => networkTests(bench));
    describe("a refund", () => refundTests(bench));
    describe("a callback", () => callbackTests(bench));
  });
}

const types: Record<PaymentMethod, Instructions["type"]> = {
  qris: "qr_string",
  va: "va_number",
  card: "redirect",
  ewallet: "redirect",
  bank_transfer: "bank_account",
};

function selfTests(bench: Bench): void {
  test("its code, its methods, currencies and amounts make sense", () => {
    const { code, name, capabilities } = bench.acquirer;
    expect(code).toMatch(/^[a-z_]{1,30}$/);
    expect(name).not.toBe("");
    expect(capabilities).not.toEqual([]);
    for (const { currencies, minimumMinor, maximumMinor, cost } of capabilities) {
      expect(currencies).not.toEqual([]);
      expect(currencies.filter((currency) => !isCurrency(currency))).toEqual([]);
      expect(minimumMinor > 0n && minimumMinor <= maximumMinor).toBe(true);
      expect(cost.basisPoints >= 0 && cost.flatMinor >= 0n).toBe(true);
    }
    expect(bench.calls.deadlineMs).toBeGreaterThanOrEqual(100);
  });

  test("what it issues on its own is the same each time", () => {
    const request = bench.payment();
    expect(bench.acquirer.issue(request)).toEqual(bench.acquirer.issue(request));
  });

  test("every method has instructions with its type, a value and an expiry", async () => {
    for (const { method, currencies } of bench.acquirer.capabilities) {
      const request = bench.payment({ method, currency: currencies[0] ?? "" });
      const instructions = bench.acquirer.issue(request) ?? (await bench.open(request));
      expect(instructions.type, method).toBe(types[method]);
      expect(instructions.value, method).not.toBe("");
      expect(instructions.expires_at, method).toBe(wireTime(request.expiresAt));
      if (method === "qris") expect(instructions.qr_string).toMatch(/^000201/);
      if (instructions.type === "redirect")
        expect(instructions.redirect_url).toMatch(/^(https:\/\/|http:\/\/(localhost|127\.))/);
      if (method === "va" || method === "bank_transfer") {
        const { bank_name, bank_code, account_number, account_name } = instructions;
        for (const field of [bank_name, bank_code, account_number, account_name]) expect(field).toMatch(/./);
      }
      if (method === "bank_transfer") expect(instructions.transfer_code).toMatch(/./);
    }
  });
}

function openingTests(bench: Bench): void {
  test("twice with one key gives the same instructions", async () => {
    const request = bench.payment();
    expect(await bench.open(request)).toEqual(await bench.open(request));
  });

  test("a definite no is told as one", async ({ skip }) => {
    await expectRefused(bench.open(bench.payment(bench.temper("refuses") ?? skip("it never refuses"))));
  });

  test("no answer by the deadline is an unknown outcome, and asking finds what was done", async ({ skip }) => {
    const request = bench.payment(bench.temper("silent") ?? skip("it always answers"));
    const error = await expectInTime((signal) => bench.calls.open(request, signal));
    expect(error).not.toBeInstanceOf(AcquirerRefused);
    expect(await bench.inquire(request)).toMatchObject({ known: true, state: { status: "waiting" } });
  });
}

function keyTests(bench: Bench): void {
  const opened: Outside["opened"] = (key) => bench.outside.opened(key);

  test("opens a payment once, whether it is used twice or ten times at once", async () => {
    const request = bench.payment();
    await bench.open(request);
    await bench.open(request);
    expect(await opened(request.operationKey)).toBe(1);
    const other = bench.payment();
    const all = await Promise.all(Array.from({ length: 10 }, () => bench.open(other)));
    for (const instructions of all) expect(instructions).toEqual(all[0]);
    expect(await opened(other.operationKey)).toBe(1);
  });

  test("that was used for something else changes nothing of the first", async () => {
    const request = bench.payment();
    const instructions = await bench.open(request);
    await thrown(bench.open({ ...request, amountMinor: request.amountMinor + 1n }));
    expect(await bench.inquire(request)).toEqual({ known: true, instructions, state: { status: "waiting" } });
    expect(await opened(request.operationKey)).toBe(1);
  });

  test("that was refused stays refused", async ({ skip }) => {
    const request = bench.payment(bench.temper("refuses") ?? skip("it never refuses"));
    await expectRefused(bench.open(request));
    await expectRefused(bench.open(request));
    expect(await bench.inquire(request)).toEqual({ known: false });
    expect(await opened(request.operationKey)).toBe(0);
  });

  test("that was never used is not known when it is asked about, and can never be used after that", async () => {
    const request = bench.payment();
    expect(await bench.inquire(request)).toEqual({ known: false });
    expect(await bench.inquire(request)).toEqual({ known: false });
    await expectRefused(bench.open(request));
    expect(await bench.inquire(request)).toEqual({ known: false });
    expect(await opened(request.operationKey)).toBe(0);
  });

  test("whose request was lost on the way is closed by asking", async ({ skip }) => {
    const request = bench.payment(bench.temper("deaf") ?? skip("it always answers"));
    const error = await expectInTime((signal) => bench.calls.open(request, signal));
    expect(error).not.toBeInstanceOf(AcquirerRefused);
    expect(await bench.inquire(request)).toEqual({ known: false });
    await expectRefused(bench.open(request));
    expect(await opened(request.operationKey)).toBe(0);
  });

  test.for(["broken", "garbage", "cut"] as const)(
    "whose answer is %s has an unknown outcome, until it is asked about",
    async (temper, { skip }) => {
      const request = bench.payment(bench.temper(temper) ?? skip(`it is never ${temper}`));
      await expectUnknown(bench.open(request));
      const known = await bench.inquire(request);
      if (known.known) expect(await bench.open(request)).toEqual(known.instructions);
      else await expectRefused(bench.open(request));
    },
  );
}

function askingTests(bench: Bench): void {
  test("it waits, is processing, is paid, with its money exactly", async () => {
    const request = bench.payment();
    const { operationKey, amountMinor, currency } = request;
    const instructions = await bench.open(request);
    const expectState = async (state: object): Promise<void> => {
      expect(await bench.inquire(request)).toEqual({ known: true, instructions, state });
    };
    await expectState({ status: "waiting" });
    await bench.outside.pay(operationKey, "processing", "unused");
    await expectState({ status: "processing" });
    const transactionId = `tx-${operationKey}`;
    await bench.outside.pay(operationKey, "paid", transactionId);
    await expectState({ status: "paid", receipt: { transactionId, amountMinor, currency } });
    expect(await bench.open(request)).toEqual(instructions);
  });

  test("it fails", async () => {
    const request = bench.payment();
    await bench.open(request);
    await bench.outside.pay(request.operationKey, "failed", "unused");
    expect(await bench.inquire(request)).toMatchObject({ known: true, state: { status: "failed" } });
  });

  test.for(["silent", "broken", "garbage", "cut", "refuses"] as const)(
    "an answer that is %s says nothing: it throws",
    async (temper, { skip }) => {
      const request = bench.payment();
      await bench.open(request);
      if (!bench.temper(temper)) skip(`it is never ${temper}`);
      await expectUnknown(bench.calls.inquire(request, AbortSignal.timeout(DEADLINE_MS)));
      expect(await bench.inquire(request)).toMatchObject({ known: true });
    },
  );
}
