// Goal: whatever gets lost between Xendit and us, a payment is opened once and money is refunded once. Method: the calls over a real socket
// against the fake, with its faults, and its notifications read as they arrive.
import { type Server, createServer } from "node:http";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { FaultName } from "../../../../e2e/providers/fake.ts";
import { xenditFake } from "../../../../e2e/providers/xendit/fake.ts";
import { PAYMENT, event, opening, payment, paymentRequest, refunding } from "../../../test/xendit-fixtures.ts";
import {
  AcquirerRefused,
  type MessageMeaning,
  type OpenRequest,
  type RefundRequest,
  type AcquirerMessage,
} from "../../acquirers/acquirer.ts";
import { SECOND, systemClock } from "../../ground/clock.ts";
import { Fault } from "../../ground/fault.ts";
import type { PaymentMethod } from "../../merchants/settings.ts";
import { type XenditProfile, xenditSchema } from "./profile.ts";
import { xenditAcquirer } from "./xendit.ts";

const SECRET_KEY = "xnd_development_P4qDfOss0OCpl8RtKrROHjaQYNCk9dN5lSfk";
const TOKEN = "a webhook token of the tests";
const folder = mkdtempSync(join(tmpdir(), "xendit-"));
const keyFile = join(folder, "secret-key");
const tokenFile = join(folder, "callback-token");

let fake: Awaited<ReturnType<typeof xenditFake>>;
let receiver: Server;
let acquirer: ReturnType<typeof xenditAcquirer>;
let profile: XenditProfile;
const meaning: (MessageMeaning | Error)[] = [];
const signal = new AbortController().signal;

