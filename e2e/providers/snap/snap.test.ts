// Goal: the connector of SNAP and its fake understand each other, and no lost answer makes two of anything. Method: real sockets, each method
// of DOKU and of BRI, and one thing going wrong at a time.
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  AcquirerRefused,
  type Bill,
  type MessageMeaning,
  type OpenRequest,
  type RefundRequest,
  type Report,
  type AcquirerMessage,
} from "../../../gateway/src/acquirers/acquirer.ts";
import { type Micros, SECOND, systemClock } from "../../../gateway/src/ground/clock.ts";
import { Fault } from "../../../gateway/src/ground/fault.ts";
import { snapSchema } from "../../../gateway/src/providers/snap/profile.ts";
import { snapAcquirer } from "../../../gateway/src/providers/snap/snap.ts";
import { keyAt, openRequest, refundRequest } from "../../../gateway/test/snap-rig.ts";
import { EXAM_DEADLINE_MS, type Fake, silenceOf } from "../fake.ts";
import { type SnapControl, snapFake } from "./fake.ts";

type Taken = ReturnType<typeof snapAcquirer>;

const SECRET = "SK-of-the-tests";
const folder = mkdtempSync(join(tmpdir(), "gerbang-snap-"));
const pair = () =>
  generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
const [ours, theirs] = [pair(), pair()];
const file = (name: string, text: string): { file: string } => {
  writeFileSync(join(folder, name), text, { mode: 0o600 });
  return { file: join(folder, name) };
};
const limits = { minimum_minor: 100, maximum_minor: 5_000_000_000, cost: { basis_points: 0, flat_minor: 400_000 } };
const doku = {
  provider: "snap",
  profile: "doku",
  code: "doku",
  name: "DOKU",
  environment: "sandbox",
  client_id: "BRN-0253-1758536533798",
  client_secret: file("secret", SECRET),
  private_key: file("ours.pem", ours.privateKey),
  provider_public_key: file("theirs.pem", theirs.publicKey),
  virtual_accounts: {
    bca: { partner_service_id: "19008", customer_prefix: "0" },
    bri: { partner_service_id: "13925", customer_prefix: "6", numbers: "ours" },
    bni: { partner_service_id: "84923", customer_prefix: "3", numbers: "asked" },
  },
  qris: { merchant_id: "47435", terminal_id: "A01", postal_code: "12190" },
  methods: [
    { method: "va", channels: ["bca", "bri", "bni"], ...limits },
    { method: "qris", ...limits },
    { method: "ewallet", channels: ["dana", "shopeepay"], ...limits },
  ],
};

let fake: Fake & { control: SnapControl };
let bank: Fake & { control: SnapControl };
let acquirer: Taken;
/** The calls of `acquirer` and `bri`, for answers that never come: they end without waiting for the deadline. */
let hasty: Taken["calls"];
let hastyBri: Taken["calls"];
let bri: Taken;
let offset: Micros = 0;
const clock = { now: () => systemClock.now() + offset };
const never = new AbortController().signal;

/** What was reported to us, newest last, and the bills that we know. */
const reports: Report[] = [];
const bills = new Map<string, Bill>();

const receiver = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on("data", (part: Buffer) => parts.push(part));
  request.on("end", () => {
    const target = request.url ?? "";
    const rest = target.replace(/^\/acquirers\/\w+\/callbacks/, "");
    const message = {
      method: request.method ?? "",
      target,
      rest,
      headers: request.headers,
      body: Buffer.concat(parts),
    };
    try {
      const meaning = (target.includes("/bri/") ? bri : acquirer).calls.receive(message, systemClock.now());
      const { status, body } = replyTo(meaning);
      response.writeHead(status).end(body);
    } catch (error) {
      response.writeHead(error instanceof Fault ? error.status : 500).end(JSON.stringify({ error: String(error) }));
    }
  });
});

