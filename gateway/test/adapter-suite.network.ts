// The part of the adapter suite about failures of the network: which of them are a definite no, and which are not.
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { AcquirerRefused } from "../src/acquirers/acquirer.ts";
import { type Bench, expectInTime, expectRefused, expectUnknown, inTime, thrown } from "./adapter-bench.ts";

export function networkTests(bench: Bench): void {
  test("a host that takes the connection and never answers: unknown, at the deadline", async () => {
    const silent = bench.elsewhere(`http://127.0.0.1:${await bench.silentPort()}`);
    const request = bench.payment();
    for (const call of [
      (signal: AbortSignal) => silent.open(request, signal),
      (signal: AbortSignal) => silent.inquire(request, signal),
      (signal: AbortSignal) => silent.refund(bench.refundOf(request), signal),
      (signal: AbortSignal) => silent.inquireRefund(bench.refundOf(request), signal),
    ]) {
      expect(await expectInTime(call)).not.toBeInstanceOf(AcquirerRefused);
    }
  });

  test("a handshake that never ends: nothing was sent, so it is a definite no, in time", async () => {
    const silent = bench.elsewhere(`https://127.0.0.1:${await bench.silentPort()}`);
    const request = bench.payment();
    const opening = await expectInTime((signal) => silent.open(request, signal));
    expect(opening).toBeInstanceOf(AcquirerRefused);
    expect(opening).toMatchObject({ unavailable: true });
    const refund = await expectInTime((signal) => silent.refund(bench.refundOf(request), signal));
    expect(refund).toBeInstanceOf(AcquirerRefused);
    // An inquiry differs: an acquirer that was not reached may still know the payment.
    expect(await expectInTime((signal) => silent.inquire(request, signal))).not.toBeInstanceOf(AcquirerRefused);
  });

  test("a closed port and a name that leads nowhere are a definite no, and no answer to a question", async () => {
    for (const url of [`http://127.0.0.1:${await bench.closedPort()}`, "https://nowhere.invalid"]) {
      const nobody = bench.elsewhere(url);
      const request = bench.payment();
      await expectRefused(nobody.open(request, inTime()), true);
      await expectRefused(nobody.refund(bench.refundOf(request), inTime()), true);
      await expectUnknown(nobody.inquire(request, inTime()));
      await expectUnknown(nobody.inquireRefund(bench.refundOf(request), inTime()));
    }
  });

  test("a call whose signal has ended already is not made", async () => {
    const request = bench.payment();
    await thrown(bench.calls.open(request, AbortSignal.abort()));
    await delay(50);
    expect(await bench.outside.opened(request.operationKey)).toBe(0);
  });

  test("a hundred calls at once are all answered", async () => {
    const requests = Array.from({ length: 100 }, () => bench.payment());
    await Promise.all(requests.map((request) => bench.open(request)));
    const known = await Promise.all(requests.map((request) => bench.inquire(request)));
    expect(known.every((each) => each.known)).toBe(true);
  });
}