beforeAll(async () => {
  writeFileSync(keyFile, SECRET_KEY);
  writeFileSync(tokenFile, TOKEN);
  receiver = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      meaning.push(read(request.headers, Buffer.concat(parts)));
      response.end();
    });
  }).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  const callbackUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/acquirers/xendit/callbacks`;
  fake = await xenditFake({ secretKey: SECRET_KEY, callbackToken: TOKEN, callbackUrl });
  profile = xenditSchema.parse({
    provider: "xendit",
    code: "xendit",
    name: "Xendit",
    environment: "sandbox",
    url: fake.url,
    deadline_ms: 400,
    secret_key: { file: keyFile },
    callback_token: { file: tokenFile },
    methods: [
      takes("qris"),
      { ...takes("va"), channels: ["bca", "bni"] },
      { ...takes("ewallet"), channels: ["ovo", "dana", "linkaja", "shopeepay"] },
      takes("card"),
    ],
  });
  acquirer = xenditAcquirer(profile);
});

afterAll(async () => {
  await acquirer.close();
  await fake.close();
  receiver.close();
  rmSync(folder, { recursive: true });
});

function takes(method: PaymentMethod) {
  return {
    method,
    minimum_minor: 100,
    maximum_minor: 1_000_000_000,
    cost: { basis_points: 70, flat_minor: 0 },
  };
}

function read(headers: Record<string, string | string[] | undefined>, body: Buffer): MessageMeaning | Error {
  const target = "/acquirers/xendit/callbacks";
  try {
    return acquirer.calls.receive({ method: "POST", target, rest: "", headers, body }, systemClock.now());
  } catch (error) {
    return error as Error;
  }
}

let number = 0;
function asked(change: Partial<OpenRequest> = {}): OpenRequest {
  const operationKey = `pay${++number}.s1`;
  return opening({ operationKey, expiresAt: systemClock.now() + 3_600 * SECOND, ...change });
}

function refundOf(request: OpenRequest, change: Partial<RefundRequest> = {}): RefundRequest {
  const { operationKey: paymentOperationKey, amountMinor: paymentAmountMinor, method } = request;
  const operationKey = `rfd${++number}.s1`;
  return refunding({
    operationKey,
    paymentOperationKey,
    paymentAmountMinor,
    method,
    paymentProviderIds: undefined,
    isOver: false,
    ...change,
  });
}

const look = (operationKey: string) => ({ kind: "reports", reports: [{ kind: "look", operationKey }] });

const { open, inquire, cancel, refund, inquireRefund } = {
  open: (request: OpenRequest) => acquirer.calls.open(request, signal),
  inquire: (request: OpenRequest) => acquirer.calls.inquire(request, signal),
  cancel: (request: OpenRequest) =>
    acquirer.calls.cancel?.(request, signal) ?? Promise.reject(new Error("it ends none")),
  refund: (request: RefundRequest) => acquirer.calls.refund(request, signal),
  inquireRefund: (request: RefundRequest) => acquirer.calls.inquireRefund(request, signal),
};

test.for([
  ["qris", undefined, "qr_string"],
  ["va", undefined, "va_number"],
  ["va", "bni", "va_number"],
  ["ewallet", "ovo", "redirect"],
  ["ewallet", "dana", "redirect"],
  ["ewallet", "linkaja", "redirect"],
  ["ewallet", "shopeepay", "redirect"],
  ["card", undefined, "redirect"],
] as const)("a payment by %s %s is opened, paid, notified and found", async ([method, channel, type]) => {
  const request = asked({
    method,
    metadata: channel === undefined ? undefined : { channel },
    returnUrl: "https://rimba.example/",
  });
  const { instructions, providerIds } = await open(request);
  expect(instructions.type).toBe(type);
  if (method === "va") expect(instructions).toMatchObject({ bank_code: channel === "bni" ? "009" : "014" });
  const later = { ...request, providerIds };
  expect(await inquire(later)).toMatchObject({ known: true, state: { status: "waiting" }, instructions });

  meaning.length = 0;
  await fake.control.pay(request.operationKey);
  const paid = { status: "paid", receipt: { amountMinor: 1_000_000n, currency: "IDR" } };
  for (const one of meaning) expect(one).toMatchObject(look(request.operationKey));
  expect(await inquire(later)).toMatchObject({ known: true, state: paid });
  expect(fake.control.opened(request.operationKey)).toBe(1);
});

test("a card page that is completed is inquired about, in whichever order its notifications come", async () => {
  const request = asked({ method: "card" });
  await open(request);
  meaning.length = 0;
  await fake.control.pay(request.operationKey, { order: "reversed", times: 2 });
  expect(meaning).toHaveLength(4);
  for (const one of meaning) expect(one).toMatchObject(look(request.operationKey));
});

test.for<FaultName>(["silent after effect", "500 after effect", "half answer", "huge answer", "slow"])(
  "after %s the payment is found by our key, and opened once",
  async (fault) => {
    for (const method of ["qris", "card"] as const) {
      const request = asked({ method });
      fake.control.fault(fault);
      const failed = await open(request).catch((error: unknown) => error);
      expect(failed).toBeInstanceOf(Error);
      expect(failed).not.toBeInstanceOf(AcquirerRefused);
      expect(await inquire(request)).toMatchObject({ known: true, state: { status: "waiting" } });
      expect(fake.control.opened(request.operationKey)).toBeLessThanOrEqual(1);
    }
  },
);

test.for<FaultName>(["silent before effect", "unavailable", "html", "redirect"])(
  "after %s the payment is completed under its own key",
  async (fault) => {
    const request = asked();
    fake.control.fault(fault);
    await expect(open(request)).rejects.not.toBeInstanceOf(AcquirerRefused);
    const known = await inquire(request);
    expect(known).toMatchObject({
      known: true,
      state: { status: "waiting" },
      providerIds: { payment_request: expect.stringMatching(/^pr-/) },
    });
    expect(fake.control.opened(request.operationKey)).toBe(1);
  },
);

test("a payment that Xendit does not show is not completed once its time is over", async () => {
  const request = asked({ expiresAt: systemClock.now() - SECOND });
  await expect(inquire(request)).rejects.toThrow("does not show the payment");
  expect(fake.control.opened(request.operationKey)).toBe(0);
});

test.for(["qris", "card"] as const)(
  "a payment by %s that Xendit does not show a day after its time is none",
  async (method) => {
    const request = asked({ method, expiresAt: systemClock.now() - 25 * 3_600 * SECOND });
    expect(await inquire(request)).toEqual({ known: false });
    expect(fake.control.opened(request.operationKey)).toBe(0);
  },
);

test.for<[FaultName, string]>([
  ["wrong amount", "request_amount is another one"],
  ["wrong currency", "currency is another one"],
  ["unknown status", "status SOMETHING_NEW is unknown"],
])("an answer with a %s is not believed, and the payment is asked about again", async ([fault, why]) => {
  const request = asked();
  fake.control.fault(fault);
  await expect(open(request)).rejects.toThrow(why);
  fake.control.fault(fault);
  await expect(inquire(request)).rejects.toThrow(why);
  expect(await inquire(request)).toMatchObject({ known: true, state: { status: "waiting" } });
  expect(fake.control.opened(request.operationKey)).toBe(1);
});

test.for<[FaultName, boolean]>([
  ["refuse", false],
  ["key revoked", true],
])("%s is a definite no, unavailable: %s", async ([fault, unavailable]) => {
  const request = asked();
  fake.control.fault(fault);
  const refused = await open(request).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(AcquirerRefused);
  expect(refused).toMatchObject({ unavailable });
  expect(fake.control.opened(request.operationKey)).toBe(0);
});

test("a payment whose repetition is refused for what it says was never there", async () => {
  // OVO takes Rp100 and more.
  const request = asked({ method: "ewallet", metadata: { channel: "ovo" }, amountMinor: 1_000n });
  expect(await inquire(request)).toEqual({ known: false });
  await expect(open(request)).rejects.toThrow("INVALID_VALUE_ERROR");
});

test("a payment that is over here is looked for and found, and is not opened", async () => {
  const [lost, never] = [asked(), asked()];
  fake.control.fault("silent after effect");
  await expect(open(lost)).rejects.not.toBeInstanceOf(AcquirerRefused);
  expect(await inquire({ ...lost, isOver: true })).toMatchObject({ known: true, state: { status: "waiting" } });
  await expect(inquire({ ...never, isOver: true })).rejects.toThrow("does not show the payment");
  expect(fake.control.opened(never.operationKey)).toBe(0);
});

test("a payment that is paid by the time its order is answered is paid, and never refused", async () => {
  let found = true;
  const atOnce = createServer(({ method }, response) => {
    const body = method === "POST" ? paymentRequest({ status: "SUCCEEDED", latest_payment_id: PAYMENT }) : payment();
    if (method === "GET" && !found) response.socket?.destroy();
    else response.end(JSON.stringify(body));
  }).listen(0, "127.0.0.1");
  await once(atOnce, "listening");
  const url = `http://127.0.0.1:${(atOnce.address() as AddressInfo).port}`;
  const acquirer = xenditAcquirer({ ...profile, url });
  const request = opening({ method: "ewallet", metadata: { channel: "ovo" } });
  const receipt = { transactionId: PAYMENT, amountMinor: 1_000_000n, currency: "IDR" };
  expect(await acquirer.calls.open(request, signal)).toMatchObject({ state: { status: "paid", receipt } });
  found = false;
  await expect(acquirer.calls.open(request, signal)).rejects.not.toBeInstanceOf(AcquirerRefused);
  await acquirer.close();
  atOnce.close();
});