function replyTo(meaning: MessageMeaning): { status: number; body: string } {
  switch (meaning.kind) {
    case "reply":
      return meaning.reply;
    case "bill":
      return meaning.reply("account" in meaning.find ? bills.get(meaning.find.account) : undefined);
    case "reports":
      reports.push(...meaning.reports);
      return meaning.reply?.("taken") ?? { status: 200, body: "{}" };
  }
}

beforeAll(async () => {
  receiver.listen(0, "127.0.0.1");
  await once(receiver, "listening");
  const origin = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const keys = { clientSecret: SECRET, partnerPublicKey: ours.publicKey, privateKey: theirs.privateKey };
  fake = await snapFake({ ...keys, clientId: doku.client_id, callbackUrl: `${origin}/acquirers/doku/callbacks` });
  const partner = { clientId: "client-of-bri", partnerId: "feedloop" };
  bank = await snapFake({ ...keys, ...partner, as: "bri", callbackUrl: `${origin}/acquirers/bri/callbacks` });
  acquirer = snapAcquirer(snapSchema.parse({ ...doku, url: fake.url }), clock);
  hasty = silenceOf(fake.url).endsCallsOf(acquirer).calls;
  const atBri = {
    ...doku,
    profile: "bri",
    code: "bri",
    client_id: "client-of-bri",
    partner_id: "feedloop",
    channel_id: "00009",
    virtual_accounts: { bri: { partner_service_id: "77777" } },
    qris: undefined,
    methods: [{ method: "va", channels: ["bri"], ...limits }],
  };
  bri = snapAcquirer(snapSchema.parse({ ...atBri, url: bank.url }), clock);
  hastyBri = silenceOf(bank.url).endsCallsOf(bri).calls;
});
afterAll(async () => {
  await Promise.all([acquirer.close(), bri.close(), fake.close(), bank.close()]);
  receiver.closeAllConnections();
  receiver.close();
  rmSync(folder, { recursive: true });
});

type Wish = Partial<OpenRequest> & { channel?: string };

function wish({ channel, ...changes }: Wish): OpenRequest {
  const now = systemClock.now();
  return openRequest({
    operationKey: keyAt("payment", now),
    expiresAt: now + 3_600 * SECOND,
    metadata: channel === undefined ? undefined : { channel },
    ...changes,
  });
}

const paidWith = (amountMinor: bigint) => ({
  status: "paid",
  receipt: expect.objectContaining({ amountMinor, currency: "IDR" }),
});

const ways: readonly (readonly [string, Wish])[] = [
  ["a virtual account that DOKU numbers", { method: "va", channel: "bca" }],
  ["a virtual account that we number", { method: "va", channel: "bri" }],
  ["QRIS", { method: "qris" }],
  ["DANA", { method: "ewallet", channel: "dana" }],
  ["ShopeePay", { method: "ewallet", channel: "shopeepay" }],
];

test.for(ways)("a payment by %s is opened, notified, and found paid", async ([, change]) => {
  const request = wish(change);
  const { instructions, providerIds } = await acquirer.calls.open(request, never);
  const kept = { ...request, providerIds };
  expect(await acquirer.calls.inquire(kept, never)).toMatchObject({
    known: true,
    instructions,
    state: { status: "waiting" },
  });
  reports.length = 0;
  await fake.control.pay(request.operationKey, { times: 2, order: "reversed" });
  expect(new Set(reports.map((report) => "operationKey" in report && report.operationKey))).toEqual(
    new Set([request.operationKey]),
  );
  expect(fake.deliveries.at(-1)?.status).toBe(200);
  const found = await acquirer.calls.inquire(kept, never);
  expect(found).toMatchObject({ known: true, instructions, state: paidWith(5_800_000n) });
  const told = reports.find(({ kind }) => kind === "payment");
  // A receipt that is reported and one that is asked for are one transaction.
  if (told) expect(found).toMatchObject({ state: "state" in told ? told.state : undefined });
  expect(fake.control.opened(request.operationKey)).toBe(1);
});

