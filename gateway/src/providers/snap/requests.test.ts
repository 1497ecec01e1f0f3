// Goal: what we ask SNAP for is what its documentation shows, and the same each time. Method: whole bodies, one for each request.
import { expect, test } from "vitest";
import { briPartner, dokuPartner, openRequest, refundRequest } from "../../../test/snap-rig.ts";
import { accountFields, accountNumber, bankOf, ownAccount } from "./partner.ts";
import { doku } from "./profiles/doku.ts";
import {
  inquireAccount,
  inquireWallet,
  createAccount,
  deleteAccount,
  generateQr,
  nameOf,
  payByWallet,
  queryQr,
  refundQr,
  refundWallet,
} from "./requests.ts";

const reference = "pay01kb5zw3d9h4vq0t7n8m2c6xre-01kb5zw3d9h4vq0t7n8m2c6xrf-s1";
const refund = "rfd01kb5zw3d9h4vq0t7n8m2c6xrg-01kb5zw3d9h4vq0t7n8m2c6xrf-s1";
const partner = dokuPartner();
const { qris, wallets } = doku;

test("an account at DOKU is asked for with our range's beginning, for one amount, once", () => {
  const beginning = { partnerServiceId: "19008", customerNo: "0" };
  const { path, service, body } = createAccount(partner, openRequest(), "bca", beginning);
  expect({ path, service }).toEqual({
    path: "/virtual-accounts/bi-snap-va/v1.1/transfer-va/create-va",
    service: "createVa",
  });
  expect(body).toEqual({
    partnerServiceId: "   19008",
    customerNo: "0",
    virtualAccountNo: "   190080",
    virtualAccountName: "Warung Bu Sri",
    trxId: reference,
    totalAmount: { value: "58000.00", currency: "IDR" },
    virtualAccountTrxType: "C",
    expiredDate: "2026-11-23T22:00:00+07:00",
    additionalInfo: { channel: "VIRTUAL_ACCOUNT_BCA", virtualAccountConfig: { reusableStatus: false } },
  });
});

test("an account at BRI has a number of ours, and a description", () => {
  const bri = briPartner();
  const request = openRequest();
  const { range, traits } = bankOf(bri, "bri");
  const account = ownAccount(bri, traits, range, request.operationKey);
  const { path, body } = createAccount(bri, request, "bri", account);
  expect(path).toBe("/snap/v1.0/transfer-va/create-va");
  expect(body).toEqual({
    partnerServiceId: "   77777",
    customerNo: account.customerNo,
    virtualAccountNo: `   77777${account.customerNo}`,
    virtualAccountName: "Warung Bu Sri",
    trxId: reference,
    totalAmount: { value: "58000.00", currency: "IDR" },
    expiredDate: "2026-11-23T22:00:00+07:00",
    additionalInfo: { description: reference },
  });
  expect(account.customerNo).toMatch(/^\d{13}$/);
});

test("a number of ours follows from the operation key, within our range", () => {
  const { range, traits } = bankOf(partner, "bri");
  const account = ownAccount(partner, traits, range, "pay.1");
  expect(account).toEqual(ownAccount(partner, traits, range, "pay.1"));
  expect(account.customerNo).toMatch(/^6\d{11}$/);
  expect(account).not.toEqual(ownAccount(partner, traits, range, "pay.2"));
  expect(account).not.toEqual(ownAccount({ code: "other" }, traits, range, "pay.1"));
  expect(accountNumber(account)).toBe(`13925${account.customerNo}`);
});

test("an account is deleted by its number and reference, and at DOKU by its bank, too", () => {
  const account = { partnerServiceId: "19008", customerNo: "00000347140" };
  expect(deleteAccount(partner, openRequest(), "bca", account)).toEqual({
    service: "deleteVa",
    method: "DELETE",
    path: "/virtual-accounts/bi-snap-va/v1.1/transfer-va/delete-va",
    about: openRequest().operationKey,
    body: {
      partnerServiceId: "   19008",
      customerNo: "00000347140",
      virtualAccountNo: "   1900800000347140",
      trxId: reference,
      additionalInfo: { channel: "VIRTUAL_ACCOUNT_BCA" },
    },
  });
  expect(deleteAccount(briPartner(), openRequest(), "bri", account)).toMatchObject({
    method: "DELETE",
    path: "/snap/v1.0/transfer-va/delete-va",
    body: { ...accountFields(account), trxId: reference },
  });
});