test("a bank that left the entry says nothing of a payment whose answer was lost", async () => {
  const request = asked({ method: "va" });
  fake.control.fault("silent before effect");
  await expect(open(request)).rejects.not.toBeInstanceOf(AcquirerRefused);
  const without = xenditAcquirer({ ...profile, methods: profile.methods.filter(({ method }) => method !== "va") });
  await expect(without.calls.inquire(request, signal)).rejects.toThrow("no va of that name");
  await without.close();
});

test("an address where nobody listens is a definite no", async () => {
  const nobody = xenditAcquirer({ ...profile, url: "http://127.0.0.1:1" });
  const refused = await nobody.calls.open(asked(), signal).catch((error: unknown) => error);
  expect(refused).toMatchObject({ name: "AcquirerRefused", unavailable: true });
  await nobody.close();
});

test("a payment that failed or ran out at Xendit is over, and its notification is inquired about", async () => {
  const [failed, expired, late] = [asked(), asked({ method: "card" }), asked()];
  for (const request of [failed, expired, late]) await open(request);
  meaning.length = 0;
  await fake.control.fail(failed.operationKey);
  await fake.control.expire(expired.operationKey);
  await fake.control.expire(late.operationKey);
  expect(meaning).toMatchObject([failed, expired, late].map(({ operationKey }) => look(operationKey)));
  for (const request of [failed, late])
    expect(await inquire(request)).toMatchObject({ known: true, state: { status: "failed" } });
});

test("other money than was asked for is reported as it came", async () => {
  const request = asked();
  await open(request);
  meaning.length = 0;
  await fake.control.pay(request.operationKey, { amountMinor: 999_950, currency: "IDR" });
  const receipt = { amountMinor: 999_950n, currency: "IDR" };
  expect(meaning).toMatchObject([look(request.operationKey)]);
  expect(await inquire(request)).toMatchObject({ state: { status: "paid", receipt } });
});