test.for(ways)("an answer about %s that was lost is had again, and nothing is there twice", async ([, change]) => {
  const request = wish(change);
  fake.control.fault("silent after effect");
  await expect(hasty.open(request, never)).rejects.not.toBeInstanceOf(AcquirerRefused);
  const found = await acquirer.calls.inquire(request, never);
  expect(found).toMatchObject({ known: true, state: { status: "waiting" } });
  expect(fake.control.opened(request.operationKey)).toBe(1);
  const providerIds = found.known ? found.providerIds : undefined;
  const again = await acquirer.calls.inquire({ ...request, providerIds }, never);
  expect(again).toMatchObject({ known: true, instructions: found.known && found.instructions });
});

test.for(ways)("a request for %s that never arrived is completed by the inquiry, once", async ([, change]) => {
  const request = wish(change);
  fake.control.fault("silent before effect");
  await expect(hasty.open(request, never)).rejects.not.toBeInstanceOf(AcquirerRefused);
  expect(fake.control.opened(request.operationKey)).toBe(0);
  expect(await acquirer.calls.inquire(request, never)).toMatchObject({ known: true });
  expect(fake.control.opened(request.operationKey)).toBe(1);
});

test("a lost answer is not repeated on another day, and is over when the payment is", async () => {
  const request = wish({
    method: "va",
    channel: "bca",
    operationKey: keyAt("payment", systemClock.now() - 86_400 * SECOND),
  });
  fake.control.fault("silent after effect");
  await expect(hasty.open(request, never)).rejects.not.toBeInstanceOf(AcquirerRefused);
  await expect(acquirer.calls.inquire(request, never)).rejects.toThrow("does not tell again");
  try {
    offset = (3_600 + 601) * SECOND;
    expect(await acquirer.calls.inquire(request, never)).toEqual({ known: false });
  } finally {
    offset = 0;
  }
  expect(fake.control.opened(request.operationKey)).toBe(1);
});

/** Two banks where numbers are ours; then the same entry with every sequence turned round, and with all switched off. */
const twoBanks = {
  ...doku,
  virtual_accounts: {
    bri: { partner_service_id: "13925", customer_prefix: "6", numbers: "ours" },
    permata: { partner_service_id: "77770", numbers: "ours" },
  },
  methods: [
    { method: "va", channels: ["bri", "permata"], ...limits },
    { method: "qris", ...limits },
    { method: "ewallet", channels: ["dana", "shopeepay"], ...limits },
  ],
};
const turned = {
  ...twoBanks,
  methods: twoBanks.methods.map((one) => ("channels" in one ? { ...one, channels: one.channels.toReversed() } : one)),
};
const off = { ...twoBanks, methods: twoBanks.methods.map((one) => ({ ...one, on: false })) };
const opens = (entry: object): Taken =>
  snapAcquirer(snapSchema.parse({ ...entry, url: fake.url, deadline_ms: EXAM_DEADLINE_MS }), clock);

test("a payment is asked about where it was opened, after channels changed places or were switched off", async () => {
  const [before, ...after] = [opens(twoBanks), opens(turned), opens(off)];
  for (const method of ["va", "qris", "ewallet"] as const) {
    const request = wish({ method });
    const { instructions, providerIds } = await before.calls.open(request, never);
    for (const one of after)
      expect(await one.calls.inquire({ ...request, providerIds }, never)).toMatchObject({ known: true, instructions });
    await fake.control.pay(request.operationKey, { notify: false });
    for (const one of after)
      expect(await one.calls.inquire({ ...request, providerIds }, never)).toMatchObject({
        state: paidWith(5_800_000n),
      });
    expect(fake.control.opened(request.operationKey)).toBe(1);
  }
  await Promise.all([before, ...after].map((one) => one.close()));
});

