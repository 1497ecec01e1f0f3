// Goal: an answer is believed only where it is whole and about what was asked. Method: documented answers, and each mistake by itself.
import { describe, expect, test } from "vitest";
import { qrText } from "../../../../e2e/providers/xendit/qr.ts";
import { OtherMoney } from "../../acquirers/other-money.ts";
import {
  Unreadable,
  checkEnded,
  instructionsOf,
  readList,
  readPaymentRequest,
  readReceipt,
  readRefund,
  readSession,
  refundStatuses,
  requestStates,
  sessionStates,
} from "./answers.ts";
import {
  KEY,
  PAYMENT,
  PAYMENT_REQUEST,
  REFUND,
  SESSION,
  opening,
  payment,
  paymentRequest,
  refund,
  refunding,
  session,
} from "../../../test/xendit-fixtures.ts";

test("a payment request is read with its name, its state and what the payer needs", () => {
  expect(readPaymentRequest(paymentRequest({ latest_payment_id: PAYMENT }), opening())).toMatchObject({
    state: "waiting",
    paymentRequestId: PAYMENT_REQUEST,
    paymentId: PAYMENT,
  });
  // The guide for migrating calls it `id`.
  const { payment_request_id: id, ...rest } = paymentRequest();
  expect(readPaymentRequest({ ...rest, id }, opening()).paymentRequestId).toBe(PAYMENT_REQUEST);
});

test.for<[string, Record<string, unknown>]>([
  ["reference_id is another one", { reference_id: "pay2" }],
  ["reference_id", { reference_id: undefined }],
  ["currency is another one", { currency: "USD" }],
  ["request_amount is another one", { request_amount: 10_001 }],
  ["request_amount is another one", { request_amount: "ten" }],
  ["request_amount is another one", { request_amount: undefined }],
  ["payment_request_id is missing", { payment_request_id: null }],
  ["payment_request_id: is no id", { payment_request_id: "" }],
  ["payment_request_id: is no id", { payment_request_id: "pr 1" }],
  ["status SETTLED is unknown", { status: "SETTLED" }],
  ["status constructor is unknown", { status: "constructor" }],
  ["status", { status: undefined }],
  ["actions", { actions: "none" }],
])("a payment request is not believed: %s", ([why, change]) => {
  const read = () => readPaymentRequest(paymentRequest(change), opening());
  expect(read).toThrow(Unreadable);
  expect(read).toThrow(why);
});

test.for([[undefined], [null], [{}], ["<html>"], [[]]])("%s is no payment request", ([body]) => {
  expect(() => readPaymentRequest(body, opening())).toThrow(Unreadable);
  expect(() => readSession(body, opening())).toThrow(Unreadable);
  expect(() => readReceipt(body, asked())).toThrow(Unreadable);
  expect(() => readRefund(body, refunding())).toThrow(Unreadable);
  expect(() => readList(body, KEY)).toThrow(Unreadable);
});

test("every documented status is known, and means this", () => {
  expect(requestStates).toEqual({
    ACCEPTING_PAYMENTS: "waiting",
    REQUIRES_ACTION: "waiting",
    PENDING: "processing",
    AUTHORIZED: "processing",
    SUCCEEDED: "paid",
    FAILED: "failed",
    CANCELED: "failed",
    EXPIRED: "failed",
  });
  expect(sessionStates).toEqual({ ACTIVE: "waiting", COMPLETED: "paid", EXPIRED: "failed", CANCELED: "failed" });
  expect(refundStatuses).toEqual({ PENDING: "pending", SUCCEEDED: "succeeded", FAILED: "failed", CANCELLED: "failed" });
});

test("a card page is read, and held against the payment", () => {
  expect(readSession(session(), opening({ method: "card" }))).toMatchObject({ state: "waiting", sessionId: SESSION });
  const paid = session({ status: "COMPLETED", payment_request_id: PAYMENT_REQUEST, payment_id: PAYMENT });
  expect(readSession(paid, opening())).toMatchObject({
    state: "paid",
    paymentId: PAYMENT,
    paymentRequestId: PAYMENT_REQUEST,
  });
  expect(() => readSession(session({ amount: 9_999 }), opening())).toThrow("amount is another one");
  expect(() => readSession(session({ currency: "PHP" }), opening())).toThrow("currency is another one");
  expect(() => readSession(session({ reference_id: "x" }), opening())).toThrow("reference_id is another one");
  expect(() => readSession(session({ status: "DONE" }), opening())).toThrow("status DONE is unknown");
});

