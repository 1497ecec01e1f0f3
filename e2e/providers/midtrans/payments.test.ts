// The connector of Midtrans against the fake: each method, lost answers and repeats, and what must not be believed.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  AcquirerRefused,
  type ConfirmDisputeRequest,
  type AcquirerMessage,
} from "../../../gateway/src/acquirers/acquirer.ts";
import { SECOND, systemClock } from "../../../gateway/src/ground/clock.ts";
import { midtrans } from "../../../gateway/src/providers/midtrans/midtrans.ts";
import { midtransSchema } from "../../../gateway/src/providers/midtrans/profile.ts";
import { type Rig, SERVER_KEY, entry, signal, startRig } from "./rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.close());

describe("each method", () => {
  test.each([
    ["qris", undefined, "qr_string"],
    ["qris", "shopeepay", "qr_string"],
    ["va", "bca", "va_number"],
    ["va", "bni", "va_number"],
    ["va", "bri", "va_number"],
    ["va", "permata", "va_number"],
    ["va", "cimb", "va_number"],
    ["va", "mandiri", "va_number"],
    ["card", undefined, "redirect"],
  ] as const)("%s %s is opened, waits, and is paid once", async (method, channel, type) => {
    const metadata = channel === undefined ? undefined : { channel };
    const request = rig.ordered({ method, metadata });
    const { instructions, providerIds } = await rig.open(request);
    expect(instructions.type).toBe(type);
    const later = { ...request, providerIds };
    expect(await rig.state(later)).toBe("waiting");
    await rig.control.pay(request.operationKey, { times: 2 });
    const known = await rig.ask(later);
    expect(known).toMatchObject({
      known: true,
      state: { status: "paid", receipt: { amountMinor: 15_000_000n, currency: "IDR" } },
    });
    expect(rig.control.opened(request.operationKey)).toBe(1);
  });

  test.each(["gopay", "shopeepay"])("the wallet %s leads to its app", async (channel) => {
    const request = rig.ordered({ method: "ewallet", metadata: { channel } });
    const { instructions } = await rig.open(request);
    expect(instructions).toMatchObject({
      type: "redirect",
      value: expect.stringContaining(`${rig.fake.url}/pay/`) as string,
    });
  });

  test("what they cannot take is refused before anything is sent", async () => {
    for (const change of [{ amountMinor: 15_000_050n }, { currency: "USD" }, { method: "bank_transfer" } as const]) {
      const request = rig.ordered(change);
      await expect(rig.open(request)).rejects.toThrow(AcquirerRefused);
      expect(rig.control.opened(request.operationKey)).toBe(0);
    }
  });
});