test.for([
  ["qris", true],
  ["qris", false],
  ["va", true],
  ["ewallet", true],
  ["card", true],
] as const)("a payment by %s is ended, and ended twice it is ended; named: %s", async ([method, named]) => {
  const request = asked({ method });
  const { providerIds } = await open(request);
  const later = { ...request, providerIds: named ? providerIds : undefined };
  await cancel(later);
  await cancel(later);
  expect(await inquire({ ...request, providerIds })).toMatchObject({ known: true, state: { status: "failed" } });
  await expect(fake.control.pay(request.operationKey)).rejects.toThrow("was ended");
});

test.for(["qris", "card"] as const)("a payment by %s that was paid meanwhile is not told as ended", async (method) => {
  const bought = await paid({ method });
  const told = await cancel(bought).catch((error: unknown) => error);
  expect(told).toBeInstanceOf(Error);
  expect(told).not.toBeInstanceOf(AcquirerRefused);
  expect(await inquire(bought)).toMatchObject({ known: true, state: { status: "paid" } });
});

test.for<[FaultName, "refused" | "unknown"]>([
  ["refuse", "refused"],
  ["key revoked", "unknown"],
  ["unavailable", "unknown"],
  ["html", "unknown"],
  ["half answer", "unknown"],
  ["500 after effect", "unknown"],
  ["wrong amount", "unknown"],
  ["wrong currency", "unknown"],
  ["unknown status", "unknown"],
])("after %s an end is %s", async ([fault, expected]) => {
  const request = asked();
  const { providerIds } = await open(request);
  fake.control.fault(fault);
  const told = await cancel({ ...request, providerIds }).catch((error: unknown) => error);
  expect(told).toBeInstanceOf(Error);
  expect(told instanceof AcquirerRefused ? "refused" : "unknown").toBe(expected);
  await cancel({ ...request, providerIds });
});

test("what Xendit does not show is not ended, and nothing is opened for it", async () => {
  for (const method of ["qris", "card"] as const) {
    const request = asked({ method });
    await expect(cancel(request)).rejects.toThrow("does not show the payment that is to be ended");
    expect(fake.control.opened(request.operationKey)).toBe(0);
  }
});

test("neither an address where nobody listens nor too much under way says whether a payment can be ended", async () => {
  const nobody = xenditAcquirer({ ...profile, url: "http://127.0.0.1:1", connections: 1 });
  const request = asked({ providerIds: { payment_request: "pr-1" } });
  const ends = await Promise.allSettled([1, 2, 3].map(async () => nobody.calls.cancel?.(request, signal)));
  const reasons = ends.map((end) => (end.status === "rejected" ? (end.reason as Error) : undefined));
  for (const reason of reasons) expect(reason).not.toBeInstanceOf(AcquirerRefused);
  expect(reasons.at(-1)?.message).toContain("requests under way already");
  await nobody.close();
});

async function paid(change: Partial<OpenRequest> = {}): Promise<OpenRequest> {
  const request = asked(change);
  const { providerIds } = await open(request);
  await fake.control.pay(request.operationKey, { notify: false });
  return { ...request, providerIds };
}

test.for([
  ["by Xendit's name for the payment", "qris", true],
  ["by our key alone", "qris", false],
  ["by its card page", "card", true],
] as const)("a refund finds its payment %s", async ([, method, named]) => {
  const bought = await paid({ method });
  const request = refundOf(bought, { paymentProviderIds: named ? bought.providerIds : undefined });
  const { status, providerIds } = await refund(request);
  expect(status).toBe("pending");
  meaning.length = 0;
  await fake.control.decideRefund(request.operationKey, "succeeded");
  expect(meaning).toMatchObject([look(request.operationKey)]);
  expect(await inquireRefund({ ...request, providerIds })).toMatchObject({ known: true, status: "succeeded" });
});

test.for<FaultName>(["silent after effect", "500 after effect", "half answer", "silent before effect", "html"])(
  "after %s a refund is found or completed, and happens once",
  async (fault) => {
    const bought = await paid();
    const request = refundOf(bought, { paymentProviderIds: bought.providerIds });
    fake.control.fault(fault);
    await expect(refund(request)).rejects.not.toBeInstanceOf(AcquirerRefused);
    expect(await inquireRefund(request)).toMatchObject({
      known: true,
      status: "pending",
      providerIds: { refund: expect.stringMatching(/^rfd-/) },
    });
    expect(fake.control.refunded(request.operationKey)).toBe(1);
  },
);