test("with two banks of ours a lost answer is had by the same request, and never makes a second account", async () => {
  const [before, after, none] = [opens(twoBanks), opens(turned), opens(off)];
  const request = wish({ method: "va" });
  fake.control.fault("silent after effect");
  await expect(silenceOf(fake.url).endsCallsOf(before).calls.open(request, never)).rejects.not.toBeInstanceOf(
    AcquirerRefused,
  );
  await expect(after.calls.inquire(request, never)).rejects.toThrow("unclearly");
  await expect(none.calls.inquire(request, never)).rejects.toThrow("not told any more by which bank");
  expect(await none.calls.inquire({ ...request, expiresAt: systemClock.now() - 601 * SECOND }, never)).toEqual({
    known: false,
  });
  expect(await before.calls.inquire(request, never)).toMatchObject({ known: true, state: { status: "waiting" } });
  expect(fake.control.opened(request.operationKey)).toBe(1);
  const older = wish({ method: "va", operationKey: keyAt("payment", systemClock.now() - 86_400 * SECOND) });
  await expect(after.calls.inquire(older, never)).rejects.toThrow("does not tell again");
  expect(fake.control.opened(older.operationKey)).toBe(0);
  await Promise.all([before, after, none].map((one) => one.close()));
});

test.for(["html", "half answer", "huge answer", "redirect", "unavailable", "500 after effect"] as const)(
  "%s leaves the outcome unknown, and the inquiry finds it",
  async (fault) => {
    const request = wish({ method: "va", channel: "bca" });
    fake.control.fault(fault);
    await expect(acquirer.calls.open(request, never)).rejects.not.toBeInstanceOf(AcquirerRefused);
    expect(await acquirer.calls.inquire(request, never)).toMatchObject({ known: true });
    expect(fake.control.opened(request.operationKey)).toBe(1);
  },
);

test.for(["wrong amount", "wrong currency", "unknown status"] as const)(
  "%s is not believed, in either answer",
  async (fault) => {
    for (const change of [{ method: "va", channel: "bca" }, { method: "qris" }] as const) {
      fake.control.fault(fault);
      await expect(acquirer.calls.open(wish(change), never)).rejects.not.toBeInstanceOf(AcquirerRefused);
      const request = wish(change);
      const { providerIds } = await acquirer.calls.open(request, never);
      await fake.control.pay(request.operationKey, { notify: false });
      fake.control.fault(fault);
      await expect(acquirer.calls.inquire({ ...request, providerIds }, never)).rejects.toThrow();
    }
  },
);

test("a definite no is one, and a key that they do not take makes them unavailable", async () => {
  fake.control.fault("refuse");
  await expect(acquirer.calls.open(wish({ method: "qris" }), never)).rejects.toMatchObject({ unavailable: false });
  fake.control.fault("key revoked");
  const refusal = await acquirer.calls.open(wish({ method: "qris" }), never).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(AcquirerRefused);
  expect(refusal).toMatchObject({ unavailable: true });
  expect(String(refusal)).not.toContain(SECRET);
});

test("nobody who is not reached was sent anything: another may be asked", async () => {
  const away = snapAcquirer(snapSchema.parse({ ...doku, url: "http://127.0.0.1:9" }), clock);
  await expect(away.calls.open(wish({ method: "qris" }), never)).rejects.toMatchObject({ unavailable: true });
  await away.close();
});

