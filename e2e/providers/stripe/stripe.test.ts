// Goal: whatever is lost between Stripe and us, a payment has one page, a refund happens once, and nothing is believed that was not read.
// Method: the connector over real sockets against the made-up Stripe, one thing going wrong at a time, with a clock that is moved.
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import {
  AcquirerRefused,
  type EvidenceRequest,
  type MessageMeaning,
  type OpenRequest,
  type RefundRequest,
  type AcquirerMessage,
} from "../../../gateway/src/acquirers/acquirer.ts";
import { type Micros, SECOND } from "../../../gateway/src/ground/clock.ts";
import { newId } from "../../../gateway/src/ground/ids.ts";
import { stripeProfileSchema } from "../../../gateway/src/providers/stripe/profile.ts";
import { stripeAcquirer } from "../../../gateway/src/providers/stripe/stripe.ts";
import { EXAM_DEADLINE_MS, type FaultName, silenceOf } from "../fake.ts";
import { type StripeFake, stripeFake } from "./fake.ts";

const SECRET_KEY = "sk_test_key_of_the_tests";
const MADE: Micros = 1_795_442_400 * SECOND;
const MINUTE = 60 * SECOND;
const clock = { at: MADE, now: () => clock.at };
const folder = mkdtempSync(join(tmpdir(), "stripe-"));

let fake: StripeFake;
let acquirer: ReturnType<typeof connect>;

function connect(url: string) {
  writeFileSync(join(folder, "key"), SECRET_KEY);
  writeFileSync(join(folder, "webhook"), "whsec_new\nwhsec_old\n");
  return reconnect(url);
}

/** With the keys as they are in their files. */
function reconnect(url = fake.url) {
  const opened = stripeAcquirer(
    stripeProfileSchema.parse({
      provider: "stripe",
      code: "stripe",
      name: "Stripe",
      environment: "sandbox",
      url,
      deadline_ms: EXAM_DEADLINE_MS,
      secret_key: { file: join(folder, "key") },
      webhook_secret: { file: join(folder, "webhook") },
      methods: [
        {
          method: "card",
          minimum_minor: 1,
          maximum_minor: 999_999_999_999,
          cost: { basis_points: 340, flat_minor: 0 },
        },
      ],
    }),
    clock,
  );
  const { calls } = opened;
  if (!calls) throw new Error("it makes no calls");
  return { opened, calls: silenceOf(url).endsCallsOf({ ...opened, calls }).calls };
}

/** Where the made-up Stripe notifies: each event is read as it comes. */
const meaning: MessageMeaning[] = [];
/** Length of the newest event. */
let heardBytes = 0;
const endpoint = createServer((incoming, response) => {
  const parts: Buffer[] = [];
  incoming.on("data", (part: Buffer) => parts.push(part));
  incoming.on("end", () => {
    const message = { method: "POST", target: "/x", rest: "", headers: incoming.headers, body: Buffer.concat(parts) };
    heardBytes = message.body.length;
    try {
      meaning.push(acquirer.calls.receive(message, clock.now()));
      response.writeHead(200).end('{"received":true}');
    } catch (error) {
      response.writeHead(400).end(String(error));
    }
  });
});

