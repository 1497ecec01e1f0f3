// The connector of Midtrans against the fake: each method, lost answers and repeats, refunds, and what must not be believed.
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  AcquirerRefused,
  type OpenRequest,
  type RefundRequest,
  type Words,
} from "../../../gateway/src/acquirers/acquirer.ts";
import { type Micros, SECOND, systemClock } from "../../../gateway/src/ground/clock.ts";
import { midtrans, midtransAcquirer } from "../../../gateway/src/providers/midtrans/midtrans.ts";
import { midtransSchema } from "../../../gateway/src/providers/midtrans/profile.ts";
import type { Fake } from "../fake.ts";
import { type MidtransControl, midtransFake } from "./fake.ts";

const KEY = "SB-Mid-server-for-tests";
const folder = mkdtempSync(join(tmpdir(), "gerbang-midtrans-"));
const keyFile = join(folder, "server-key");
writeFileSync(keyFile, `${KEY}\n`);
const cost = { basis_points: 70, flat_minor: 0 };
const limits = { minimum_minor: 100, maximum_minor: 1_000_000_000, cost };
const entry = {
  provider: "midtrans",
  code: "midtrans",
  name: "Midtrans",
  environment: "sandbox",
  server_key: { file: keyFile },
  methods: [
    { method: "qris", channels: ["gopay", "shopeepay"], ...limits },
    { method: "va", channels: ["bca", "bni", "bri", "permata", "cimb", "mandiri"], ...limits },
    { method: "ewallet", channels: ["gopay", "shopeepay"], ...limits },
    { method: "card", ...limits },
  ],
};

let fake: Fake & { control: MidtransControl };
let control: MidtransControl;
let acquirer: ReturnType<typeof midtransAcquirer>;
/** The same, with little patience for answers that never come. */
let hasty: ReturnType<typeof midtransAcquirer>;
let offset: Micros = 0;
/** Notifications arrive here. */
const notified: Buffer[] = [];
const receiver = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on("data", (part: Buffer) => parts.push(part));
  request.on("end", () => {
    notified.push(Buffer.concat(parts));
    response.end("{}");
  });
});
let callbackUrl = "";