test("with a token at hand, too, whatever orders something was certainly not sent to a host that is down; an inquiry is only without an answer", async () => {
  const keys = { clientSecret: SECRET, partnerPublicKey: ours.publicKey, privateKey: theirs.privateKey };
  const other = await snapFake({ ...keys, clientId: doku.client_id });
  const down = snapAcquirer(snapSchema.parse({ ...doku, url: other.url }), clock);
  const paid = async (change: Wish): Promise<OpenRequest> => {
    const request = wish(change);
    const { providerIds } = await down.calls.open(request, never);
    await other.control.pay(request.operationKey);
    return { ...request, providerIds };
  };
  const [byQr, byWallet] = [await paid({ method: "qris" }), await paid({ method: "ewallet", channel: "dana" })];
  await other.close();
  // The connection that was kept is used up.
  await expect(down.calls.inquire(byQr, never)).rejects.toThrow();
  for (const change of [{ method: "va", channel: "bca" }, { method: "qris" }, { method: "ewallet" }] as const)
    await expect(down.calls.open(wish(change), never)).rejects.toMatchObject({
      name: "AcquirerRefused",
      unavailable: true,
      message: expect.stringContaining("was not reached"),
    });
  for (const request of [byQr, byWallet]) {
    const refusal = { name: "AcquirerRefused", unavailable: true, message: expect.stringContaining("was not reached") };
    await expect(down.calls.refund(refundOf(request, {}), never)).rejects.toMatchObject(refusal);
    await expect(down.calls.inquireRefund(refundOf(request, {}), never)).rejects.not.toBeInstanceOf(AcquirerRefused);
    await expect(down.calls.inquire(request, never)).rejects.not.toBeInstanceOf(AcquirerRefused);
    // Without what was kept the same order is sent again: that it is not reached says nothing of the first one.
    const lost = down.calls.inquire({ ...request, providerIds: undefined }, never);
    await expect(lost).rejects.not.toBeInstanceOf(AcquirerRefused);
  }
  await down.close();
});

test("a hundred payments at once need one token", async () => {
  const fresh = snapAcquirer(snapSchema.parse({ ...doku, url: fake.url }), clock);
  const before = fake.control.tokens();
  await Promise.all(Array.from({ length: 100 }, () => fresh.calls.open(wish({ method: "qris" }), never)));
  expect(fake.control.tokens()).toBe(before + 1);
  await fresh.close();
});

test("a bank that asks for a bill is told it, and its payment is reported", async () => {
  const request = wish({ method: "va", channel: "bni" });
  const { instructions, providerIds } = await acquirer.calls.open(request, never);
  expect(await acquirer.calls.open(request, never)).toEqual({ instructions, providerIds });
  expect(await acquirer.calls.inquire({ ...request, providerIds }, never)).toMatchObject({
    known: true,
    state: { status: "waiting" },
  });
  const { amountMinor, currency, merchantName, expiresAt } = request;
  const account = providerIds?.account ?? "";
  expect((await fake.control.inquire(account)).body.responseCode).toBe("4042412");
  bills.set(account, { amountMinor, currency, merchantName, expiresAt, payable: true, instructions, providerIds });
  reports.length = 0;
  await fake.control.payAccount(account);
  expect(reports).toMatchObject([{ operationKey: request.operationKey, state: paidWith(5_800_000n) }]);
});

function refundOf(request: OpenRequest, changes: Partial<RefundRequest>): RefundRequest {
  return refundRequest({
    operationKey: keyAt("refund", systemClock.now()),
    paymentOperationKey: request.operationKey,
    paymentProviderIds: request.providerIds,
    isOver: false,
    method: request.method,
    ...changes,
  });
}

test.for([
  ["QRIS", { method: "qris" }],
  ["DANA", { method: "ewallet", channel: "dana" }],
] as const)("a payment by %s is refunded in parts, each once, and not beyond", async ([, change]) => {
  const request = wish(change);
  const { providerIds } = await acquirer.calls.open(request, never);
  const paid = { ...request, providerIds };
  await fake.control.pay(request.operationKey, { notify: false });
  const first = refundOf(paid, { amountMinor: 1_800_000n });
  expect(await acquirer.calls.refund(first, never)).toMatchObject({ status: "succeeded" });
  const lost = refundOf(paid, { amountMinor: 1_000_000n });
  // QRIS asks for the approval first: that answer arrives, and the refund's own is lost.
  if (request.method === "qris") lost.paymentProviderIds = { ...providerIds, approval: await approvalOf(paid) };
  fake.control.fault("silent after effect");
  await expect(hasty.refund(lost, never)).rejects.not.toBeInstanceOf(AcquirerRefused);
  expect(await acquirer.calls.inquireRefund(lost, never)).toMatchObject({ known: true, status: "succeeded" });
  expect(fake.control.refunded(lost.operationKey)).toBe(1);
  const beyond = refundOf(paid, { amountMinor: 3_000_001n });
  await expect(acquirer.calls.refund(beyond, never)).rejects.toMatchObject({ unavailable: false });
  expect(await acquirer.calls.refund(refundOf(paid, { amountMinor: 3_000_000n }), never)).toMatchObject({
    status: "succeeded",
  });
  expect(await acquirer.calls.inquire(paid, never)).toMatchObject({ state: paidWith(5_800_000n) });
});