beforeAll(async () => {
  endpoint.listen(0, "127.0.0.1");
  await once(endpoint, "listening");
  const webhookUrl = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/callbacks`;
  fake = await stripeFake({
    secretKey: SECRET_KEY,
    webhookSecrets: ["whsec_old"],
    webhookUrl,
    nowMs: () => clock.at / 1_000,
  });
  acquirer = connect(fake.url);
});

beforeEach(() => {
  clock.at = MADE;
  meaning.length = 0;
});

afterAll(async () => {
  await acquirer.opened.close();
  await fake.close();
  endpoint.closeAllConnections();
  endpoint.close();
  rmSync(folder, { recursive: true });
});

const messages: AcquirerMessage[] = [];
const record = (said: AcquirerMessage): void => void messages.push(said);
const signal = new AbortController().signal;
let made = 0;

function order(change: Partial<OpenRequest> = {}): OpenRequest {
  made++;
  return {
    reference: newId("payment", MADE),
    operationKey: `k${made}.stripe.1`,
    amountMinor: 150_050n,
    currency: "IDR",
    method: "card",
    merchantName: "Toko",
    expiresAt: MADE + 60 * MINUTE,
    payUrl: "https://pay.example/pay/abc",
    returnUrl: undefined,
    metadata: undefined,
    callbackUrl: "https://pay.example/acquirers/stripe/callbacks",
    round: 0,
    isOver: false,
    providerIds: undefined,
    ...change,
  };
}

const open = (request: OpenRequest) => acquirer.calls.open(request, signal, record);
const ask = (request: OpenRequest) => acquirer.calls.inquire(request, signal, record);
const cancel = (request: OpenRequest) =>
  acquirer.calls.cancel?.(request, signal, record) ?? Promise.reject(new Error("it closes none"));

/** A payment that its payer has paid, and what is known of it. */
async function paid(change: Partial<OpenRequest> = {}) {
  const request = order(change);
  await open(request);
  await fake.control.pay(request.operationKey);
  const known = await ask(request);
  if (!known.known) throw new Error("it is not known");
  return { request, known };
}

function refundOf(
  payment: OpenRequest,
  ids: RefundRequest["paymentProviderIds"],
  amountMinor = 50_050n,
): RefundRequest {
  made++;
  return {
    operationKey: `r${made}.stripe.1`,
    paymentOperationKey: payment.operationKey,
    paymentProviderIds: ids,
    isOver: false,
    paymentAmountMinor: payment.amountMinor,
    method: "card",
    amountMinor,
    currency: "IDR",
    callbackUrl: payment.callbackUrl,
    providerIds: undefined,
  };
}

test("a payment is opened, paid, notified with a secret that is rolled over, and asked about", async () => {
  const request = order();
  const { instructions, providerIds } = await open(request);
  expect(instructions).toMatchObject({ type: "redirect", value: instructions.redirect_url });
  expect(instructions.value).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/c\/pay\/cs_test_/);
  expect(await ask({ ...request, providerIds })).toMatchObject({ known: true, state: { status: "waiting" } });
  await fake.control.pay(request.operationKey, { times: 2 });
  const looks = meaning.flatMap((one) => (one.kind === "reports" ? one.reports : []));
  expect(looks).toEqual([
    { kind: "look", operationKey: request.operationKey },
    { kind: "look", operationKey: request.operationKey },
  ]);
  expect(await ask({ ...request, providerIds })).toMatchObject({
    state: { status: "paid", receipt: { amountMinor: 150_050n, currency: "IDR", feeMinor: 5_102n } },
    providerIds: {
      session: providerIds?.session,
      payment_intent: expect.stringMatching(/^pi_/) as string,
      account: expect.stringMatching(/^pi_/) as string,
    },
  });
});

/** What each fault leaves behind when a page is ordered, and what asking makes of it. */
test.each<[FaultName, "refused" | "unknown"]>([
  ["silent after effect", "unknown"],
  ["500 after effect", "unknown"],
  ["silent before effect", "unknown"],
  ["unavailable", "unknown"],
  ["html", "unknown"],
  ["half answer", "unknown"],
  ["huge answer", "unknown"],
  ["redirect", "unknown"],
  ["wrong amount", "unknown"],
  ["wrong currency", "unknown"],
  ["unknown status", "unknown"],
  ["refuse", "refused"],
  ["key revoked", "refused"],
])("after %j the order is %s, and there is one page", async (fault, expected) => {
  const request = order();
  fake.control.fault(fault);
  const outcome = await open(request).catch((error: unknown) => error);
  expect(outcome).toBeInstanceOf(Error);
  expect(outcome instanceof AcquirerRefused ? "refused" : "unknown").toBe(expected);
  if (expected === "refused") return expect(fake.control.opened(request.operationKey)).toBe(0);
  expect(await ask(request)).toMatchObject({ known: true, state: { status: "waiting" } });
  expect(fake.control.opened(request.operationKey)).toBe(1);
});

test("an inquiry says nothing while the answer cannot be believed, or the key is not taken", async () => {
  const request = order();
  const { providerIds } = await open(request);
  for (const fault of [
    "key revoked",
    "html",
    "wrong amount",
    "wrong currency",
    "unknown status",
    "half answer",
  ] as const) {
    fake.control.fault(fault);
    await expect(ask({ ...request, providerIds }), fault).rejects.toThrow();
  }
  fake.control.fault("key revoked");
  await expect(ask(request)).rejects.toThrow("api_key_expired");
  expect(fake.control.opened(request.operationKey)).toBe(1);
});

test("a definite no in an inquiry means that it will never be there", async () => {
  fake.control.fault("refuse");
  expect(await ask(order())).toEqual({ known: false });
});

test("an address where nobody listens takes nothing, and says so", async () => {
  const nobody = connect("http://127.0.0.1:1");
  const refused = await nobody.calls.open(order(), signal, record).catch((error: unknown) => error);
  expect(refused).toMatchObject({ name: "AcquirerRefused", unavailable: true });
  await nobody.opened.close();
});

test("a repetition finds the page that was made with an end that is not taken any more", async () => {
  const request = order({ expiresAt: MADE + 30 * MINUTE });
  fake.control.fault("silent after effect");
  await expect(open(request)).rejects.toThrow();
  clock.at = MADE + 20 * MINUTE;
  const { instructions } = await open(request);
  expect(await ask(request)).toMatchObject({ known: true, state: { status: "waiting" }, instructions });
  expect(fake.control.opened(request.operationKey)).toBe(1);
});

test("a payment that is handed over late has a page without an end of its own, and a repetition finds it", async () => {
  const request = order({ expiresAt: MADE + 40 * MINUTE });
  clock.at = MADE + 20 * MINUTE;
  fake.control.fault("silent after effect");
  await expect(open(request)).rejects.toThrow();
  clock.at = MADE + 21 * MINUTE;
  expect(await ask(request)).toMatchObject({ known: true, state: { status: "waiting" } });
  expect(fake.control.opened(request.operationKey)).toBe(1);
});

test("the page of a payment that is over is closed, and the payer can pay no more", async () => {
  const request = order({ expiresAt: MADE + MINUTE });
  const { providerIds } = await open(request);
  clock.at = MADE + MINUTE;
  expect(await ask({ ...request, providerIds })).toMatchObject({ known: true, state: { status: "failed" } });
  await expect(fake.control.pay(request.operationKey)).rejects.toThrow("expired");
});

test("a payer who was faster than the end has paid", async () => {
  const request = order();
  const { providerIds } = await open(request);
  await fake.control.pay(request.operationKey, { notify: false });
  clock.at = MADE + 61 * MINUTE;
  expect(await ask({ ...request, providerIds })).toMatchObject({ state: { status: "paid" } });
});

test("a payment that is over opens no new page, is found where one was made, and is forgotten after a day", async () => {
  const lost = order();
  fake.control.fault("silent after effect");
  await expect(open(lost)).rejects.toThrow();
  const never = order();
  clock.at = MADE + 61 * MINUTE;
  expect(await ask(lost)).toMatchObject({ known: true, state: { status: "failed" } });
  await expect(ask(never)).rejects.toThrow("expires_at");
  clock.at = MADE + 27 * 60 * MINUTE;
  expect(await ask(never)).toEqual({ known: false });
  expect(fake.control.opened(never.operationKey)).toBe(0);
});

test("a page whose answer was lost is found among a hundred others", async () => {
  const lost = order();
  fake.control.fault("silent after effect");
  await expect(open(lost)).rejects.toThrow();
  for (let others = 0; others < 99; others++) await open(order());
  clock.at = MADE + 61 * MINUTE;
  expect(await ask(lost)).toMatchObject({ known: true, state: { status: "failed" } });
});

test("a page that is closed there, and money of another amount, are told as they are", async () => {
  const closed = order();
  const { providerIds } = await open(closed);
  await fake.control.expire(closed.operationKey);
  expect(meaning.at(-1)).toMatchObject({ reports: [{ kind: "look", operationKey: closed.operationKey }] });
  expect(await ask({ ...closed, providerIds })).toMatchObject({ state: { status: "failed" } });
  const short = order();
  await open(short);
  await fake.control.pay(short.operationKey, { amountMinor: 100_000 });
  expect(await ask(short)).toMatchObject({ state: { receipt: { amountMinor: 100_000n } } });
});

test.each([true, false])(
  "a page is closed before its time, and closed twice it is closed; named: %s",
  async (named) => {
    const request = order();
    const { providerIds } = await open(request);
    const later = { ...request, providerIds: named ? providerIds : undefined };
    await cancel(later);
    expect(meaning.at(-1)).toMatchObject({ reports: [{ kind: "look", operationKey: request.operationKey }] });
    await cancel(later);
    expect(await ask({ ...request, providerIds })).toMatchObject({ known: true, state: { status: "failed" } });
    await expect(fake.control.pay(request.operationKey)).rejects.toThrow("expired");
  },
);

test("a page that was paid meanwhile, and one that is not there, are not told as closed", async () => {
  const { request, known } = await paid();
  for (const providerIds of [known.providerIds, undefined]) {
    const told = await cancel({ ...request, providerIds }).catch((error: unknown) => error);
    expect(told).toMatchObject({ message: expect.stringContaining("invalid_request_error") as string });
    expect(told).not.toBeInstanceOf(AcquirerRefused);
  }
  const never = order();
  await expect(cancel(never)).rejects.toThrow("does not show the page");
  await expect(cancel({ ...never, providerIds: { session: "cs_test_none" } })).rejects.toThrow("resource_missing");
  expect(fake.control.opened(never.operationKey)).toBe(0);
});

test.each<FaultName>([
  "refuse",
  "key revoked",
  "unavailable",
  "html",
  "half answer",
  "silent after effect",
  "500 after effect",
  "wrong amount",
  "wrong currency",
  "unknown status",
])("after %j it is not known whether a page is closed, and closing it again tells", async (fault) => {
  const request = order();
  const { providerIds } = await open(request);
  fake.control.fault(fault);
  const told = await cancel({ ...request, providerIds }).catch((error: unknown) => error);
  expect(told).toBeInstanceOf(Error);
  expect(told).not.toBeInstanceOf(AcquirerRefused);
  await cancel({ ...request, providerIds });
});

test.each<[FaultName, "refused" | "unknown"]>([
  ["silent after effect", "unknown"],
  ["500 after effect", "unknown"],
  ["silent before effect", "unknown"],
  ["html", "unknown"],
  ["wrong amount", "unknown"],
  ["unknown status", "unknown"],
  ["refuse", "refused"],
  ["key revoked", "refused"],
])("after %j a refund is %s, and happens once", async (fault, expected) => {
  const { request, known } = await paid();
  const refund = refundOf(request, known.providerIds);
  fake.control.fault(fault);
  const outcome = await acquirer.calls.refund(refund, signal, record).catch((error: unknown) => error);
  expect(outcome instanceof AcquirerRefused ? "refused" : "unknown").toBe(expected);
  if (expected === "refused") return expect(fake.control.refunded(refund.operationKey)).toBe(0);
  const asked = await acquirer.calls.inquireRefund(refund, signal, record);
  expect(asked).toMatchObject({
    known: true,
    status: "pending",
    providerIds: { refund: expect.stringMatching(/^re_/) as string },
  });
  expect(fake.control.refunded(refund.operationKey)).toBe(1);
});

test("a refund is decided there, and told", async () => {
  const { request, known } = await paid();
  const refund = refundOf(request, known.providerIds);
  const { providerIds } = await acquirer.calls.refund(refund, signal, record);
  await fake.control.decideRefund(refund.operationKey, "succeeded");
  expect(meaning.at(-1)).toMatchObject({ reports: [{ kind: "look", operationKey: refund.operationKey }] });
  expect(await acquirer.calls.inquireRefund({ ...refund, providerIds }, signal, record)).toMatchObject({
    status: "succeeded",
  });
  await fake.control.decideRefund(refund.operationKey, "failed");
  expect(meaning.at(-1)).toMatchObject({ reports: [{ kind: "refund", status: "failed" }] });
});

test("a refund in a step that Stripe does not take is refused before anything is sent, and found nowhere when asked about", async () => {
  const { request, known } = await paid();
  const before = messages.length;
  const refund: RefundRequest = { ...refundOf(request, known.providerIds, 1_001n), currency: "KWD" };
  await expect(acquirer.calls.refund(refund, signal, record)).rejects.toThrow(AcquirerRefused);
  expect(messages.slice(before)).toEqual([]);
  expect(await acquirer.calls.inquireRefund(refund, signal, record)).toEqual({ known: false });
  expect(fake.control.refunded(refund.operationKey)).toBe(0);
});

test("refunds beyond the payment are refused, those of nothing too, and the page names the payment", async () => {
  const { request, known } = await paid();
  const { session } = known.providerIds ?? {};
  const all = refundOf(request, { session: String(session) }, 150_050n);
  expect(await acquirer.calls.refund(all, signal, record)).toMatchObject({ status: "pending" });
  const beyond = refundOf(request, known.providerIds, 1n);
  await expect(acquirer.calls.refund(beyond, signal, record)).rejects.toThrow("charge_already_refunded");
  expect(await acquirer.calls.inquireRefund(beyond, signal, record)).toEqual({ known: false });
  await expect(acquirer.calls.refund(refundOf(request, undefined), signal, record)).rejects.toThrow(AcquirerRefused);
});

test("a dispute is told by their name of the payment, and evidence goes back once, with its files", async () => {
  const { request, known } = await paid();
  await fake.control.dispute?.(request.operationKey, "open");
  const [report] = meaning.flatMap((one) => (one.kind === "reports" ? one.reports : [])).slice(-1);
  expect(report).toMatchObject({
    kind: "dispute",
    dispute: { status: "open", amountMinor: 150_050n, reason: "fraudulent" },
  });
  if (report?.kind !== "dispute") throw new Error("no dispute");
  expect(known.providerIds).toMatchObject({ account: report.paymentOperationKey });
  const evidence: EvidenceRequest = {
    disputeId: report.dispute.id,
    operationKey: `d${made}.stripe`,
    statement: "It was signed for.",
    carrier: "JNE",
    trackingNumber: undefined,
    deliveredOn: "2026-11-20",
    files: [
      { name: "receipt.pdf", type: "application/pdf", bytes: Buffer.from("%PDF-1.7") },
      { name: "photo.png", type: "image/png", bytes: Buffer.from([0x89, 0x50, 0x00, 0xff]) },
    ],
  };
  fake.control.fault("500 after effect"); // of the dispute's reading: nothing was submitted
  await expect(acquirer.calls.submitEvidence?.(evidence, signal, record)).rejects.toThrow();
  fake.control.fault("500 after effect", 1, "POST"); // of the first file: under a key it would come again for a day
  await expect(acquirer.calls.submitEvidence?.(evidence, signal, record)).rejects.toThrow();
  await acquirer.calls.submitEvidence?.(evidence, signal, record);
  await acquirer.calls.submitEvidence?.(evidence, signal, record);
  clock.at = MADE + 25 * 60 * MINUTE; // their keys are forgotten by then
  await acquirer.calls.submitEvidence?.(evidence, signal, record);
  const { fields, files, submissions } = fake.control.evidence(request.operationKey);
  expect(fields["uncategorized_text"]).toBe("It was signed for.\n\nDelivered on 2026-11-20.");
  expect(files.toSorted()).toEqual(["photo.png", "receipt.pdf"]);
  expect(submissions).toBe(1);
  const large = { ...evidence, files: [{ name: "scan.pdf", type: "application/pdf", bytes: Buffer.alloc(6_000_000) }] };
  const told: AcquirerMessage[] = [];
  const handed = acquirer.calls.submitEvidence?.(large, signal, (one) => told.push(one));
  await expect(handed).rejects.toMatchObject({ name: "AcquirerRefused", unavailable: false });
  // An operator reads why, though nothing was said to Stripe.
  expect(told).toMatchObject([{ text: expect.stringContaining("file 1 of 1 has 6.0 MB") as string }]);
  const other = { ...evidence, operationKey: `${evidence.operationKey}2` };
  await expect(acquirer.calls.submitEvidence?.(other, signal, record)).rejects.toThrow(AcquirerRefused);
  await fake.control.dispute?.(request.operationKey, "won");
  expect(meaning.at(-1)).toMatchObject({ reports: [{ kind: "dispute", dispute: { status: "won" } }] });
});

test("a dispute with all the evidence that Stripe takes is answered, and its end is told", async () => {
  const { request } = await paid();
  await fake.control.dispute?.(request.operationKey, "open");
  // Saved in Stripe's dashboard and not submitted: seven fields of 20,000 characters each.
  const { fields } = fake.control.evidence(request.operationKey);
  const kept = "access_activity_log cancellation_rebuttal duplicate_charge_explanation refund_policy_disclosure";
  for (const name of `${kept} refund_refusal_explanation product_description cancellation_policy_disclosure`.split(" "))
    fields[name] = "x".repeat(20_000);
  const [report] = meaning.flatMap((one) => (one.kind === "reports" ? one.reports : [])).slice(-1);
  if (report?.kind !== "dispute") throw new Error("no dispute");
  await acquirer.calls.submitEvidence?.(
    {
      disputeId: report.dispute.id,
      operationKey: `d${made}.stripe`,
      statement: "It was signed for.",
      carrier: undefined,
      trackingNumber: undefined,
      deliveredOn: undefined,
      files: [],
    },
    signal,
    record,
  );
  expect(fake.control.evidence(request.operationKey).submissions).toBe(1);
  await fake.control.dispute?.(request.operationKey, "won");
  expect(meaning.at(-1)).toMatchObject({ reports: [{ kind: "dispute", dispute: { status: "won" } }] });
  expect(heardBytes).toBeGreaterThan(140_000);
  expect(heardBytes).toBeLessThan(acquirer.calls.messageMaxBytes ?? 65_536);
});

test("a key of the other mode is refused at the start, and no call is made with one that comes later", async () => {
  const file = join(folder, "key");
  for (const other of ["sk_live_of_another_mode", "rk_live_of_another_mode"]) {
    writeFileSync(file, other);
    const said = (): unknown => reconnect();
    expect(said).toThrow("stripe: secret_key is a key of live mode");
    expect(said).not.toThrow(other);
  }
  writeFileSync(file, SECRET_KEY);
  const replaced = reconnect();
  const known = messages.length;
  writeFileSync(file, "sk_live_of_another_mode");
  const later = vi.spyOn(performance, "now").mockReturnValue(performance.now() + 3_000);
  try {
    await expect(replaced.calls.open(order(), signal, record)).rejects.toMatchObject({
      name: "AcquirerRefused",
      unavailable: true,
      message: expect.stringContaining("secret_key is a key of live mode") as string,
    });
    await expect(replaced.calls.inquire(order(), signal, record)).rejects.toThrow("key of live mode");
    const ended = await replaced.calls.cancel?.(order(), signal, record).catch((error: unknown) => error);
    expect(ended).toMatchObject({ message: expect.stringContaining("key of live mode") as string });
    expect(ended).not.toBeInstanceOf(AcquirerRefused);
    expect(messages).toHaveLength(known);
  } finally {
    later.mockRestore();
    writeFileSync(file, SECRET_KEY);
    await replaced.opened.close();
  }
});

test("the keys are tried out with one harmless call, the clock with them", async () => {
  expect(await acquirer.calls.check?.(signal, record)).toEqual({
    findings: [
      { well: true, text: "The key is accepted." },
      { well: true, text: "It is of test mode, and this entry is for test mode." },
    ],
    clockDifferenceMs: 0,
  });
  fake.control.fault("key revoked");
  expect(await acquirer.calls.check?.(signal, record)).toMatchObject({ findings: [{ well: false }] });
});

test("a payer's browser goes to their page, pays there, and comes back", async () => {
  const request = order({ returnUrl: "https://shop.example/thanks" });
  const { instructions, providerIds } = await open(request);
  expect(await (await fetch(instructions.value)).text()).toContain("Pay by card");
  const back = await fetch(instructions.value, { method: "POST", redirect: "manual" });
  expect(back.headers.get("location")).toBe("https://shop.example/thanks");
  expect(await ask({ ...request, providerIds })).toMatchObject({ state: { status: "paid" } });
});

test("no message has anything of a key", () => {
  expect(messages.length).toBeGreaterThan(50);
  const said = JSON.stringify(messages);
  expect(said).not.toContain(SECRET_KEY);
  expect(said).not.toContain("whsec_");
  expect(said).not.toContain("payer@example.com");
});