describe("an answer that is lost", () => {
  test.each(["silent after effect", "500 after effect", "half answer", "huge answer"] as const)(
    "(%s) is found again by an inquiry, with what its payer needs, and happens once",
    async (fault) => {
      const methods = fault === "500 after effect" ? (["qris", "va", "ewallet", "card"] as const) : (["qris"] as const);
      for (const method of methods) {
        const request = rig.ordered({ method });
        rig.control.fault(fault);
        const error = await rig.hasty.open(request, signal).catch((thrown: unknown) => thrown);
        expect(error).toBeInstanceOf(Error);
        expect(error).not.toBeInstanceOf(AcquirerRefused);
        const known = await rig.ask(request);
        expect(known).toMatchObject({ known: true, state: { status: "waiting" } });
        expect(rig.control.opened(request.operationKey)).toBe(1);
      }
    },
  );

  test.each(["silent before effect", "unavailable", "html", "redirect"] as const)(
    "(%s) of what was not done is done by the inquiry, once",
    async (fault) => {
      const request = rig.ordered();
      rig.control.fault(fault);
      await expect(rig.hasty.open(request, signal)).rejects.not.toThrow(AcquirerRefused);
      expect(rig.control.opened(request.operationKey)).toBe(0);
      expect(await rig.ask(request)).toMatchObject({ known: true, state: { status: "waiting" } });
      expect(rig.control.opened(request.operationKey)).toBe(1);
    },
  );

  test("is told again for five minutes; after that the order is ended there, since nobody can pay it", async () => {
    const request = rig.ordered();
    rig.control.fault("500 after effect");
    await expect(rig.open(request)).rejects.toThrow();
    rig.control.forget();
    await expect(rig.ask(request)).rejects.toThrow("406");
    await rig.later(7 * 60 * SECOND, async () => {
      // The inquiry uses the first fault up; the expiry meets the second.
      rig.control.fault("refuse");
      rig.control.fault("refuse");
      await expect(rig.ask(request)).rejects.toThrow("expiry with 400");
      expect(await rig.ask(request)).toEqual({ known: false });
      expect(await rig.state({ ...request, providerIds: { order: request.operationKey } })).toBe("failed");
    });
  });

  test("of a page whose payer has paid by then is no refusal", async () => {
    const request = await rig.opened({ method: "card" });
    await rig.control.pay(request.operationKey, { notify: false });
    rig.control.forget();
    await expect(rig.open(request)).rejects.toThrow("Midtrans answered a page with 400");
    expect(await rig.state(request)).toBe("paid");
  });

  test("of a payment that is over is not ordered again", async () => {
    const request = rig.ordered({ expiresAt: systemClock.now() - 61 * SECOND });
    expect(await rig.ask(request)).toEqual({ known: false });
    await expect(rig.ask({ ...request, expiresAt: systemClock.now() })).rejects.toThrow("nearly over");
    expect(rig.control.opened(request.operationKey)).toBe(0);
  });

  test("of a payment that was cancelled here is looked for, and nothing is ordered", async () => {
    const [lost, never] = [rig.ordered(), rig.ordered()];
    rig.control.fault("silent after effect");
    await expect(rig.hasty.open(lost, signal)).rejects.not.toBeInstanceOf(AcquirerRefused);
    expect(await rig.ask({ ...lost, isOver: true })).toMatchObject({ known: true, state: { status: "waiting" } });
    await expect(rig.ask({ ...never, isOver: true })).rejects.toThrow("not ordered again");
    expect(rig.control.opened(never.operationKey)).toBe(0);
    const late = { ...never, isOver: true, expiresAt: systemClock.now() - 61 * SECOND };
    expect(await rig.ask(late)).toEqual({ known: false });
  });

  test("of an inquiry is not taken for the end of a payment that they had: its money may still come", async () => {
    // They answer 404 about this order. While it is open here, that is told, and asked about again.
    const shown = rig.ordered({ providerIds: { order: "an order", transaction: "a transaction" } });
    expect(await rig.ask(shown)).toEqual({ known: false });
    const over = { ...shown, isOver: true };
    for (const by of [0, 16 * 60 * SECOND, 24 * 3_600 * SECOND])
      await rig.later(by, () => expect(rig.ask(over)).rejects.toThrow("does not have it"));
    await rig.later(26 * 3_600 * SECOND, async () => expect(await rig.ask(over)).toEqual({ known: false }));
    expect(rig.control.opened(over.operationKey)).toBe(0);
  });
});