describe("money that is not the ordered one", () => {
  const others = [{ currency: "PHP" }, { amount: 9_999 }, { amount: "ten" }];

  test.each(others)("is told of a payment that is paid, and of no other: %j", ({ amount, ...change }) => {
    const changed = { ...change, ...(amount === undefined ? {} : { request_amount: amount }) };
    const request = (status: string, reference_id = KEY) =>
      expect(() => readPaymentRequest(paymentRequest({ ...changed, status, reference_id }), opening()));
    request("SUCCEEDED").toThrow(OtherMoney);
    request("REQUIRES_ACTION").toThrow(Unreadable);
    request("EXPIRED").toThrow(Unreadable);
    request("SUCCEEDED", "pay2").toThrow(Unreadable);
    const page = { ...change, ...(amount === undefined ? {} : { amount }) };
    expect(() => readSession(session({ ...page, status: "COMPLETED" }), opening())).toThrow(OtherMoney);
    expect(() => readSession(session({ ...page, status: "ACTIVE" }), opening())).toThrow(Unreadable);
  });

  test.each(others)("is told of a refund that did not fail: %j", (change) => {
    const read = (status: string) => expect(() => readRefund(refund({ ...change, status }), refunding()));
    read("PENDING").toThrow(OtherMoney);
    read("SUCCEEDED").toThrow(OtherMoney);
    read("FAILED").toThrow(Unreadable);
  });

  test.each<[keyof ReturnType<typeof paymentRequest>, unknown]>([
    ["request_amount", undefined],
    ["currency", undefined],
    ["currency", null],
    ["latest_payment_id", "x".repeat(65)],
    ["actions", [{ descriptor: "QR_STRING" }]],
  ])("is told of a paid payment request that cannot be read: %s is %j", (field, value) => {
    const read = (status: string, reference_id = KEY) => {
      const { [field]: _, ...rest } = paymentRequest({ status, reference_id });
      return expect(() => readPaymentRequest({ ...rest, ...(value !== undefined && { [field]: value }) }, opening()));
    };
    read("SUCCEEDED").toThrow(OtherMoney);
    for (const status of ["REQUIRES_ACTION", "EXPIRED", "SETTLED"]) read(status).toThrow(Unreadable);
    read("SUCCEEDED", "pay2").toThrow(Unreadable);
  });

  test("is told of a paid card page and of a refund that cannot be read", () => {
    const { amount: _amount, ...page } = session({ status: "COMPLETED" });
    expect(() => readSession(page, opening())).toThrow(OtherMoney);
    expect(() => readSession({ ...page, status: "ACTIVE" }, opening())).toThrow(Unreadable);
    const { amount: _of, ...given } = refund({ status: "SUCCEEDED" });
    expect(() => readRefund(given, refunding())).toThrow(OtherMoney);
    expect(() => readRefund({ ...given, status: "FAILED" }, refunding())).toThrow(Unreadable);
  });

  test.each([
    { currency: null },
    { captures: "all of it" },
    { captures: [{ capture_amount: "10000.001" }] },
    { currency: "XXX" },
    { captures: [{ capture_amount: 0 }] },
  ])("is told of a paid payment whose amount cannot be read: %j", (change) => {
    expect(() => readReceipt(payment(change), asked())).toThrow(OtherMoney);
    expect(() => readReceipt(payment({ ...change, status: "PENDING" }), asked())).toThrow(Unreadable);
  });
});

/** What was asked for: the payment, of this payment request if that is known. */
const asked = (paymentRequestId?: string) => ({ paymentId: PAYMENT, paymentRequestId });

test("the money that came is what was captured", () => {
  expect(readReceipt(payment(), asked(PAYMENT_REQUEST))).toEqual({
    transactionId: PAYMENT,
    amountMinor: 1_000_000n,
    currency: "IDR",
  });
  const two = payment({ captures: [{ capture_amount: 4_000 }, { capture_amount: 5_000.5 }] });
  expect(readReceipt(two, asked()).amountMinor).toBe(900_050n);
  // As the documentation's example of a virtual account: without captures.
  expect(readReceipt(payment({ captures: undefined }), asked()).amountMinor).toBe(1_000_000n);
  expect(readReceipt(payment({ captures: [], request_amount: 7 }), asked()).amountMinor).toBe(700n);
});

test.for<[string, Record<string, unknown>]>([
  ["status is PENDING, not SUCCEEDED", { status: "PENDING" }],
  ["payment_request_id is another one", { payment_request_id: "pr-2" }],
  ["an amount is none", { captures: [{ capture_amount: "10000.001" }] }],
  ["captures.0.capture_amount", { captures: [{}] }],
  ["an amount is none", { currency: "XXX" }],
  ["its amount is nothing", { captures: [{ capture_amount: 0 }] }],
  ["payment_id", { payment_id: undefined }],
  ["payment_id is another one", { payment_id: "py-2" }],
  ["payment_id", { payment_id: "x".repeat(65) }],
])("a payment is not believed: %s", ([why, change]) => {
  expect(() => readReceipt(payment(change), asked(PAYMENT_REQUEST))).toThrow(why);
});