test("an account is asked about by its number, and at BRI by its reference, too", () => {
  const account = { partnerServiceId: "19008", customerNo: "00000347140" };
  expect(inquireAccount(partner, openRequest(), "bca", account).body).toEqual({
    ...accountFields(account),
    additionalInfo: {},
  });
  expect(inquireAccount(briPartner(), openRequest(), "bri", account).body).toMatchObject({
    inquiryRequestId: reference,
  });
});

test("a QR code is asked for with its amount and its end", () => {
  expect(generateQr(qris!, partner, openRequest({ method: "qris" })).body).toEqual({
    partnerReferenceNo: reference,
    amount: { value: "58000.00", currency: "IDR" },
    merchantId: "47435",
    terminalId: "A01",
    validityPeriod: "2026-11-23T22:00:00+07:00",
    additionalInfo: { postalCode: "12190", feeType: "1" },
  });
});

test("a QR code is asked about by both references", () => {
  expect(queryQr(qris!, partner, openRequest().operationKey, "DOKU-1").body).toEqual({
    originalReferenceNo: "DOKU-1",
    originalPartnerReferenceNo: reference,
    merchantId: "47435",
    serviceCode: "47",
  });
});

test("a payment by QR is refunded under a name of ours", () => {
  expect(refundQr(qris!, partner, refundRequest(), "1hk9vlw79634").body).toEqual({
    originalPartnerReferenceNo: reference,
    originalReferenceNo: "DOKU-1",
    partnerRefundNo: refund,
    merchantId: "47435",
    refundAmount: { value: "10000.00", currency: "IDR" },
    reason: "Refund by the merchant",
    additionalInfo: { approvalCode: "1hk9vlw79634" },
  });
});

test("a wallet's page is asked for with the way back", () => {
  const { body, headers } = payByWallet(wallets!, openRequest({ returnUrl: "https://shop.example/thanks" }), "dana");
  expect(body).toEqual({
    partnerReferenceNo: reference,
    amount: { value: "58000.00", currency: "IDR" },
    urlParam: [{ url: "https://shop.example/thanks", type: "PAY_RETURN", isDeepLink: "N" }],
    validUpTo: "2026-11-23T22:00:00+07:00",
    pointOfInitiation: "mweb",
    additionalInfo: { channel: "EMONEY_DANA_SNAP", orderTitle: "Warung Bu Sri" },
  });
  expect(headers?.["x-device-id"]).toMatch(/^\d{20}$/);
});

test("a way back that is too long for them, or that nobody named, is the payer's page", () => {
  for (const returnUrl of [undefined, `https://shop.example/${"x".repeat(250)}`])
    expect(payByWallet(wallets!, openRequest({ returnUrl }), "dana").body.urlParam).toEqual([
      { url: "https://pay.example/p/1", type: "PAY_RETURN", isDeepLink: "N" },
    ]);
});

test("a payment by wallet is asked about and refunded by its channel", () => {
  expect(inquireWallet(wallets!, openRequest().operationKey, "shopeepay").body).toEqual({
    originalPartnerReferenceNo: reference,
    serviceCode: "55",
    additionalInfo: { channel: "EMONEY_SHOPEE_PAY_SNAP" },
  });
  expect(refundWallet(wallets!, refundRequest({ method: "ewallet" }), "dana").body).toEqual({
    originalPartnerReferenceNo: reference,
    partnerRefundNo: refund,
    refundAmount: { value: "10000.00", currency: "IDR" },
    reason: "Refund by the merchant",
    additionalInfo: { channel: "EMONEY_DANA_SNAP" },
  });
});

test("a bank, a wallet or QRIS that was not set up is named", () => {
  const none = { partnerServiceId: "1", customerNo: "1" };
  expect(() => createAccount(partner, openRequest(), "danamon", none)).toThrow("danamon");
  expect(() => createAccount(partner, openRequest(), "__proto__", none)).toThrow("__proto__");
  expect(() => payByWallet(wallets!, openRequest(), "ovo")).toThrow("ovo");
  expect(() => generateQr(qris!, dokuPartner({ qris: undefined }), openRequest())).toThrow("QRIS");
});

test.for([
  ["Warung Bu Sri", "Warung Bu Sri"],
  ['Kopi & Teh "Enak"', "Kopi Teh Enak"],
  ["Café Ñandú", "Cafe Nandu"],
  ["  a  b ", "a b"],
  ["日本語", "Merchant"],
  ["x".repeat(60), "x".repeat(40)],
] as const)("the name %j is printed as %j", ([given, printed]) => {
  expect(nameOf(given)).toBe(printed);
});