describe("a definite no", () => {
  test("lets another acquirer be asked", async () => {
    rig.control.fault("refuse");
    await expect(rig.open(rig.ordered())).rejects.toMatchObject({ name: "AcquirerRefused", unavailable: false });
    rig.control.fault("refuse");
    await expect(rig.open(rig.ordered({ method: "card" }))).rejects.toMatchObject({ unavailable: false });
  });

  test("for a revoked key says that nothing can be taken now; an inquiry does not believe it", async () => {
    rig.control.fault("key revoked");
    await expect(rig.open(rig.ordered())).rejects.toMatchObject({ name: "AcquirerRefused", unavailable: true });
    const request = await rig.opened();
    rig.control.fault("key revoked");
    await expect(rig.ask(request)).rejects.toThrow("401");
  });

  test("to what an inquiry completes is a promise when it is about the order, and none when it is about the moment", async () => {
    // An inquiry is not refused: its fault is used up, and the next request meets the next one.
    rig.control.fault("refuse", 2);
    expect(await rig.ask(rig.ordered())).toEqual({ known: false });
    rig.control.fault("refuse");
    rig.control.fault("key revoked");
    await expect(rig.ask(rig.ordered())).rejects.toThrow("401");
  });

  test("comes also when they are not reached at all", async () => {
    const nobody = rig.connector({ url: "http://127.0.0.1:1" });
    await expect(nobody.calls.open(rig.ordered(), signal)).rejects.toMatchObject({
      name: "AcquirerRefused",
      unavailable: true,
    });
    await nobody.close();
  });

  test.each(["wrong amount", "wrong currency", "unknown status"] as const)("is no answer of %s", async (fault) => {
    rig.control.fault(fault);
    await expect(rig.open(rig.ordered())).rejects.not.toThrow(AcquirerRefused);
    const request = await rig.opened();
    await rig.control.pay(request.operationKey, { notify: false });
    rig.control.fault(fault);
    await expect(rig.ask(request)).rejects.toThrow("Midtrans answered");
  });
});

describe("what becomes of a payment", () => {
  test("comes by notifications in any order and number, each of which only makes us ask", async () => {
    const request = await rig.opened();
    const heard = await rig.heardDuring(() => rig.control.pay(request.operationKey, { times: 2, order: "reversed" }));
    expect(heard).toHaveLength(3);
    for (const one of heard) {
      expect(one).toMatchObject({ kind: "reports", reports: [{ kind: "look", operationKey: request.operationKey }] });
    }
    expect(await rig.state(request)).toBe("paid");
  });

  test("is failed when it is denied or expired there", async () => {
    const denied = await rig.opened({ method: "va" });
    await rig.control.fail(denied.operationKey);
    expect(await rig.state(denied)).toBe("failed");
    const expired = await rig.opened();
    await rig.control.expire(expired.operationKey);
    expect(await rig.state(expired)).toBe("failed");
  });

  test("is processing while their fraud detection questions a card, until somebody decides there", async () => {
    const accepted = await rig.opened({ method: "card" });
    const denied = await rig.opened({ method: "card" });
    await rig.control.challenge(accepted.operationKey);
    await rig.control.challenge(denied.operationKey);
    expect(await rig.state(accepted)).toBe("processing");
    await rig.control.challenge(accepted.operationKey, "accept");
    expect(await rig.state(accepted)).toBe("paid");
    await rig.control.challenge(denied.operationKey, "deny");
    await rig.later(901 * SECOND, async () => {
      expect(await rig.state(denied)).toBe("failed");
    });
  });

  test("is paid with what came, where that is another amount", async () => {
    const request = await rig.opened({ method: "va", metadata: { channel: "bni" } });
    await rig.control.pay(request.operationKey, { amountMinor: 10_000_000 });
    expect(await rig.ask(request)).toMatchObject({ state: { receipt: { amountMinor: 10_000_000n } } });
  });

  test("a settled transfer that the bank takes back is a lost dispute", async () => {
    const request = await rig.opened({ method: "va", metadata: { channel: "mandiri" } });
    await rig.control.pay(request.operationKey);
    const [heard] = await rig.heardDuring(() => rig.control.reverse(request.operationKey));
    expect(heard).toMatchObject({ reports: [{ kind: "dispute", dispute: { status: "lost" } }, { kind: "look" }] });
  });
});