test("on a later day a lost refund by QRIS is neither repeated nor told as done, whatever else was paid back", async () => {
  const request = wish({ method: "qris" });
  const { providerIds } = await acquirer.calls.open(request, never);
  await fake.control.pay(request.operationKey, { notify: false });
  const paid = { ...request, providerIds: { ...providerIds, approval: await approvalOf({ ...request, providerIds }) } };
  // A part that was paid back in the provider's dashboard makes the payment's status 04, as all of it would.
  await acquirer.calls.refund(refundOf(paid, { amountMinor: 1_000_000n }), never);
  for (const amountMinor of [1_000_000n, 5_800_000n]) {
    const operationKey = keyAt("refund", systemClock.now() - 86_400 * SECOND);
    const lost = refundOf(paid, { operationKey, amountMinor });
    await expect(acquirer.calls.inquireRefund(lost, never)).rejects.toThrow("does not tell any more");
    expect(fake.control.refunded(operationKey)).toBe(0);
  }
});

test("today a lost refund of all by QRIS is told by the answer to its own order, not by a part that was paid back", async () => {
  for (const part of [undefined, 1_000_000n]) {
    const request = wish({ method: "qris" });
    const { providerIds } = await acquirer.calls.open(request, never);
    await fake.control.pay(request.operationKey, { notify: false });
    const paid = {
      ...request,
      providerIds: { ...providerIds, approval: await approvalOf({ ...request, providerIds }) },
    };
    if (part !== undefined) await acquirer.calls.refund(refundOf(paid, { amountMinor: part }), never);
    const all = refundOf(paid, { amountMinor: 5_800_000n });
    fake.control.fault("silent after effect");
    await expect(hasty.refund(all, never)).rejects.not.toBeInstanceOf(AcquirerRefused);
    const asked = acquirer.calls.inquireRefund(all, never);
    if (part === undefined) expect(await asked).toMatchObject({ known: true, status: "succeeded" });
    else await expect(asked).rejects.not.toBeInstanceOf(AcquirerRefused);
    expect(fake.control.refunded(all.operationKey)).toBe(part === undefined ? 1 : 0);
  }
});

const today = systemClock.now();
const dayBefore = today - 86_400 * SECOND;

test.for([
  ["today a part by QRIS stays pending", { method: "qris" }, 1_000_000n, today, "pending"],
  ["later a part by QRIS stays pending", { method: "qris" }, 1_000_000n, dayBefore, "pending"],
  ["later the whole by QRIS stays pending", { method: "qris" }, 5_800_000n, dayBefore, "pending"],
  ["today a part by DANA is found done", { method: "ewallet", channel: "dana" }, 1_000_000n, today, "succeeded"],
] as const)(
  "a refund that was taken and not decided is asked about anew: %s",
  async ([, change, amountMinor, asked, outcome]) => {
    fake.control.refundsLater(true);
    try {
      const request = wish(change);
      const { providerIds } = await acquirer.calls.open(request, never);
      await fake.control.pay(request.operationKey, { notify: false });
      const refund = refundOf({ ...request, providerIds }, { amountMinor, operationKey: keyAt("refund", asked) });
      const taken = await acquirer.calls.refund(refund, never);
      expect(taken.status).toBe("pending");
      const kept = { ...refund, providerIds: taken.providerIds };
      expect(await acquirer.calls.inquireRefund(kept, never)).toMatchObject({ known: true, status: "pending" });
      await fake.control.decideRefund(refund.operationKey, "succeeded");
      expect(await acquirer.calls.inquireRefund(kept, never)).toMatchObject({ known: true, status: outcome });
      expect(fake.control.refunded(refund.operationKey)).toBe(1);
    } finally {
      fake.control.refundsLater(false);
    }
  },
);