test("a refund is read, and held against ours", () => {
  expect(readRefund(refund(), refunding())).toEqual({ id: REFUND, status: "pending" });
  expect(readRefund(refund({ status: "CANCELLED" }), refunding()).status).toBe("failed");
  for (const [why, change] of [
    ["reference_id is another one", { reference_id: null }],
    ["currency is another one", { currency: "PHP" }],
    ["amount is another one", { amount: 10_000 }],
    ["status REFUNDED is unknown", { status: "REFUNDED" }],
  ] as const)
    expect(() => readRefund(refund(change), refunding())).toThrow(why);
});

test("of a list only what carries our key counts, also where a filter was not understood", () => {
  const list = { data: [paymentRequest({ reference_id: "other" }), "?", paymentRequest()], has_more: true };
  expect(readList(list, KEY).matching).toEqual([paymentRequest()]);
  expect(readList({ data: [refund({ reference_id: "other" })], has_more: true }, KEY)).toEqual({
    matching: [],
    more: true,
    lastId: REFUND,
  });
  expect(readList({ data: [] }, KEY)).toEqual({ matching: [], more: false, lastId: undefined });
});

const told = (change: Record<string, unknown>, request: Parameters<typeof opening>[0], channel?: string) =>
  instructionsOf(opening(request), channel, readPaymentRequest(paymentRequest(change), opening(request)), false);
const expires_at = "2026-11-23T10:00:00Z";

test("the payer is told how to pay, by each method", () => {
  const value = "00020101021226650013ID.CO.QRIS.WWW6304A1B2";
  expect(told({}, {})).toEqual({ type: "qr_string", value, expires_at, qr_string: value });
  const account = [{ type: "PRESENT_TO_CUSTOMER", descriptor: "VIRTUAL_ACCOUNT_NUMBER", value: "8881761038089006" }];
  expect(told({ actions: account }, { method: "va" }, "bca")).toEqual({
    type: "va_number",
    value: "8881761038089006",
    expires_at,
    bank_name: "Bank Central Asia",
    bank_code: "014",
    account_number: "8881761038089006",
    account_name: "Toko Rimba",
  });
  const redirects = [
    { type: "REDIRECT_CUSTOMER", descriptor: "DEEPLINK_URL", value: "shopeeid://pay" },
    { type: "REDIRECT_CUSTOMER", descriptor: "DEEPLINK_URL", value: "https://wsa.shopee.example/app" },
    { type: "REDIRECT_CUSTOMER", descriptor: "WEB_URL", value: "https://redirect.partner.example/web" },
  ];
  const page = "https://redirect.partner.example/web";
  expect(told({ actions: redirects }, { method: "ewallet" }, "shopeepay")).toEqual({
    type: "redirect",
    value: page,
    expires_at,
    redirect_url: page,
  });
  const card = opening({ method: "card" });
  expect(instructionsOf(card, undefined, readSession(session(), card), false)).toMatchObject({
    type: "redirect",
    redirect_url: "https://xen.to/kGxPCi60",
  });
});

const code = (value: string) => [{ type: "PRESENT_TO_CUSTOMER", descriptor: "QR_STRING", value }];

test("a code for this money is shown, and the placeholder of their test mode", () => {
  const small = qrText(10_000, "1").replace(/[0-9A-F]{4}$/, (crc) => crc.toLowerCase());
  for (const value of [qrText(10_000, "1"), small, "some-random-qr-string"])
    expect(told({ actions: code(value) }, {})).toMatchObject({ type: "qr_string", value });
});

test.for([
  ["another amount", qrText(10_001, "1")],
  ["another currency", "0002015303840540510000"],
  ["another amount", "0002015303360549999999"], // breaks off within the amount
  ["another amount", "000201530336054051000054059999"],
  ["another checksum", qrText(10_000, "1").replace("FAKE", "FAXE")],
] as const)("a code with %s is shown to no payer", ([what, value]) => {
  expect(() => told({ actions: code(value) }, {})).toThrow(what);
});

test("a paid payment is read, whatever its code said", () => {
  const value = qrText(9_999, "1");
  expect(told({ actions: code(value), status: "SUCCEEDED" }, {})).toMatchObject({ value });
});