test("more than is left is refused, and a refund that fails is inquired about", async () => {
  const bought = await paid();
  const whole = refundOf(bought, { paymentProviderIds: bought.providerIds, amountMinor: 1_000_000n });
  await refund(whole);
  const more = refundOf(bought, { paymentProviderIds: bought.providerIds, amountMinor: 100n });
  // While one is under way Xendit takes no other: that says nothing about ours.
  await expect(refund(more)).rejects.toThrow("REFUND_IN_PROGRESS");
  await expect(refund(more)).rejects.not.toBeInstanceOf(AcquirerRefused);
  meaning.length = 0;
  await fake.control.decideRefund(whole.operationKey, "failed");
  expect(meaning).toMatchObject([look(whole.operationKey)]);
  expect(await inquireRefund(whole)).toMatchObject({ known: true, status: "failed" });

  const again = refundOf(bought, { paymentProviderIds: bought.providerIds, amountMinor: 1_000_000n });
  await refund(again);
  await fake.control.decideRefund(again.operationKey, "succeeded");
  await expect(refund(more)).rejects.toThrow(AcquirerRefused);
  expect(await inquireRefund(more)).toEqual({ known: false });
  // The same refund once more is found, though nothing is left and its key is kept no longer.
  fake.control.forgetKeys();
  expect(await refund(again)).toMatchObject({ status: "succeeded" });
  expect(fake.control.refunded(again.operationKey)).toBe(1);
});

test("a virtual account cannot be refunded", async () => {
  const bought = await paid({ method: "va" });
  await expect(refund(refundOf(bought, { paymentProviderIds: bought.providerIds }))).rejects.toThrow(
    "REFUND_NOT_SUPPORTED",
  );
});

test("a dispute is reported with its payment", async () => {
  const bought = await paid({ method: "card" });
  meaning.length = 0;
  await fake.control.dispute?.(bought.operationKey, "open");
  await fake.control.dispute?.(bought.operationKey, "lost");
  const about = { kind: "dispute", paymentOperationKey: bought.operationKey };
  expect(meaning).toMatchObject([
    { reports: [{ ...about, dispute: { status: "open", amountMinor: 1_000_000n } }] },
    { reports: [{ ...about, dispute: { status: "lost" } }] },
  ]);
});

test("nothing of a key is told", async () => {
  const told: AcquirerMessage[] = [];
  const request = asked();
  await acquirer.calls.open(request, signal, (message) => told.push(message));
  expect(told).toMatchObject([{ about: "POST /v3/payment_requests", status: 201 }]);
  const said = JSON.stringify(told);
  for (const secret of [SECRET_KEY, TOKEN, Buffer.from(`${SECRET_KEY}:`).toString("base64")])
    expect(said).not.toContain(secret);
});

test("a key of the other environment is refused at the start, and the token before is still taken", async () => {
  writeFileSync(keyFile, "xnd_production_of_another_environment");
  expect(() => xenditAcquirer(profile)).toThrow("secret_key is no secret key of the sandbox environment");
  writeFileSync(keyFile, SECRET_KEY);
  writeFileSync(tokenFile, `the next token\n${TOKEN}`);
  const rolled = xenditAcquirer(profile);
  const message = { method: "POST", target: "/", rest: "", body: event("payment.capture", payment()) };
  for (const token of ["the next token", TOKEN])
    expect(rolled.calls.receive({ ...message, headers: { "x-callback-token": token } }, 0)).toMatchObject({
      kind: "reports",
    });
  expect(() => rolled.calls.receive({ ...message, headers: { "x-callback-token": "other" } }, 0)).toThrow(Fault);
  await rolled.close();
});

test("the check says what the key can do, and how far the clocks are apart", async () => {
  const { findings, clockDifferenceMs } = (await acquirer.calls.check?.(signal)) ?? {
    findings: [],
    clockDifferenceMs: 0,
  };
  expect(findings.map(({ well }) => well)).toEqual([true, true, true, true]);
  expect(Math.abs(clockDifferenceMs ?? Number.NaN)).toBeLessThan(2_000);
  fake.control.fault("key revoked");
  const revoked = await acquirer.calls.check?.(signal);
  expect(revoked?.findings[0]).toEqual({
    well: false,
    text: "The key reads no payment requests: 401 INVALID_API_KEY.",
  });
});