async function approvalOf(request: OpenRequest): Promise<string> {
  const found = await acquirer.calls.inquire(request, never);
  return (found.known && found.providerIds?.approval) || "";
}

test("a virtual account cannot be refunded, and nothing is sent", async () => {
  const messages: AcquirerMessage[] = [];
  const request = refundOf(wish({ method: "va", channel: "bca" }), {});
  await expect(acquirer.calls.refund(request, never, (one) => messages.push(one))).rejects.toBeInstanceOf(
    AcquirerRefused,
  );
  expect(await acquirer.calls.inquireRefund(request, never)).toEqual({ known: false });
  expect(messages).toEqual([]);
});

test("what fails there has failed here", async () => {
  const request = wish({ method: "ewallet", channel: "dana" });
  const { providerIds } = await acquirer.calls.open(request, never);
  reports.length = 0;
  await fake.control.fail(request.operationKey);
  expect(reports).toEqual([{ kind: "look", operationKey: request.operationKey }]);
  expect(await acquirer.calls.inquire({ ...request, providerIds }, never)).toMatchObject({
    state: { status: "failed" },
  });
});

test("BRI's account is ours by number: found after a lost answer, looked at after its notice, and paid by inquiry", async () => {
  const request = wish({ method: "va" });
  bank.control.fault("silent after effect");
  await expect(hastyBri.open(request, never)).rejects.not.toBeInstanceOf(AcquirerRefused);
  const found = await bri.calls.inquire(request, never);
  expect(found).toMatchObject({ known: true, state: { status: "waiting" } });
  await bank.control.pay(request.operationKey);
  expect(bank.deliveries.at(-1)).toMatchObject({ status: 200, body: expect.stringContaining("2003400") });
  const account = found.known && found.providerIds?.account;
  expect(reports).toContainEqual({ kind: "look", operationKey: account });
  expect(await bri.calls.inquire(request, never)).toMatchObject({ known: true, state: paidWith(5_800_000n) });
  expect(bank.control.opened(request.operationKey)).toBe(1);
});

test("BRI's account that never came about is made by the inquiry, and not when its time is over", async () => {
  const [request, late] = [wish({ method: "va" }), wish({ method: "va", expiresAt: systemClock.now() - 601 * SECOND })];
  expect(await bri.calls.inquire(request, never)).toMatchObject({ known: true, state: { status: "waiting" } });
  expect(bank.control.opened(request.operationKey)).toBe(1);
  expect(await bri.calls.inquire(late, never)).toEqual({ known: false });
  expect(bank.control.opened(late.operationKey)).toBe(0);
});

test("BRI's account of a payment that is over here is looked for and found, and is not made", async () => {
  const [lost, gone] = [wish({ method: "va" }), wish({ method: "va" })];
  bank.control.fault("silent after effect");
  await expect(hastyBri.open(lost, never)).rejects.not.toBeInstanceOf(AcquirerRefused);
  expect(await bri.calls.inquire({ ...lost, isOver: true }, never)).toMatchObject({ state: { status: "waiting" } });
  await expect(bri.calls.inquire({ ...gone, isOver: true }, never)).rejects.toThrow("unclearly");
  expect(bank.control.opened(gone.operationKey)).toBe(0);
  const late = { ...gone, isOver: true, expiresAt: systemClock.now() - 601 * SECOND };
  expect(await bri.calls.inquire(late, never)).toEqual({ known: false });
});

