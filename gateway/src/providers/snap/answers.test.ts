// Goal: an answer is believed only as far as it is about what was asked. Method: each documented answer, then one change at a time.
import { describe, expect, test } from "vitest";
import { NOW, openRequest, refundRequest } from "../../../test/snap-rig.ts";
import { OtherMoney } from "../../acquirers/other-money.ts";
import { SECOND } from "../../ground/clock.ts";
import {
  type Body,
  accountOpened,
  qrKept,
  readAccountStatus,
  readCreated,
  readDeleted,
  readQr,
  readRefund,
  readStatus,
  readWalletPage,
  receiptOf,
  refundInHistory,
  walletKept,
} from "./answers.ts";
import { bri } from "./profiles/bri.ts";
import { doku } from "./profiles/doku.ts";

const reference = "pay01kb5zw3d9h4vq0t7n8m2c6xre-01kb5zw3d9h4vq0t7n8m2c6xrf-s1";
const refund = "rfd01kb5zw3d9h4vq0t7n8m2c6xrg-01kb5zw3d9h4vq0t7n8m2c6xrf-s1";
const request = openRequest();
const range = { partnerServiceId: "19008", customerNo: "0" };
const account = { partnerServiceId: "19008", customerNo: "00000347140" };
const amount = { value: "58000.00", currency: "IDR" };

const data = {
  partnerServiceId: "   19008",
  customerNo: "00000347140",
  virtualAccountNo: "   1900800000347140",
  virtualAccountName: "Warung Bu Sri",
  trxId: reference,
  totalAmount: amount,
};
const created = (change: Body = {}): Body => ({ responseCode: "2002700", virtualAccountData: { ...data, ...change } });

test("an account that was made is told with its number, kept, and shown", () => {
  expect(readCreated(created(), request, range, "theirs")).toEqual(account);
  expect(readCreated(created({ virtualAccountNo: "1900800000347140" }), request, range, "theirs")).toEqual(account);
  expect(readCreated(created(), request, account, "ours")).toEqual(account);
  const opened = accountOpened(request, doku.virtualAccounts!.banks.bca!, account);
  expect(opened).toEqual({
    instructions: {
      type: "va_number",
      value: "1900800000347140",
      expires_at: "2026-11-23T15:00:00Z",
      bank_name: "Bank Central Asia",
      bank_code: "014",
      account_number: "1900800000347140",
      account_name: "Warung Bu Sri",
    },
    providerIds: { account: "1900800000347140", service: "19008", customer: "00000347140" },
  });
});

test.for([
  ["trxId", { trxId: "INV-1" }],
  ["trxId", { trxId: undefined }],
  ["totalAmount", { totalAmount: { value: "58001.00", currency: "IDR" } }],
  ["totalAmount", { totalAmount: { value: "58000.00", currency: "USD" } }],
  ["totalAmount", { totalAmount: undefined }],
  ["partnerServiceId", { partnerServiceId: "   19009", virtualAccountNo: "   1900900000347140" }],
  ["partnerServiceId", { partnerServiceId: 19_008 }],
  ["customerNo", { customerNo: "10000347140", virtualAccountNo: "   1900810000347140" }],
  ["customerNo", { customerNo: "0", virtualAccountNo: "   190080" }],
  ["customerNo", { customerNo: "0x1" }],
  ["virtualAccountNo", { virtualAccountNo: "   1900800000347141" }],
  ["virtualAccountNo", { virtualAccountNo: undefined }],
] as const)("an account with another %s is not the one that was asked for", ([field, change]) => {
  expect(() => readCreated(created(change), request, range, "theirs")).toThrow(field);
});

test("an account of another number than ours, and an answer without one, are refused", () => {
  expect(() => readCreated(created(), request, { ...account, customerNo: "00000347141" }, "ours")).toThrow(
    "customerNo",
  );
  for (const virtualAccountData of [undefined, null, [], "x"])
    expect(() => readCreated({ virtualAccountData }, request, range, "theirs")).toThrow("virtualAccountData");
});

const { partnerServiceId, customerNo, virtualAccountNo } = data;
const alone = { partnerServiceId, customerNo, virtualAccountNo };