beforeAll(async () => {
  fake = await midtransFake({ serverKey: KEY });
  ({ control } = fake);
  receiver.listen(0, "127.0.0.1");
  await once(receiver, "listening");
  callbackUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/acquirers/midtrans/callbacks`;
  const clock = { now: () => systemClock.now() + offset };
  acquirer = midtransAcquirer(midtransSchema.parse({ ...entry, url: fake.url }), clock);
  hasty = midtransAcquirer(midtransSchema.parse({ ...entry, url: fake.url, deadline_ms: 150 }), clock);
});
afterAll(async () => {
  await acquirer.close();
  await hasty.close();
  await fake.close();
  receiver.close();
  rmSync(folder, { recursive: true });
});

let count = 0;
function ordered(change: Partial<OpenRequest> = {}): OpenRequest {
  return {
    reference: "pay_01ksz3v0fm8m2k2ry6e5q4t7ag",
    operationKey: `test.${++count}.s1`,
    method: "qris",
    amountMinor: 15_000_000n,
    currency: "IDR",
    merchantName: "Toko Rani",
    expiresAt: systemClock.now() + 900 * SECOND,
    payUrl: "https://pay.example/p/1",
    returnUrl: undefined,
    metadata: undefined,
    callbackUrl,
    round: 0,
    providerIds: undefined,
    ...change,
  };
}
const { signal } = new AbortController();
const open = (request: OpenRequest) => acquirer.calls.open(request, signal);
const ask = (request: OpenRequest) => acquirer.calls.ask(request, signal);

/** Opens, and gives the request as it is made from then on. */
async function opened(change: Partial<OpenRequest> = {}): Promise<OpenRequest> {
  const request = ordered(change);
  const { providerIds } = await open(request);
  return { ...request, providerIds };
}

async function standing(request: OpenRequest): Promise<string> {
  const known = await ask(request);
  return known.known ? known.standing.status : "not there";
}

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
    const request = ordered({ method, metadata });
    const { instructions, providerIds } = await open(request);
    expect(instructions.type).toBe(type);
    const later = { ...request, providerIds };
    expect(await standing(later)).toBe("waiting");
    await control.pay(request.operationKey, { times: 2 });
    const known = await ask(later);
    expect(known).toMatchObject({
      known: true,
      standing: { status: "paid", receipt: { amountMinor: 15_000_000n, currency: "IDR" } },
    });
    expect(control.opened(request.operationKey)).toBe(1);
  });

  test.each(["gopay", "shopeepay"])("the wallet %s leads to its app", async (channel) => {
    const request = ordered({ method: "ewallet", metadata: { channel } });
    const { instructions } = await open(request);
    expect(instructions).toMatchObject({
      type: "redirect",
      value: expect.stringContaining(`${fake.url}/pay/`) as string,
    });
  });

  test("what they cannot take is refused before anything is sent", async () => {
    for (const change of [{ amountMinor: 15_000_050n }, { currency: "USD" }, { method: "bank_transfer" } as const]) {
      const request = ordered(change);
      await expect(open(request)).rejects.toThrow(AcquirerRefused);
      expect(control.opened(request.operationKey)).toBe(0);
    }
  });
});

describe("an answer that is lost", () => {
  test.each(["silent after effect", "500 after effect", "half answer", "huge answer"] as const)(
    "(%s) is found again by an inquiry, with what its payer needs, and happens once",
    async (fault) => {
      const methods = fault === "500 after effect" ? (["qris", "va", "ewallet", "card"] as const) : (["qris"] as const);
      for (const method of methods) {
        const request = ordered({ method });
        control.fault(fault);
        const error = await hasty.calls.open(request, signal).catch((thrown: unknown) => thrown);
        expect(error).toBeInstanceOf(Error);
        expect(error).not.toBeInstanceOf(AcquirerRefused);
        const known = await ask(request);
        expect(known).toMatchObject({ known: true, standing: { status: "waiting" } });
        expect(control.opened(request.operationKey)).toBe(1);
      }
    },
  );

  test.each(["silent before effect", "unavailable", "html", "redirect"] as const)(
    "(%s) of what was not done is done by the inquiry, once",
    async (fault) => {
      const request = ordered();
      control.fault(fault);
      await expect(hasty.calls.open(request, signal)).rejects.not.toThrow(AcquirerRefused);
      expect(control.opened(request.operationKey)).toBe(0);
      expect(await ask(request)).toMatchObject({ known: true, standing: { status: "waiting" } });
      expect(control.opened(request.operationKey)).toBe(1);
    },
  );

  test("is told again for five minutes; after that the order is ended there, since nobody can pay it", async () => {
    const request = ordered();
    control.fault("500 after effect");
    await expect(open(request)).rejects.toThrow();
    control.forget();
    await expect(ask(request)).rejects.toThrow("406");
    offset = 7 * 60 * SECOND;
    try {
      // The inquiry uses the first fault up; the expiry meets the second.
      control.fault("refuse");
      control.fault("refuse");
      await expect(ask(request)).rejects.toThrow("expiry with 400");
      expect(await ask(request)).toEqual({ known: false });
      expect(await standing({ ...request, providerIds: { order: request.operationKey } })).toBe("failed");
    } finally {
      offset = 0;
    }
  });

  test("of a page whose payer has paid by then is no refusal", async () => {
    const request = await opened({ method: "card" });
    await control.pay(request.operationKey, { notify: false });
    control.forget();
    await expect(open(request)).rejects.toThrow("Midtrans answered a page with 400");
    expect(await standing(request)).toBe("paid");
  });

  test("of a payment that is over is not ordered again", async () => {
    const request = ordered({ expiresAt: systemClock.now() - 61 * SECOND });
    expect(await ask(request)).toEqual({ known: false });
    await expect(ask({ ...request, expiresAt: systemClock.now() })).rejects.toThrow("nearly over");
    expect(control.opened(request.operationKey)).toBe(0);
  });
});

describe("a definite no", () => {
  test("lets another acquirer be asked", async () => {
    control.fault("refuse");
    await expect(open(ordered())).rejects.toMatchObject({ name: "AcquirerRefused", unavailable: false });
    control.fault("refuse");
    await expect(open(ordered({ method: "card" }))).rejects.toMatchObject({ unavailable: false });
  });

  test("for a revoked key says that nothing can be taken now; an inquiry does not believe it", async () => {
    control.fault("key revoked");
    await expect(open(ordered())).rejects.toMatchObject({ name: "AcquirerRefused", unavailable: true });
    const request = await opened();
    control.fault("key revoked");
    await expect(ask(request)).rejects.toThrow("401");
  });

  test("to what an inquiry completes is a promise when it is about the order, and none when it is about the moment", async () => {
    // An inquiry is not refused: its fault is used up, and the next request meets the next one.
    control.fault("refuse", 2);
    expect(await ask(ordered())).toEqual({ known: false });
    control.fault("refuse");
    control.fault("key revoked");
    await expect(ask(ordered())).rejects.toThrow("401");
  });

  test("comes also when they are not reached at all", async () => {
    const nobody = midtransAcquirer(midtransSchema.parse({ ...entry, url: "http://127.0.0.1:1" }));
    await expect(nobody.calls.open(ordered(), signal)).rejects.toMatchObject({
      name: "AcquirerRefused",
      unavailable: true,
    });
    await nobody.close();
  });

  test.each(["wrong amount", "wrong currency", "unknown status"] as const)("is no answer of %s", async (fault) => {
    control.fault(fault);
    await expect(open(ordered())).rejects.not.toThrow(AcquirerRefused);
    const request = await opened();
    await control.pay(request.operationKey, { notify: false });
    control.fault(fault);
    await expect(ask(request)).rejects.toThrow("Midtrans answered");
  });
});

describe("what becomes of a payment", () => {
  test("comes by notifications in any order and number, each of which only makes us ask", async () => {
    const request = await opened();
    notified.length = 0;
    await control.pay(request.operationKey, { times: 2, order: "reversed" });
    const heard = notified.map((body) =>
      acquirer.calls.receive({ method: "POST", target: "", rest: "", headers: {}, body }, systemClock.now()),
    );
    expect(heard).toHaveLength(3);
    for (const one of heard) {
      expect(one).toMatchObject({ kind: "reports", reports: [{ kind: "look", operationKey: request.operationKey }] });
    }
    expect(await standing(request)).toBe("paid");
  });

  test("is failed when it is denied or expired there", async () => {
    const denied = await opened({ method: "va" });
    await control.fail(denied.operationKey);
    expect(await standing(denied)).toBe("failed");
    const expired = await opened();
    await control.expire(expired.operationKey);
    expect(await standing(expired)).toBe("failed");
  });

  test("is processing while their fraud detection questions a card, until somebody decides there", async () => {
    const accepted = await opened({ method: "card" });
    const denied = await opened({ method: "card" });
    await control.challenge(accepted.operationKey);
    await control.challenge(denied.operationKey);
    expect(await standing(accepted)).toBe("processing");
    await control.challenge(accepted.operationKey, "accept");
    expect(await standing(accepted)).toBe("paid");
    await control.challenge(denied.operationKey, "deny");
    offset = 901 * SECOND;
    try {
      expect(await standing(denied)).toBe("failed");
    } finally {
      offset = 0;
    }
  });

  test("is paid with what came, where that is another amount", async () => {
    const request = await opened({ method: "va", metadata: { channel: "bni" } });
    await control.pay(request.operationKey, { amountMinor: 10_000_000 });
    expect(await ask(request)).toMatchObject({ standing: { receipt: { amountMinor: 10_000_000n } } });
  });

  test("a settled transfer that the bank takes back is a lost dispute", async () => {
    const request = await opened({ method: "va", metadata: { channel: "mandiri" } });
    await control.pay(request.operationKey);
    notified.length = 0;
    await control.reverse(request.operationKey);
    const [body = Buffer.alloc(0)] = notified;
    const heard = acquirer.calls.receive({ method: "POST", target: "", rest: "", headers: {}, body }, 0);
    expect(heard).toMatchObject({ reports: [{ kind: "look" }, { kind: "dispute", dispute: { status: "lost" } }] });
  });
});

describe("a refund", () => {
  async function paid(change: Partial<OpenRequest> = {}): Promise<(refund: Partial<RefundRequest>) => RefundRequest> {
    const request = await opened(change);
    await control.pay(request.operationKey, { notify: false });
    const known = await ask(request);
    const refundKey = `rfd${count}`;
    return (refund) => ({
      operationKey: `${refundKey}.s1`,
      paymentOperationKey: request.operationKey,
      paymentProviderIds: known.known ? known.providerIds : undefined,
      paymentAmountMinor: request.amountMinor,
      method: request.method,
      amountMinor: request.amountMinor,
      currency: "IDR",
      callbackUrl,
      providerIds: undefined,
      ...refund,
    });
  }
  const refund = (request: RefundRequest) => acquirer.calls.refund(request, signal);
  const askRefund = (request: RefundRequest) => acquirer.calls.askRefund(request, signal);

  test("of the whole or of a part is pending until the bank has confirmed it", async () => {
    const of = await paid();
    const part = of({ amountMinor: 5_000_000n });
    const { status, providerIds } = await refund(part);
    expect(status).toBe("pending");
    expect(await askRefund({ ...part, providerIds })).toMatchObject({ known: true, status: "pending" });
    notified.length = 0;
    await control.decideRefund(part.operationKey, "succeeded");
    const looks = notified.map((body) =>
      acquirer.calls.receive({ method: "POST", target: "", rest: "", headers: {}, body }, 0),
    );
    expect(looks).toHaveLength(2);
    expect(looks[1]).toMatchObject({
      reports: [
        { kind: "look", operationKey: part.paymentOperationKey },
        { kind: "look", operationKey: part.operationKey },
      ],
    });
    expect(await askRefund({ ...part, providerIds })).toMatchObject({ known: true, status: "succeeded" });
    expect(control.refunded(part.operationKey)).toBe(1);
    // The rest, and nothing beyond it.
    await expect(refund(of({ operationKey: `rfdbeyond${count}.s1`, amountMinor: 10_000_100n }))).rejects.toMatchObject({
      name: "AcquirerRefused",
      unavailable: false,
    });
    const rest = of({ operationKey: `rfdrest${count}.s1`, amountMinor: 10_000_000n });
    expect(await refund(rest)).toMatchObject({ status: "pending" });
  });

  test("whose answer was lost is found, and one that never arrived is made, each once", async () => {
    for (const fault of ["silent after effect", "silent before effect"] as const) {
      const request = (await paid())({});
      control.fault(fault);
      await expect(hasty.calls.refund(request, signal)).rejects.not.toThrow(AcquirerRefused);
      expect(await askRefund(request)).toMatchObject({ known: true, status: "pending" });
      expect(await askRefund(request)).toMatchObject({ known: true, status: "pending" });
      expect(control.refunded(request.operationKey)).toBe(1);
    }
  });

  test("that is not there is not given up while a key is refused: the first request may still be at work", async () => {
    const request = (await paid())({});
    control.fault("refuse");
    control.fault("key revoked");
    await expect(askRefund(request)).rejects.toThrow("401");
    control.fault("refuse", 2);
    expect(await askRefund(request)).toEqual({ known: false });
  });

  test("that is repeated long after is known by its key, and not made twice", async () => {
    const request = (await paid())({ amountMinor: 5_000_000n });
    await refund(request);
    control.forget();
    expect(await refund(request)).toMatchObject({ status: "pending" });
    expect(control.refunded(request.operationKey)).toBe(1);
  });

  test("that the bank denies has failed, at once or later", async () => {
    const early = (await paid())({});
    await control.decideRefund(early.operationKey, "failed");
    expect(await refund(early)).toMatchObject({ status: "failed" });
    const late = (await paid())({});
    const { providerIds } = await refund(late);
    await control.decideRefund(late.operationKey, "failed");
    expect(await askRefund({ ...late, providerIds })).toMatchObject({ known: true, status: "failed" });
    // Whoever has not heard that it was taken on learns nothing from a key that is used and a list without it.
    control.forget();
    await expect(refund(late)).rejects.toThrow("knows the refund key");
  });

  test("of a card that is captured and not settled cancels the whole of it, and of a part waits", async () => {
    const of = await paid({ method: "card" });
    const part = of({ amountMinor: 5_000_000n });
    await expect(refund(part)).rejects.toMatchObject({ name: "AcquirerRefused", unavailable: true });
    expect(await askRefund(part)).toEqual({ known: false });
    const whole = of({ operationKey: `rfdwhole${count}.s1` });
    // The first two faults change nothing of a refusal and of an inquiry; the cancellation meets the third.
    for (const fault of ["wrong currency", "refuse", "unknown status"] as const) control.fault(fault);
    await expect(refund(whole)).rejects.toThrow("Midtrans answered a cancellation");
    expect(await refund(whole)).toMatchObject({ status: "succeeded" });
    expect(await refund(whole)).toMatchObject({ status: "succeeded" });
    const settled = await paid({ method: "card" });
    await control.settle(settled({}).paymentOperationKey);
    expect(await refund(settled({ amountMinor: 5_000_000n }))).toMatchObject({ status: "pending" });
  });

  test("of a transfer is refused: their API gives none back", async () => {
    const request = (await paid({ method: "va" }))({});
    await expect(refund(request)).rejects.toMatchObject({ name: "AcquirerRefused", unavailable: false });
  });
});

test("what was said is told without the server key", async () => {
  const said: Words[] = [];
  await acquirer.calls.open(ordered(), signal, (words) => void said.push(words));
  expect(said).toMatchObject([{ about: "POST /v2/charge", status: 200 }]);
  const text = JSON.stringify(said);
  expect(text).toContain("qris");
  expect(text).not.toContain(KEY);
  expect(text).not.toContain(Buffer.from(`${KEY}:`).toString("base64"));
});

test("the check says which of the two hosts accepts the key, and how far their clock is", async () => {
  const checked = await acquirer.calls.check?.(signal);
  expect(checked?.findings.map(({ well }) => well)).toEqual([true, true]);
  expect(Math.abs(checked?.clockDifferenceMs ?? Number.NaN)).toBeLessThan(5_000);
  control.fault("key revoked", 2);
  const revoked = await acquirer.calls.check?.(signal);
  expect(revoked?.findings.map(({ well }) => well)).toEqual([false, false]);
});

test("while a key is replaced, requests go out with the new one, and the one before still verifies what comes in", async () => {
  const rolling = join(folder, "rolling");
  writeFileSync(rolling, `the new key of theirs\n${KEY}\n`);
  const profile = { ...entry, url: fake.url, server_key: { file: rolling } };
  const replaced = midtransAcquirer(midtransSchema.parse(profile));
  const request = await opened();
  notified.length = 0;
  await control.pay(request.operationKey);
  const [, body = Buffer.alloc(0)] = notified;
  expect(replaced.calls.receive({ method: "POST", target: "", rest: "", headers: {}, body }, 0).kind).toBe("reports");
  // The fake knows the key before alone.
  await expect(replaced.calls.open(ordered(), signal)).rejects.toMatchObject({ unavailable: true });
  await replaced.close();
});

test("an entry is checked with the field named", () => {
  const refused = (change: object): string => String(midtransSchema.safeParse({ ...entry, ...change }).error);
  expect(refused({ server_key: KEY })).toContain("server_key");
  const method = (change: object): object => ({ methods: [{ method: "va", ...limits, ...change }] });
  expect(refused(method({ method: "bank_transfer" }))).toContain("is not taken by Midtrans");
  expect(refused(method({ channels: ["bca", "danamon"] }))).toContain("danamon is none of bca");
  expect(refused(method({ currencies: ["USD"] }))).toContain("IDR only");
  expect(refused(method({ minimum_minor: 150 }))).toContain("whole rupiah");
  expect(refused({ secret: "x" })).toContain("secret");
  expect(midtrans.name).toBe("midtrans");
});