describe("a dispute that is notified", () => {
  /** What the last notification reports of a dispute, with these fields of it rewritten by somebody who has no key. */
  function disputeOf(change: object): ConfirmDisputeRequest | undefined {
    const genuine = JSON.parse(rig.notified.at(-1)?.toString() ?? "") as object;
    const body = Buffer.from(JSON.stringify({ ...genuine, ...change }));
    const heard = rig.calls.receive({ method: "POST", target: "", rest: "", headers: {}, body }, 0);
    const report = heard.kind === "reports" ? heard.reports.find(({ kind }) => kind === "dispute") : undefined;
    if (report?.kind !== "dispute") return undefined;
    return { operationKey: report.paymentOperationKey, providerIds: undefined, dispute: report.dispute };
  }
  const confirm = (request: ConfirmDisputeRequest | undefined): Promise<boolean> | undefined =>
    request && rig.calls.confirmDispute?.(request, signal);

  test("is confirmed when an inquiry says the same, and not what a changed settlement says", async () => {
    const request = await rig.opened({ method: "card" });
    await rig.heardDuring(() => rig.control.pay(request.operationKey));
    expect(disputeOf({})).toBeUndefined();
    // The signature covers neither the status nor the transaction: this one is genuine in all that is signed.
    const changed = disputeOf({ transaction_status: "chargeback" });
    expect(changed?.dispute).toMatchObject({ status: "open", amountMinor: 15_000_000n });
    expect(await confirm(changed)).toBe(false);
    await rig.heardDuring(() => rig.control.chargeback(request.operationKey));
    expect(await confirm(disputeOf({}))).toBe(true);
    expect(await confirm(disputeOf({ transaction_id: "another" }))).toBe(false);
  });

  test("that took a settled transfer back is confirmed as lost, and a rewritten settlement is none at all", async () => {
    const request = await rig.opened({ method: "va", metadata: { channel: "mandiri" } });
    await rig.heardDuring(() => rig.control.pay(request.operationKey));
    expect(disputeOf({ transaction_status: "deny" })).toBeUndefined();
    await rig.heardDuring(() => rig.control.reverse(request.operationKey));
    expect(await confirm(disputeOf({}))).toBe(true);
    expect(await confirm(disputeOf({ transaction_id: "another" }))).toBe(false);
  });

  test("and denied before any money came is not confirmed", async () => {
    const request = await rig.opened({ method: "va", metadata: { channel: "bni" } });
    await rig.heardDuring(() => rig.control.fail(request.operationKey));
    expect(await confirm(disputeOf({ settlement_time: "2026-11-23 10:00:00" }))).toBe(false);
  });

  test("of an order that is not there is not confirmed, and without an answer nothing is said", async () => {
    const dispute = {
      id: "another.chargeback",
      status: "open",
      amountMinor: 15_000_000n,
      currency: "IDR",
      reason: "general",
    } as const;
    const request = { operationKey: rig.ordered().operationKey, providerIds: undefined, dispute };
    expect(await confirm(request)).toBe(false);
    rig.control.fault("key revoked");
    await expect(confirm(request)).rejects.toThrow("401");
    const opened = await rig.opened();
    const less = { ...request, operationKey: opened.operationKey, dispute: { ...dispute, amountMinor: 100n } };
    await expect(confirm(less)).rejects.toThrow("another amount");
  });
});

test("messages are recorded without the server key", async () => {
  const said: AcquirerMessage[] = [];
  await rig.calls.open(rig.ordered(), signal, (message) => void said.push(message));
  expect(said).toMatchObject([{ about: "POST /v2/charge", status: 200 }]);
  const text = JSON.stringify(said);
  expect(text).toContain("qris");
  expect(text).not.toContain(SERVER_KEY);
  expect(text).not.toContain(Buffer.from(`${SERVER_KEY}:`).toString("base64"));
});

test("the check says which of the two hosts accepts the key, and how far their clock is", async () => {
  const checked = await rig.calls.check?.(signal);
  expect(checked?.findings.map(({ well }) => well)).toEqual([true, true]);
  expect(Math.abs(checked?.clockDifferenceMs ?? Number.NaN)).toBeLessThan(5_000);
  rig.control.fault("key revoked", 2);
  const revoked = await rig.calls.check?.(signal);
  expect(revoked?.findings.map(({ well }) => well)).toEqual([false, false]);
});