test.for([
  [
    "with its reference, as DOKU tells it",
    { ...alone, trxId: reference, additionalInfo: { channel: "VIRTUAL_ACCOUNT_BCA" } },
  ],
  ["alone, as BRI tells it", alone],
] as const)("an account was deleted where the answer names it %s", ([, virtualAccountData]) => {
  expect(() => readDeleted({ virtualAccountData }, request, account)).not.toThrow();
});

test.for([
  ["virtualAccountData", undefined],
  ["virtualAccountData", []],
  ["virtualAccountNo", { ...alone, customerNo: "00000347141", virtualAccountNo: "   1900800000347141" }],
  ["virtualAccountNo", { ...alone, virtualAccountNo: "   1900800000347141" }],
  ["virtualAccountNo", { ...alone, virtualAccountNo: undefined }],
  ["trxId", { ...alone, trxId: "INV-1" }],
] as const)("an answer about a deletion with another %s is none", ([field, virtualAccountData]) => {
  expect(() => readDeleted({ virtualAccountData }, request, account)).toThrow(field);
});

const ofDoku = doku.virtualAccounts!;
const ofBri = bri.virtualAccounts!;
const status = (change: Body = {}, info: Body = { trxId: reference }): Body => ({
  responseCode: "2002600",
  virtualAccountData: {
    ...data,
    totalAmount: undefined,
    paidAmount: amount,
    paymentRequestId: "12839218738127830",
    paymentFlagReason: { english: "Success", indonesia: "Sukses" },
    ...change,
  },
  additionalInfo: info,
});

test("an account is paid when the reason says so, and not because an amount stands there", () => {
  const receipt = { transactionId: "12839218738127830", amountMinor: 5_800_000n, currency: "IDR" };
  expect(readAccountStatus(status(), request, account, ofDoku)).toEqual({ status: "paid", receipt });
  expect(readAccountStatus(status({ paymentFlagStatus: "00" }), request, account, ofDoku)).toEqual({
    status: "paid",
    receipt,
  });
  const pending = {
    paymentFlagReason: { english: "Pending", indonesia: "Belum Terbayar" },
    paymentRequestId: undefined,
  };
  expect(readAccountStatus(status(pending), request, account, ofDoku)).toEqual({ status: "waiting" });
});

test.for([
  ["paidAmount", { paidAmount: { value: "57999.00", currency: "IDR" } }],
  ["paidAmount", { paidAmount: { value: "58000.00", currency: "USD" } }],
  ["paidAmount", { paidAmount: undefined }],
  ["paymentRequestId", { paymentRequestId: undefined }],
  ["paymentRequestId", { paymentRequestId: "" }],
  ["paymentFlagReason", { paymentFlagReason: undefined }],
  ["paymentFlagReason", { paymentFlagReason: { english: "Reversed" } }],
  ["paymentFlagStatus", { paymentFlagStatus: "01" }],
  ["paymentFlagStatus", { paymentFlagStatus: "03" }],
  ["trxId", { trxId: "INV-1" }],
  ["virtualAccountNo", { customerNo: "00000347141", virtualAccountNo: "   1900800000347141" }],
] as const)("a paid account with another %s is not believed", ([field, change]) => {
  expect(() => readAccountStatus(status(change), request, account, ofDoku)).toThrow(field);
});

test("an account at BRI says by Y or N whether it was paid, and counts once", () => {
  const told = (info: Body, change: Body = {}): Body => ({
    virtualAccountData: { ...data, trxId: undefined, totalAmount: undefined, ...change },
    additionalInfo: info,
  });
  expect(readAccountStatus(told({ paidStatus: "N" }), request, account, ofBri)).toEqual({ status: "waiting" });
  expect(readAccountStatus(told({ paidStatus: "Y" }), request, account, ofBri)).toEqual({
    status: "paid",
    receipt: {
      transactionId: `1900800000347140.${request.operationKey.split(".")[0]}`,
      amountMinor: 5_800_000n,
      currency: "IDR",
    },
  });
  expect(() => readAccountStatus(told({}), request, account, ofBri)).toThrow("paidStatus");
  expect(() => readAccountStatus(told({ paidStatus: "X" }), request, account, ofBri)).toThrow("paidStatus");
  const less = { paidAmount: { value: "1.00", currency: "IDR" } };
  expect(() => readAccountStatus(told({ paidStatus: "Y" }, less), request, account, ofBri)).toThrow("paidAmount");
});