test.for<[string, Parameters<typeof opening>[0], string | undefined, object]>([
  ["a code that is empty", {}, undefined, { type: "PRESENT_TO_CUSTOMER", descriptor: "QR_STRING", value: "" }],
  [
    "a number that is masked",
    { method: "va" },
    "bca",
    { type: "PRESENT_TO_CUSTOMER", descriptor: "VIRTUAL_ACCOUNT_NUMBER", value: "888176xxxx" },
  ],
  [
    "an address for no payer",
    { method: "ewallet" },
    "ovo",
    { type: "REDIRECT_CUSTOMER", descriptor: "WEB_URL", value: "http://partner.example/paid" },
  ],
  [
    "a number at a bank that has left the entry",
    { method: "va" },
    undefined,
    { type: "PRESENT_TO_CUSTOMER", descriptor: "VIRTUAL_ACCOUNT_NUMBER", value: "8881761038089006" },
  ],
])("a payment that waits no more is read with %s: our own page stands in", ([, request, channel, action]) => {
  for (const status of ["SUCCEEDED", "EXPIRED"])
    expect(told({ actions: [action], status }, request, channel).value).toBe("https://pay.rimba.example/pay/abc");
  expect(() => told({ actions: [action] }, request, channel)).toThrow(Unreadable);
});

test.for<[string, Record<string, unknown>, Parameters<typeof opening>[0], string?]>([
  ["QR_STRING", { actions: [] }, {}],
  ["QR_STRING", { actions: null }, {}],
  ["QR_STRING", { actions: [{ type: "PRESENT_TO_CUSTOMER", descriptor: "QR_STRING", value: "" }] }, {}],
  ["VIRTUAL_ACCOUNT_NUMBER", {}, { method: "va" }, "bca"],
  [
    "VIRTUAL_ACCOUNT_NUMBER",
    { actions: [{ type: "PRESENT_TO_CUSTOMER", descriptor: "VIRTUAL_ACCOUNT_NUMBER", value: "88x" }] },
    { method: "va" },
    "bca",
  ],
  ["WEB_URL", {}, { method: "ewallet" }, "ovo"],
  [
    "WEB_URL",
    { actions: [{ type: "REDIRECT_CUSTOMER", descriptor: "WEB_URL", value: "javascript:alert(1)" }] },
    { method: "ewallet" },
    "ovo",
  ],
  [
    "is no https address",
    { actions: [{ type: "REDIRECT_CUSTOMER", descriptor: "WEB_URL", value: "http://partner.example/" }] },
    { method: "ewallet" },
    "ovo",
  ],
  [
    "has a user name in it",
    { actions: [{ type: "REDIRECT_CUSTOMER", descriptor: "WEB_URL", value: "https://a@partner.example/" }] },
    { method: "ewallet" },
    "ovo",
  ],
])("a payment that waits is not believed without %s", ([why, change, request, channel]) => {
  expect(() => told(change, request, channel)).toThrow(why);
});

test("once a payment waits no longer, the payer's page stands in for what Xendit tells no more", () => {
  expect(told({ actions: [], status: "SUCCEEDED" }, { method: "ewallet" }, "ovo")).toMatchObject({
    type: "redirect",
    redirect_url: "https://pay.rimba.example/pay/abc",
  });
  expect(told({ actions: null, status: "EXPIRED" }, {}).value).toBe("https://pay.rimba.example/pay/abc");
});

test.for<[string, string | undefined]>([
  ["CANCELED", undefined],
  ["EXPIRED", undefined],
  ["FAILED", undefined],
  ["REQUIRES_ACTION", "it is waiting"],
  ["ACCEPTING_PAYMENTS", "it is waiting"],
  ["PENDING", "it is processing"],
  ["AUTHORIZED", "it is processing"],
  ["SUCCEEDED", "it is paid"],
])("an end that is answered with a payment request that is %s leaves: %s", ([status, left]) => {
  const payment = readPaymentRequest(paymentRequest({ status }), opening());
  const end = () => checkEnded(payment, PAYMENT_REQUEST);
  if (left === undefined) expect(end).not.toThrow();
  else expect(end).toThrow(left);
  expect(() => checkEnded(payment, "pr-2")).toThrow("it is another one");
});

test.for<[string, string | undefined]>([
  ["CANCELED", undefined],
  ["EXPIRED", undefined],
  ["ACTIVE", "it is waiting"],
  ["COMPLETED", "it is paid"],
])("an end that is answered with a card page that is %s leaves: %s", ([status, left]) => {
  // The page, not the payment request that it may have made, is what was to be ended.
  const payment = readSession(session({ status, payment_request_id: PAYMENT_REQUEST }), opening({ method: "card" }));
  const end = () => checkEnded(payment, SESSION);
  if (left === undefined) expect(end).not.toThrow();
  else expect(end).toThrow(left);
  expect(() => checkEnded(payment, PAYMENT_REQUEST)).toThrow("it is another one");
});
