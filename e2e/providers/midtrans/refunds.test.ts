// Refunds by the connector of Midtrans against the fake: once, found again, and told as done when the bank has confirmed them.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AcquirerRefused, type OpenRequest, type RefundRequest } from "../../../gateway/src/acquirers/acquirer.ts";
import { SECOND } from "../../../gateway/src/ground/clock.ts";
import { type Rig, signal, startRig } from "./rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.close());

describe("a refund", () => {
  /** Makes refunds of a payment, all under one key unless they name another. */
  function refundsOf(
    payment: OpenRequest,
    paymentProviderIds: RefundRequest["paymentProviderIds"],
  ): (refund: Partial<RefundRequest>) => RefundRequest {
    const refundKey = `rfd${rig.next()}`;
    return (change) => ({
      operationKey: `${refundKey}.s1`,
      paymentOperationKey: payment.operationKey,
      paymentProviderIds,
      isOver: false,
      paymentAmountMinor: payment.amountMinor,
      method: payment.method,
      amountMinor: payment.amountMinor,
      currency: "IDR",
      callbackUrl: rig.callbackUrl,
      providerIds: undefined,
      ...change,
    });
  }
  async function paid(change: Partial<OpenRequest> = {}): Promise<(refund: Partial<RefundRequest>) => RefundRequest> {
    const request = await rig.opened(change);
    await rig.control.pay(request.operationKey, { notify: false });
    const known = await rig.ask(request);
    return refundsOf(request, known.known ? known.providerIds : undefined);
  }
  const refund = (request: RefundRequest) => rig.calls.refund(request, signal);
  const inquireRefund = (request: RefundRequest) => rig.calls.inquireRefund(request, signal);

  test("that is refused is no definite no while the payment is in a state that nobody knows", async () => {
    const of = refundsOf(await rig.opened(), undefined);
    await expect(refund(of({}))).rejects.toBeInstanceOf(AcquirerRefused);
    rig.control.fault("unknown status", 1, "GET");
    await expect(refund(of({ operationKey: `rfdstrange${rig.next()}.s1` }))).rejects.not.toBeInstanceOf(
      AcquirerRefused,
    );
  });

  test("of the whole or of a part is pending until the bank has confirmed it", async () => {
    const of = await paid();
    const part = of({ amountMinor: 5_000_000n });
    const { status, providerIds } = await refund(part);
    expect(status).toBe("pending");
    expect(await inquireRefund({ ...part, providerIds })).toMatchObject({ known: true, status: "pending" });
    const looks = await rig.heardDuring(() => rig.control.decideRefund(part.operationKey, "succeeded"));
    expect(looks).toHaveLength(2);
    expect(looks[1]).toMatchObject({
      reports: [
        { kind: "look", operationKey: part.paymentOperationKey },
        { kind: "look", operationKey: part.operationKey },
      ],
    });
    expect(await inquireRefund({ ...part, providerIds })).toMatchObject({ known: true, status: "succeeded" });
    expect(rig.control.refunded(part.operationKey)).toBe(1);
    // The rest, and nothing beyond it.
    await expect(
      refund(of({ operationKey: `rfdbeyond${rig.next()}.s1`, amountMinor: 10_000_100n })),
    ).rejects.toMatchObject({
      name: "AcquirerRefused",
      unavailable: false,
    });
    const rest = of({ operationKey: `rfdrest${rig.next()}.s1`, amountMinor: 10_000_000n });
    expect(await refund(rest)).toMatchObject({ status: "pending" });
  });

  test("whose answer was lost is found, and one that never arrived is made, each once", async () => {
    for (const fault of ["silent after effect", "silent before effect"] as const) {
      const request = (await paid())({});
      rig.control.fault(fault);
      await expect(rig.hasty.refund(request, signal)).rejects.not.toThrow(AcquirerRefused);
      expect(await inquireRefund(request)).toMatchObject({ known: true, status: "pending" });
      expect(await inquireRefund(request)).toMatchObject({ known: true, status: "pending" });
      expect(rig.control.refunded(request.operationKey)).toBe(1);
    }
  });

  test("that is not there is not given up while a key is refused: the first request may still be at work", async () => {
    const request = (await paid())({});
    rig.control.fault("refuse");
    rig.control.fault("key revoked");
    await expect(inquireRefund(request)).rejects.toThrow("401");
    rig.control.fault("refuse", 2);
    expect(await inquireRefund(request)).toEqual({ known: false });
  });

  test("that is repeated long after is known by its key, and not made twice", async () => {
    const request = (await paid())({ amountMinor: 5_000_000n });
    await refund(request);
    rig.control.forget();
    expect(await refund(request)).toMatchObject({ status: "pending" });
    expect(rig.control.refunded(request.operationKey)).toBe(1);
  });

  test("that is taken on and not listed yet is unknown, however long, and found when it is listed", async () => {
    const request = (await paid())({});
    const taken = { ...request, providerIds: (await refund(request)).providerIds };
    for (const late of ["status", "list"] as const) {
      rig.control.lag(request.paymentOperationKey, late);
      await expect(inquireRefund(taken)).rejects.toThrow("without a refund that it had accepted");
      await rig.later(30 * 86_400 * SECOND, async () => {
        await expect(inquireRefund(taken)).rejects.toThrow("without a refund that it had accepted");
      });
    }
    rig.control.lag(request.paymentOperationKey, undefined);
    expect(await inquireRefund(taken)).toMatchObject({ known: true, status: "pending" });
    await rig.control.decideRefund(request.operationKey, "succeeded");
    expect(await inquireRefund(taken)).toMatchObject({ known: true, status: "succeeded" });
    expect(rig.control.refunded(request.operationKey)).toBe(1);
  });

  test("whose answer was lost is not refused because of what it has done itself, while the list is late", async () => {
    const request = (await paid())({});
    rig.control.fault("500 after effect");
    await expect(refund(request)).rejects.not.toThrow(AcquirerRefused);
    rig.control.lag(request.paymentOperationKey, "list");
    rig.control.forget();
    await expect(inquireRefund(request)).rejects.toThrow("knows the refund key");
    const other = { ...request, operationKey: `rfdother${rig.next()}.s1` };
    await expect(refund(other)).rejects.toThrow("more than it lists");
  });

  test("that its amount forbids is not given up while the list is late: an order of its own may be what is in the way", async () => {
    const request = (await paid())({ amountMinor: 5_000_000n });
    await refund(request);
    const other = { ...request, operationKey: `rfdother${rig.next()}.s1`, amountMinor: request.paymentAmountMinor };
    rig.control.lag(request.paymentOperationKey, "list");
    await expect(refund(other)).rejects.toThrow("more than it lists");
    rig.control.lag(request.paymentOperationKey, undefined);
    await expect(refund(other)).rejects.toThrow(AcquirerRefused);
  });

  test("that the bank denies at once has failed; one that vanishes after it was taken on is unknown", async () => {
    const early = (await paid())({});
    await rig.control.decideRefund(early.operationKey, "failed");
    expect(await refund(early)).toMatchObject({ status: "failed" });
    const late = (await paid())({});
    const { providerIds } = await refund(late);
    await rig.control.decideRefund(late.operationKey, "failed");
    await expect(inquireRefund({ ...late, providerIds })).rejects.toThrow("without a refund that it had accepted");
    // Whoever has not heard that it was taken on learns nothing from a key that is used and a list without it.
    rig.control.forget();
    await expect(refund(late)).rejects.toThrow("knows the refund key");
  });

  test("of a card that is captured and not settled cancels the whole of it, and of a part waits", async () => {
    const of = await paid({ method: "card" });
    const part = of({ amountMinor: 5_000_000n });
    await expect(refund(part)).rejects.toMatchObject({ name: "AcquirerRefused", unavailable: true });
    expect(await inquireRefund(part)).toEqual({ known: false });
    const whole = of({ operationKey: `rfdwhole${rig.next()}.s1` });
    // The first two faults change nothing of a refusal and of an inquiry; the cancellation meets the third.
    for (const fault of ["wrong currency", "refuse", "unknown status"] as const) rig.control.fault(fault);
    await expect(refund(whole)).rejects.toThrow("Midtrans answered a cancellation");
    expect(await refund(whole)).toMatchObject({ status: "succeeded" });
    expect(await refund(whole)).toMatchObject({ status: "succeeded" });
    const settled = await paid({ method: "card" });
    await rig.control.settle(settled({}).paymentOperationKey);
    expect(await refund(settled({ amountMinor: 5_000_000n }))).toMatchObject({ status: "pending" });
  });

  test("that somebody makes in their dashboard, and a part charged back, are told by the inquiry, and nothing of ours is", async () => {
    const of = await paid({ method: "card" });
    const part = of({ amountMinor: 5_000_000n });
    const { paymentOperationKey: key } = part;
    const unrequested = async () => {
      const known = await rig.ask(
        rig.ordered({ operationKey: key, method: "card", providerIds: part.paymentProviderIds }),
      );
      return known.known ? known.unrequested : undefined;
    };
    await rig.control.settle(key);
    await refund(part);
    expect(await unrequested()).toEqual([]);
    await rig.control.refundElsewhere(key, 5_000_000);
    const [first, ...more] = (await unrequested()) ?? [];
    expect([first, more]).toEqual([{ refundId: expect.stringMatching(/^[\x21-\x7e]{1,64}$/) }, []]);
    await rig.control.refundElsewhere(key, 5_000_000);
    expect(await unrequested()).toEqual([first, { refundId: expect.any(String) }]);
    await rig.control.chargeback(key, "partial_chargeback");
    expect(await unrequested()).toEqual(["dispute", first, { refundId: expect.any(String) }]);
  });

  test("of a transfer is refused: their API gives none back", async () => {
    const request = (await paid({ method: "va" }))({});
    await expect(refund(request)).rejects.toMatchObject({ name: "AcquirerRefused", unavailable: false });
  });
});