test("while a key is replaced, requests go out with the new one, and the one before still verifies what comes in", async () => {
  const replaced = rig.connector({ server_key: rig.keyFile("rolling", `the new key of theirs\n${SERVER_KEY}\n`) });
  const request = await rig.opened();
  await rig.heardDuring(() => rig.control.pay(request.operationKey));
  const [body = Buffer.alloc(0)] = rig.notified;
  expect(replaced.calls.receive({ method: "POST", target: "", rest: "", headers: {}, body }, 0).kind).toBe("reports");
  // The fake knows the key before alone.
  await expect(replaced.calls.open(rig.ordered(), signal)).rejects.toMatchObject({ unavailable: true });
  await replaced.close();
});

test("an entry is checked with the field named", () => {
  const whole = { ...entry, server_key: { env: "KEY" } };
  const refused = (change: object): string => String(midtransSchema.safeParse({ ...whole, ...change }).error);
  expect(midtransSchema.safeParse(whole).success).toBe(true);
  expect(refused({ server_key: SERVER_KEY })).toContain("server_key");
  const method = (change: object): object => ({ methods: [{ ...entry.methods[3], method: "va", ...change }] });
  expect(refused(method({ method: "bank_transfer" }))).toContain("is not taken by Midtrans");
  expect(refused(method({ channels: ["bca", "danamon"] }))).toContain("danamon is none of bca");
  expect(refused(method({ currencies: ["USD"] }))).toContain("IDR only");
  expect(refused(method({ minimum_minor: 150 }))).toContain("whole rupiah");
  expect(refused({ secret: "x" })).toContain("secret");
  expect(midtrans.name).toBe("midtrans");
});

describe("what is ended before its time", () => {
  test.each(["pending", "expire", "deny"])("of a status %s is ended when they say so", async (status) => {
    const request = rig.ordered({});
    const { providerIds } = await rig.open(request);
    if (status === "expire") await rig.control.expire(request.operationKey);
    if (status === "deny") await rig.control.fail(request.operationKey);
    await rig.calls.cancel?.({ ...request, providerIds }, signal);
    expect(await rig.state({ ...request, providerIds })).toBe("failed");
  });

  test("is not what was paid meanwhile", async () => {
    const request = rig.ordered({});
    const { providerIds } = await rig.open(request);
    await rig.control.pay(request.operationKey);
    await expect(rig.calls.cancel?.({ ...request, providerIds }, signal)).rejects.toThrow("412, and it is paid");
  });

  test("is no page for a card: it lives to its own end", async () => {
    const request = rig.ordered({ method: "card" });
    const { providerIds } = await rig.open(request);
    await expect(rig.calls.cancel?.({ ...request, providerIds }, signal)).rejects.toThrow(AcquirerRefused);
  });
});

describe("what their fraud detection questions", () => {
  async function challenged() {
    const request = rig.ordered({ method: "card" });
    const { providerIds } = await rig.open(request);
    await rig.control.challenge(request.operationKey);
    const kept = { ...request, providerIds };
    expect(await rig.ask(kept)).toMatchObject({ state: { status: "processing", isUnderReview: true } });
    return kept;
  }

  test("is accepted, and paid then", async () => {
    const request = await challenged();
    await rig.calls.judge?.(request, "approve", signal);
    expect(await rig.state(request)).toBe("paid");
  });

  test("is denied, and its page may take another card until its end", async () => {
    const request = await challenged();
    await rig.calls.judge?.(request, "refuse", signal);
    expect(await rig.state(request)).toBe("waiting");
  });

  test.each(["approve", "refuse"] as const)("is not told %s once it is decided: it is asked about", async (word) => {
    const request = await challenged();
    await rig.control.challenge(request.operationKey, "accept");
    await expect(rig.calls.judge?.(request, word, signal)).rejects.toThrow("412");
    expect(await rig.state(request)).toBe("paid");
  });

  test.each(["wrong amount", "half answer", "unknown status", "silent after effect"] as const)(
    "is not told by an answer that meets %s",
    async (fault) => {
      const request = await challenged();
      rig.control.fault(fault);
      const judging = rig.hasty.judge?.(request, "approve", AbortSignal.timeout(1_000));
      await expect(judging).rejects.not.toBeInstanceOf(AcquirerRefused);
    },
  );
});