describe("money that is not the ordered one", () => {
  const other = [{ value: "57999.00", currency: "IDR" }, { value: "58000.00", currency: "USD" }, undefined];
  const paidOfBri = { virtualAccountData: { ...data, trxId: undefined }, additionalInfo: { paidStatus: "Y" } };

  test.for(other)("is told of a payment that is paid: %j", (paidAmount) => {
    expect(() => readAccountStatus(status({ paidAmount }), request, account, ofDoku)).toThrow(OtherMoney);
    for (const latestTransactionStatus of ["00", "04"])
      expect(() => readStatus(query({ latestTransactionStatus, amount: paidAmount }), asked)).toThrow(OtherMoney);
  });

  test("is told of a payment that is paid and cannot be counted, since nothing identifies it", () => {
    expect(() => readAccountStatus(status({ paymentRequestId: undefined }), request, account, ofDoku)).toThrow(
      OtherMoney,
    );
    const nameless = query({ originalReferenceNo: undefined });
    expect(() => readStatus(nameless, { ...asked, kept: undefined })).toThrow(OtherMoney);
  });

  test("is told of an account whose status need not name an amount, where it names another one", () => {
    const { virtualAccountData, additionalInfo } = paidOfBri;
    const less = { ...virtualAccountData, paidAmount: { value: "1.00", currency: "IDR" } };
    const read = () => readAccountStatus({ virtualAccountData: less, additionalInfo }, request, account, ofBri);
    expect(read).toThrow(OtherMoney);
  });

  test("is told of a refund that is made, or under way, and of no failed one", () => {
    expect(() => readRefund(refunded({ refundAmount: amount }), refundRequest())).toThrow(OtherMoney);
    const read = (refundStatus: string) => () =>
      refundInHistory(
        {
          originalPartnerReferenceNo: reference,
          refundHistory: [{ partnerReferenceNo: refund, refundAmount: amount, refundStatus }],
        },
        refundRequest({ method: "ewallet" }),
      );
    expect(read("00")).toThrow(OtherMoney);
    expect(read("03")).toThrow(OtherMoney);
    expect(read("06")).toThrow("refundAmount");
    expect(read("06")).not.toThrow(OtherMoney);
  });

  test("is not told of a payment that waits, or is another one", () => {
    const waits = { paymentFlagReason: { english: "Pending" }, paidAmount: other[0] };
    expect(readAccountStatus(status(waits), request, account, ofDoku)).toEqual({ status: "waiting" });
    const strange = { amount: other[0], originalPartnerReferenceNo: "INV-1" };
    expect(() => readStatus(query(strange), asked)).not.toThrow(OtherMoney);
  });
});

const byQr = openRequest({ method: "qris" });
const content = `0002010102125303360540558000${"5802ID".padEnd(300, "x")}`;
const qr = (change: Body = {}): Body => ({
  responseCode: "2004700",
  referenceNo: "DOKU-1",
  partnerReferenceNo: reference,
  qrContent: content,
  ...change,
});

test("a QR code is shown, and kept whole, since no later answer tells it", () => {
  const opened = readQr(qr(), byQr);
  expect(opened.instructions).toEqual({
    type: "qr_string",
    value: content,
    expires_at: "2026-11-23T15:00:00Z",
    qr_string: content,
  });
  expect(Object.values(opened.providerIds ?? {}).every((id) => id.length <= 255)).toBe(true);
  expect(qrKept({ ...byQr, providerIds: opened.providerIds })).toEqual(opened);
  expect(qrKept(byQr)).toBeUndefined();
  expect(qrKept({ ...byQr, providerIds: { reference: "DOKU-1" } })).toBeUndefined();
});

test.for([
  ["partnerReferenceNo", { partnerReferenceNo: "INV-1" }],
  ["referenceNo", { referenceNo: undefined }],
  ["qrContent", { qrContent: undefined }],
  ["qrContent", { qrContent: "x".repeat(513) }],
  ["qrContent", { qrContent: "<html>é</html>" }],
  ["amount within qrContent", { qrContent: content.replace("540558000", "540558001") }],
  ["currency within qrContent", { qrContent: content.replace("5303360", "5303840") }],
] as const)("a QR code with another %s is not shown", ([field, change]) => {
  expect(() => readQr(qr(change), byQr)).toThrow(field);
});

