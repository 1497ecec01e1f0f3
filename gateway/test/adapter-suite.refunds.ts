// The part of the adapter suite about refunds: a refund happens once, gets a definite no, or is unknown until an inquiry.
import { expect, test } from "vitest";
import { AcquirerRefused, type RefundRequest } from "../src/acquirers/acquirer.ts";
import { systemClock } from "../src/ground/clock.ts";
import { type Bench, expectInTime, expectRefused, expectUnknown } from "./adapter-bench.ts";

export function refundTests(bench: Bench): void {
  /** A request for a partial refund of a paid payment. */
  async function part(): Promise<RefundRequest> {
    return bench.refundOf((await bench.paid()).request);
  }

  test("twice with one key is one refund; its end is told, and can be asked for", async () => {
    const { outside } = bench;
    for (const end of ["succeeded", "failed"] as const) {
      const request = await part();
      expect(await bench.refund(request)).toBe("pending");
      expect(await bench.refund(request)).toBe("pending");
      expect(await outside.opened(request.operationKey)).toBe(1);
      expect(await bench.inquireRefund(request)).toEqual({ known: true, status: "pending" });
      await outside.conclude(request.operationKey, end);
      expect(await bench.inquireRefund(request)).toEqual({ known: true, status: end });
      const read = bench.read(await outside.callback(request.operationKey), systemClock.now());
      expect(read).toEqual({ kind: "refund", operationKey: request.operationKey, status: end });
    }
  });

  test("a definite no is told as one, and it holds", async ({ skip }) => {
    const request = await part();
    if (!bench.temper("refuses")) skip("it never refuses");
    await expectRefused(bench.refund(request));
    await expectRefused(bench.refund(request));
    expect(await bench.inquireRefund(request)).toEqual({ known: false });
    expect(await bench.outside.opened(request.operationKey)).toBe(0);
  });

  test("no answer by the deadline is an unknown outcome, and asking finds what was done", async ({ skip }) => {
    const request = await part();
    if (!bench.temper("silent")) skip("it always answers");
    const error = await expectInTime((signal) => bench.calls.refund(request, signal));
    expect(error).not.toBeInstanceOf(AcquirerRefused);
    expect(await bench.inquireRefund(request)).toEqual({ known: true, status: "pending" });
    expect(await bench.outside.opened(request.operationKey)).toBe(1);
  });

  test("what was lost on the way is closed for ever by asking", async ({ skip }) => {
    const request = await part();
    if (!bench.temper("deaf")) skip("it always answers");
    const error = await expectInTime((signal) => bench.calls.refund(request, signal));
    expect(error).not.toBeInstanceOf(AcquirerRefused);
    expect(await bench.inquireRefund(request)).toEqual({ known: false });
    await expectRefused(bench.refund(request));
    expect(await bench.inquireRefund(request)).toEqual({ known: false });
    expect(await bench.outside.opened(request.operationKey)).toBe(0);
  });

  test.for(["broken", "garbage", "cut"] as const)(
    "an answer that is %s is an unknown outcome, until it is asked about",
    async (temper, { skip }) => {
      const request = await part();
      if (!bench.temper(temper)) skip(`it is never ${temper}`);
      await expectUnknown(bench.refund(request));
      const known = await bench.inquireRefund(request);
      if (known.known) expect(await bench.refund(request)).toBe(known.status);
      else await expectRefused(bench.refund(request));
    },
  );

  test.for(["silent", "broken", "garbage", "cut", "refuses"] as const)(
    "a question whose answer is %s throws",
    async (temper, { skip }) => {
      const request = await part();
      await bench.refund(request);
      if (!bench.temper(temper)) skip(`it is never ${temper}`);
      await expectInTime((signal) => bench.calls.inquireRefund(request, signal));
      expect(await bench.inquireRefund(request)).toEqual({ known: true, status: "pending" });
    },
  );
}