/** Whose account it is, and who numbers it. */
const accounts: readonly (readonly [string, () => [Taken, SnapControl], Wish])[] = [
  ["that DOKU numbers", () => [acquirer, fake.control], { method: "va", channel: "bca" }],
  ["that we number at DOKU", () => [acquirer, fake.control], { method: "va", channel: "bri" }],
  ["of BRI", () => [bri, bank.control], { method: "va" }],
];

test.for(accounts)("an account %s that was ended is never made again, whoever asks", async ([, at, change]) => {
  const [{ calls }, control] = at();
  const request = wish(change);
  const { providerIds } = await calls.open(request, never);
  const kept = { ...request, providerIds };
  await calls.cancel?.(kept, never);
  await calls.cancel?.(kept, never);
  expect(await calls.inquire({ ...kept, isOver: true }, never)).toMatchObject({ state: { status: "failed" } });
  // While it is wanted, what is gone without our doing is not known to have failed.
  await expect(calls.inquire(kept, never)).rejects.toThrow("unclearly");
  expect(control.opened(request.operationKey)).toBe(1);
  await expect(control.pay(request.operationKey)).rejects.toThrow("deleted");
});

test.for(accounts)("an account %s that they do not delete stays as it is, and is told so", async ([, at, change]) => {
  const [{ calls }, control] = at();
  const request = wish(change);
  const { providerIds } = await calls.open(request, never);
  const kept = { ...request, providerIds };
  control.fault("refuse");
  await expect(calls.cancel?.(kept, never)).rejects.toMatchObject({ name: "AcquirerRefused" });
  await control.pay(request.operationKey, { notify: false });
  await expect(calls.cancel?.(kept, never)).rejects.not.toBeInstanceOf(AcquirerRefused);
  expect(await calls.inquire(kept, never)).toMatchObject({ state: paidWith(5_800_000n) });
});

test("what is said is told without keys, tokens or names", async () => {
  const messages: AcquirerMessage[] = [];
  await acquirer.calls.open(wish({ method: "va", channel: "bca" }), never, (one) => messages.push(one));
  await acquirer.calls.check?.(never, (one) => messages.push(one));
  expect(messages.map(({ about }) => about)).toEqual([
    "POST /virtual-accounts/bi-snap-va/v1.1/transfer-va/create-va",
    "POST /authorization/v1/access-token/b2b",
  ]);
  const text = messages.map((one) => one.text).join("\n");
  expect(text).toContain("2002700");
  for (const secret of [SECRET, "Warung Bu Sri", "eyJ", "PRIVATE KEY"]) expect(text).not.toContain(secret);
  expect(/"accessToken":"(?!\[redacted\])/.test(text)).toBe(false);
});

test("the harmless call says that the key works, and how far the clocks are apart", async () => {
  const checked = await acquirer.calls.check?.(never);
  expect(checked?.findings).toEqual([{ well: true, text: "DOKU gives tokens for our key, good for 900 seconds" }]);
  expect(Math.abs(checked?.clockDifferenceMs ?? Number.NaN)).toBeLessThan(2_000);
});

test("where no token is given because our clock is wrong, both are told", async () => {
  offset = -600 * SECOND;
  try {
    const checked = await acquirer.calls.check?.(never);
    expect(checked?.findings).toEqual([
      {
        well: false,
        text: 'DOKU gives no token for our key: their answer was 401, "4017300" "Unauthorized. Signature"',
      },
    ]);
    expect(Math.abs((checked?.clockDifferenceMs ?? Number.NaN) - 600_000)).toBeLessThan(2_000);
  } finally {
    offset = 0;
  }
});

test("amounts with sen are left out by routing", () => {
  expect(acquirer.capabilities.every(({ stepMinor }) => stepMinor === 100n)).toBe(true);
});