const byWallet = openRequest({ method: "ewallet" });

test("a wallet's page is told, and kept whole with the wallet", () => {
  const url = `https://app.doku.com/link/${"2".repeat(600)}`;
  const opened = readWalletPage({ partnerReferenceNo: reference, webRedirectUrl: url }, byWallet, "dana", false);
  expect(opened.instructions).toMatchObject({ type: "redirect", value: url, redirect_url: url });
  expect(opened.providerIds?.wallet).toBe("dana");
  expect(walletKept({ ...byWallet, providerIds: opened.providerIds })).toEqual(opened);
  const page = { partnerReferenceNo: reference, webRedirectUrl: `https://x/${"y".repeat(1_000)}` };
  expect(() => readWalletPage(page, byWallet, "dana", false)).toThrow("webRedirectUrl");
  expect(() => readWalletPage({ ...page, partnerReferenceNo: "x" }, byWallet, "dana", false)).toThrow(
    "partnerReferenceNo",
  );
});

test.for([
  "http://app.doku.com/link/1",
  "javascript:alert(1)",
  "https://user@app.doku.com/1",
  "/link/1",
  "http://127.0.0.1/1",
])("payers are not sent to %s", (webRedirectUrl) => {
  const page = { partnerReferenceNo: reference, webRedirectUrl };
  expect(() => readWalletPage(page, byWallet, "dana", false)).toThrow("webRedirectUrl");
});

const asked = { operationKey: request.operationKey, amountMinor: 5_800_000n, kept: "DOKU-1" };
const query = (change: Body = {}): Body => ({
  responseCode: "2005100",
  originalReferenceNo: "DOKU-1",
  originalPartnerReferenceNo: reference,
  latestTransactionStatus: "00",
  amount: { value: 58_000, currency: "IDR" },
  additionalInfo: { approvalCode: "1hk9vlw79634" },
  ...change,
});
const paid = { status: "paid", receipt: { transactionId: "DOKU-1", amountMinor: 5_800_000n, currency: "IDR" } };

test.for([
  ["00", paid],
  ["01", { status: "waiting" }],
  ["02", { status: "processing" }],
  ["03", { status: "waiting" }],
  ["04", paid],
  ["05", { status: "failed" }],
  ["06", { status: "failed" }],
] as const)("the status %s is read", ([latestTransactionStatus, state]) => {
  expect(readStatus(query({ latestTransactionStatus }), asked)).toEqual({
    state,
    ids: { reference: "DOKU-1", approval: "1hk9vlw79634" },
    // Which refund it was is not told.
    unrequested: latestTransactionStatus === "04" ? ["unlisted_refund"] : [],
  });
});

test("what is not found is none, and what they keep of it is told", () => {
  expect(readStatus(query({ latestTransactionStatus: "07" }), asked)).toBeUndefined();
  const told = readStatus(query({ feeAmount: { value: "406.00", currency: "IDR" } }), asked);
  expect(told?.state).toEqual({ status: "paid", receipt: { ...paid.receipt, feeMinor: 40_600n } });
  for (const feeAmount of [{ value: "406.00", currency: "USD" }, { value: "-1" }, "406.00", [], 5, null])
    expect(readStatus(query({ feeAmount }), asked)?.state).toEqual(paid);
  const wallet = readStatus(query({ amount: undefined, transAmount: amount }), { ...asked, kept: undefined });
  expect(wallet?.state).toEqual(paid);
});

test.each<Body>([
  { additionalInfo: "" },
  { additionalInfo: [] },
  { additionalInfo: { approvalCode: "é" } },
  { approvalCode: "9".repeat(256) },
])("a payment counts whose approval cannot be kept: %j", (change) => {
  expect(readStatus(query(change), asked)).toEqual({ state: paid, ids: { reference: "DOKU-1" }, unrequested: [] });
});

test("an account counts whose additional fields are none", () => {
  const read = (info: unknown) => readAccountStatus(status({}, info as Body), request, account, ofDoku).status;
  for (const info of ["", [], null]) expect(read(info)).toBe("paid");
});

test("money with a reference that cannot be kept is told to a person", () => {
  const nameless = query({ originalReferenceNo: "9".repeat(256) });
  expect(() => readStatus(nameless, { ...asked, kept: undefined })).toThrow(OtherMoney);
});

test.for([
  ["latestTransactionStatus", { latestTransactionStatus: "99" }],
  ["latestTransactionStatus", { latestTransactionStatus: undefined }],
  ["amount", { amount: { value: 58_001, currency: "IDR" } }],
  ["amount", { amount: { value: "58000.00", currency: "USD" } }],
  ["amount", { amount: undefined }],
  ["originalPartnerReferenceNo", { originalPartnerReferenceNo: "INV-1" }],
  ["originalReferenceNo", { originalReferenceNo: "DOKU-2" }],
  ["original", { originalReferenceNo: undefined, originalPartnerReferenceNo: undefined }],
] as const)("a status with another %s is not believed", ([field, change]) => {
  expect(() => readStatus(query(change), asked)).toThrow(field);
});

const refunded = (change: Body = {}): Body => ({
  responseCode: "2007800",
  partnerRefundNo: refund,
  refundNo: "R_74463aa1",
  refundAmount: { value: 10_000, currency: "IDR" },
  ...change,
});

test("a refund that is done is told with its name", () => {
  expect(readRefund(refunded(), refundRequest())).toEqual({
    status: "succeeded",
    providerIds: { refund: "R_74463aa1" },
  });
  expect(readRefund(refunded({ partnerRefundNo: undefined }), refundRequest()).status).toBe("succeeded");
});

test.for([
  ["partnerRefundNo", { partnerRefundNo: "other" }],
  ["originalPartnerReferenceNo", { originalPartnerReferenceNo: "other" }],
  ["refundAmount", { refundAmount: { value: 10_001, currency: "IDR" } }],
  ["refundAmount", { refundAmount: undefined }],
  ["refundNo", { refundNo: undefined }],
] as const)("a refund with another %s is not believed", ([field, change]) => {
  expect(() => readRefund(refunded(change), refundRequest())).toThrow(field);
});

test("a wallet's history tells each refund by our name", () => {
  const entry = { refundNo: "R1", partnerReferenceNo: refund, refundAmount: { value: "10000.00", currency: "IDR" } };
  const history = (...refundHistory: Body[]): Body => ({ originalPartnerReferenceNo: reference, refundHistory });
  const other = { ...entry, partnerReferenceNo: "other" };
  const read = (body: Body) => refundInHistory(body, refundRequest({ method: "ewallet" }));
  expect(read(history(other, { ...entry, refundStatus: "00" }))).toEqual({
    status: "succeeded",
    providerIds: { refund: "R1" },
  });
  expect(read(history({ ...entry, refundStatus: "03" }))?.status).toBe("pending");
  expect(read(history({ ...entry, refundStatus: "06" }))?.status).toBe("failed");
  expect(read(history(other))).toBeUndefined();
  expect(read({ originalPartnerReferenceNo: reference })).toBeUndefined();
  expect(() => read(history({ ...entry, refundStatus: "77" }))).toThrow("refundStatus");
  expect(() => read(history({ ...entry, refundAmount: amount, refundStatus: "00" }))).toThrow("refundAmount");
  expect(() => read({ originalPartnerReferenceNo: reference, refundHistory: "x" })).toThrow("refundHistory");
});

test("a transaction's name that is too long for ours stands by its digest, always the same", () => {
  const { transactionId } = receiptOf("x".repeat(128), 1n);
  expect(transactionId).toMatch(/^[0-9a-f]{64}$/);
  expect(receiptOf("x".repeat(128), 1n).transactionId).toBe(transactionId);
  expect(receiptOf("with space", 1n).transactionId).toMatch(/^[0-9a-f]{64}$/);
  expect(receiptOf("12839218738127830", 1n).transactionId).toBe("12839218738127830");
});

test("an account's instructions end when the payment does", () => {
  const later = { ...request, expiresAt: NOW + 60 * SECOND };
  expect(accountOpened(later, ofBri.banks.bri!, account).instructions.expires_at).toBe("2026-11-23T14:01:00Z");
});
