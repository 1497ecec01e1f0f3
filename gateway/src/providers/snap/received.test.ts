// Goal: only who holds the keys is meaning, and answered in the standard's words. Method: messages signed here, and one change at a time.
import { createPublicKey } from "node:crypto";
import { expect, test } from "vitest";
import { privatePem, publicPem } from "../../../test/snap-keys.ts";
import { NOW, dokuPartner } from "../../../test/snap-rig.ts";
import type { Bill, MessageMeaning, Message, ProviderReply } from "../../acquirers/acquirer.ts";
import { type Micros, SECOND } from "../../ground/clock.ts";
import { Fault } from "../../ground/fault.ts";
import type { Partner } from "./partner.ts";
import { doku } from "./profiles/doku.ts";
import { type TheirKeys, received } from "./received.ts";
import { privateKeyOf, signedByHmac, signedByRsa, tokenText, transactionText } from "./signature.ts";
import { issueToken } from "./tokens.ts";
import { snapTime } from "./values.ts";

const partner = dokuPartner();
const keys: TheirKeys = { secrets: ["new secret", "old secret"], publicKeys: [createPublicKey(publicPem)] };
const reference = "pay01kb5zw3d9h4vq0t7n8m2c6xre-01kb5zw3d9h4vq0t7n8m2c6xrf-s1";
const operationKey = reference.replaceAll("-", ".");
const BASE = "/acquirers/doku/callbacks";

interface Changes {
  headers?: Record<string, string | undefined>;
  secret?: string;
  token?: string | undefined;
  at?: Micros;
  method?: string;
  /** Sent in place of what was signed. */
  sent?: string;
}

function message(rest: string, body: unknown, changes: Changes = {}): Message {
  const { secret = "new secret", at = NOW, method = "POST" } = changes;
  const token = "token" in changes ? changes.token : issueToken("new secret", "doku", NOW);
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const target = BASE + rest;
  const timestamp = snapTime(at);
  const headers = {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    "x-timestamp": timestamp,
    "x-partner-id": partner.partnerId,
    "x-external-id": "418075533589",
    "x-signature": signedByHmac(secret, transactionText({ method, path: target, token, body: text, timestamp })),
    ...changes.headers,
  };
  return { method, target, rest, headers, body: Buffer.from(changes.sent ?? text) };
}

const hear = (one: Message, now = NOW, who: Partner = partner): MessageMeaning => received(who, keys, one, now);
const bodyOf = (reply: ProviderReply): Record<string, unknown> => JSON.parse(reply.body) as Record<string, unknown>;

/** The code of the fault that hearing this throws; undefined when it throws none. */
function faultOf(one: Message, now = NOW, who = partner): string | undefined {
  try {
    hear(one, now, who);
    return undefined;
  } catch (error) {
    if (error instanceof Fault) return error.code;
    throw error;
  }
}

const account = { partnerServiceId: "   19008", customerNo: "00000347140", virtualAccountNo: "   1900800000347140" };
const payment = {
  ...account,
  virtualAccountName: "Toru Yamashita",
  trxId: reference,
  paymentRequestId: "12839218738127830",
  paidAmount: { value: "58000.00", currency: "IDR" },
};

test("a paid account is reported with its receipt, and answered by what became of it", () => {
  const meaning = hear(message("/v1/transfer-va/payment", payment));
  if (meaning.kind !== "reports" || !meaning.reply) throw new Error("it was not reported");
  const receipt = { transactionId: "12839218738127830", amountMinor: 5_800_000n, currency: "IDR" };
  expect(meaning.reports).toEqual([{ kind: "payment", operationKey, state: { status: "paid", receipt } }]);
  const answers = (["taken", "unknown operation", "refused"] as const).map(meaning.reply);
  expect(
    answers.map(({ status, body }) => [status, (JSON.parse(body) as { responseCode: string }).responseCode]),
  ).toEqual([
    [200, "2002500"],
    [404, "4042512"],
    [404, "4042513"],
  ]);
  expect(bodyOf(meaning.reply("taken")).virtualAccountData).toMatchObject({
    ...account,
    trxId: reference,
    paymentRequestId: "12839218738127830",
    paidAmount: { value: "58000.00", currency: "IDR" },
    paymentFlagStatus: "00",
  });
});

test("where responses know a payment by its account, a message does too: the money counts once", () => {
  const { virtualAccounts } = partner.dialect;
  if (!virtualAccounts) throw new Error("it has no accounts");
  const dialect = { ...partner.dialect, virtualAccounts: { ...virtualAccounts, identity: "account" as const } };
  const meaning = hear(message("/v1/transfer-va/payment", payment), NOW, { ...partner, dialect });
  expect(meaning).toMatchObject({
    reports: [{ state: { receipt: { transactionId: `1900800000347140.${operationKey.split(".")[0]}` } } }],
  });
});

test("what is kept of a message names nobody", () => {
  expect(JSON.stringify(hear(message("/v1/transfer-va/payment", payment)).message)).not.toContain("Yamashita");
});

test("a message under the secret before, and one with white space in its body, are meaning", () => {
  expect(faultOf(message("/v1/transfer-va/payment", payment, { secret: "old secret" }))).toBeUndefined();
  expect(faultOf(message("/v1/transfer-va/payment", JSON.stringify(payment, null, 2)))).toBeUndefined();
});

const other = { ...payment, paidAmount: { value: "58001.00", currency: "IDR" } };
test.for([
  ["SIGNATURE_MISSING", { headers: { "x-signature": undefined } }],
  ["SIGNATURE_MISSING", { headers: { "x-timestamp": undefined } }],
  ["SIGNATURE_MISSING", { headers: { authorization: undefined } }],
  ["SIGNATURE_MISSING", { headers: { "x-partner-id": undefined } }],
  ["SIGNATURE_INVALID", { secret: "another" }],
  ["SIGNATURE_INVALID", { sent: JSON.stringify(other) }],
  ["SIGNATURE_INVALID", { headers: { "x-signature": "x" } }],
  ["SIGNATURE_INVALID", { headers: { authorization: "Basic abc" } }],
  ["SIGNATURE_INVALID", { headers: { authorization: "Bearer another" } }],
  ["SIGNATURE_INVALID", { headers: { "x-partner-id": "another" } }],
  ["SIGNATURE_INVALID", { headers: { "x-timestamp": "yesterday" } }],
  ["SIGNATURE_INVALID", { headers: { "x-timestamp": snapTime(NOW + SECOND) } }],
  ["TIMESTAMP_OUT_OF_WINDOW", { at: NOW - 901 * SECOND }],
  ["TIMESTAMP_OUT_OF_WINDOW", { at: NOW + 901 * SECOND }],
  ["ROUTE_NOT_FOUND", { method: "GET" }],
] as const)("%s answers a message with %j", ([code, changes]) => {
  expect(faultOf(message("/v1/transfer-va/payment", payment, changes))).toBe(code);
});

test("nothing is read before the signature is right: a body that is none is a wrong signature first", () => {
  expect(faultOf(message("/v1/transfer-va/payment", "{", { secret: "another" }))).toBe("SIGNATURE_INVALID");
  expect(faultOf(message("/v1/transfer-va/payment", "{"))).toBe("MALFORMED_JSON");
  expect(faultOf(message("/v1/transfer-va/payment", "[]"))).toBe("MALFORMED_JSON");
});

test("a message for another address than the one it was signed for is refused", () => {
  const good = message("/v1/transfer-va/payment", payment);
  expect(faultOf({ ...good, target: "/acquirers/other/callbacks/v1/transfer-va/payment" })).toBe("SIGNATURE_INVALID");
  expect(faultOf({ ...good, rest: "/v1/transfer-va/inquiry" })).toBeUndefined(); // the target is what was signed
});

test.for([
  ["that is over", { token: issueToken("new secret", "doku", NOW - 900 * SECOND) }],
  ["of another acquirer", { token: issueToken("new secret", "bri", NOW) }],
  ["of nobody", { token: "eyJhbGciOiJSUzI1NiJ9.x.y" }],
] as const)("a token %s is answered so that they ask for another", ([, changes]) => {
  const meaning = hear(message("/v1/transfer-va/payment", payment, changes));
  if (meaning.kind !== "reply") throw new Error("it was believed");
  expect(meaning.reply.status).toBe(401);
  expect(bodyOf(meaning.reply).responseCode).toBe("4012501");
});

test.for([
  ["trxId", { trxId: undefined }],
  ["trxId", { trxId: "INV 1" }],
  ["paymentRequestId", { paymentRequestId: undefined }],
  ["paymentRequestId", { paymentRequestId: "x".repeat(129) }],
  ["paidAmount", { paidAmount: { value: "58000.00", currency: "USD" } }],
  ["paidAmount", { paidAmount: { value: "-1.00", currency: "IDR" } }],
  ["paidAmount", { paidAmount: undefined }],
  ["virtualAccountNo", { virtualAccountNo: "   1900800000347141" }],
  ["virtualAccountNo", { customerNo: 347_140 }],
] as const)("a payment with a wrong %s is refused, and the field is named", ([field, change]) => {
  const one = message("/v1/transfer-va/payment", { ...payment, ...change });
  expect(() => hear(one)).toThrow(Fault);
  try {
    hear(one);
  } catch (error) {
    expect((error as Fault).code).toBe("VALIDATION_ERROR");
    expect((error as Fault).extras.details?.field).toBe(field);
  }
});

test("an account that was asked about tells our reference in the additional fields, too", () => {
  const { trxId, ...rest } = payment;
  const meaning = hear(message("/v1.1/transfer-va/payment", { ...rest, additionalInfo: { trxId } }));
  expect(meaning.kind === "reports" && meaning.reports[0]).toMatchObject({ operationKey });
});

test("a payment may name itself with 128 characters", () => {
  const paymentRequestId = "x".repeat(128);
  expect(hear(message("/v1/transfer-va/payment", { ...payment, paymentRequestId })).kind).toBe("reports");
});

const inquiry = { ...account, inquiryRequestId: "INQ-1", additionalInfo: { channel: "VIRTUAL_ACCOUNT_BNI" } };
const bill: Bill = {
  amountMinor: 5_800_000n,
  currency: "IDR",
  merchantName: "Warung Bu Sri",
  expiresAt: NOW + 60 * SECOND,
  payable: true,
  instructions: undefined,
  providerIds: { bill: reference },
};

function answerTo(given: Bill | undefined): { status: number; body: Record<string, unknown> } {
  const meaning = hear(message("/v1.1/transfer-va/inquiry", inquiry));
  if (meaning.kind !== "bill") throw new Error("it is no question for a bill");
  expect(meaning.find).toEqual({ account: "1900800000347140" });
  const reply = meaning.reply(given);
  return { status: reply.status, body: bodyOf(reply) };
}

test("a bank that asks for a bill is told amount, name and reference", () => {
  expect(answerTo(bill)).toEqual({
    status: 200,
    body: {
      responseCode: "2002400",
      responseMessage: "Successful",
      virtualAccountData: {
        ...account,
        inquiryRequestId: "INQ-1",
        virtualAccountName: "Warung Bu Sri",
        totalAmount: { value: "58000.00", currency: "IDR" },
        virtualAccountTrxType: "C",
        expiredDate: "2026-11-23T21:01:00+07:00",
        trxId: reference,
        additionalInfo: {
          channel: "VIRTUAL_ACCOUNT_BNI",
          trxId: reference,
          virtualAccountConfig: { reusableStatus: false },
        },
        inquiryStatus: "00",
        inquiryReason: { english: "Success", indonesia: "Sukses" },
      },
    },
  });
});

test.each([undefined, null, "VIRTUAL_ACCOUNT_BNI", 1, {}, { channel: 7 }])(
  "additional fields like %j have no channel",
  (additionalInfo) => {
    const meaning = hear(message("/v1.1/transfer-va/inquiry", { ...inquiry, additionalInfo }));
    const reply = meaning.kind === "bill" ? meaning.reply(bill) : expect.unreachable("it is no question for a bill");
    expect(reply.status).toBe(200);
    const { virtualAccountData } = bodyOf(reply) as { virtualAccountData: { additionalInfo: object } };
    expect(virtualAccountData.additionalInfo).not.toHaveProperty("channel");
  },
);

test.for([
  ["nobody knows", undefined, "4042412"],
  ["was paid", { ...bill, payable: false }, "4042414"],
  ["is over", { ...bill, payable: false, expiresAt: NOW }, "4042419"],
] as const)("a bill that %s is refused, and no amount is told", ([, given, code]) => {
  const { status, body } = answerTo(given);
  expect(status).toBe(404);
  expect(body.responseCode).toBe(code);
  expect(body.virtualAccountData).not.toHaveProperty("totalAmount");
  expect(body.virtualAccountData).toMatchObject({ ...account, inquiryStatus: "01" });
});

test("a notification of QRIS or of a wallet is looked into, whatever it says", () => {
  const notice = { originalPartnerReferenceNo: reference, latestTransactionStatus: "00" };
  for (const [rest, code] of [
    ["/v1.0/qr/qr-mpm-notify", "2005200"],
    ["/v1.0/debit/notify", "2005600"],
  ] as const) {
    const meaning = hear(message(rest, notice));
    if (meaning.kind !== "reports" || !meaning.reply) throw new Error("it was not reported");
    expect(meaning.reports).toEqual([{ kind: "look", operationKey }]);
    expect(bodyOf(meaning.reply("taken")).responseCode).toBe(code);
    expect(bodyOf(meaning.reply("unknown operation")).responseCode).toBe(`404${code.slice(3, 5)}01`);
    expect(faultOf(message(rest, { ...notice, originalPartnerReferenceNo: 5 }))).toBe("VALIDATION_ERROR");
  }
});

test("a bank's notice by account number is looked into, and acknowledged in any case", () => {
  const meaning = hear(message("/snap/v1.0/transfer-va/notify-payment-intrabank", account));
  if (meaning.kind !== "reports" || !meaning.reply) throw new Error("it was not reported");
  expect(meaning.reports).toEqual([{ kind: "look", operationKey: account.virtualAccountNo.trim() }]);
  for (const taken of ["taken", "unknown operation", "refused"] as const)
    expect(bodyOf(meaning.reply(taken)).responseCode).toBe("2003400");
});

test.for(["", "/", "/v1/transfer-va/pay", "/transfer-va/payment/x", "/v1/access-token/b2b2c"])(
  "there is nothing at %j",
  (rest) => {
    expect(faultOf(message(rest, payment))).toBe("ROUTE_NOT_FOUND");
  },
);

const tokenRest = "/authorization/v1/access-token/b2b";

function tokenRequest(
  changes: { headers?: Record<string, string | undefined>; at?: Micros; body?: string } = {},
): Message {
  const timestamp = snapTime(changes.at ?? NOW);
  const headers = {
    "x-client-key": partner.clientId,
    "x-timestamp": timestamp,
    "x-signature": signedByRsa(privateKeyOf(privatePem), tokenText(partner.clientId, timestamp)),
    ...changes.headers,
  };
  const body = Buffer.from(changes.body ?? '{"grantType":"client_credentials"}');
  return { method: "POST", target: BASE + tokenRest, rest: tokenRest, headers, body };
}

test("who holds their key gets a token, and is meaning with it", () => {
  const meaning = hear(tokenRequest());
  if (meaning.kind !== "reply") throw new Error("no token was given");
  const { accessToken, ...rest } = bodyOf(meaning.reply);
  expect(rest).toEqual({
    responseCode: "2007300",
    responseMessage: "Successful",
    tokenType: "Bearer",
    expiresIn: "900",
  });
  expect(faultOf(message("/v1/transfer-va/payment", payment, { token: String(accessToken) }))).toBeUndefined();
  expect(meaning.message).toBeUndefined();
});

test.for([
  ["SIGNATURE_MISSING", { headers: { "x-client-key": undefined } }],
  ["SIGNATURE_MISSING", { headers: { "x-signature": undefined } }],
  ["SIGNATURE_INVALID", { headers: { "x-client-key": "another" } }],
  ["SIGNATURE_INVALID", { headers: { "x-signature": "x".repeat(344) } }],
  ["SIGNATURE_INVALID", { headers: { "x-timestamp": snapTime(NOW + SECOND) } }],
  ["TIMESTAMP_OUT_OF_WINDOW", { at: NOW - 301 * SECOND }],
  ["VALIDATION_ERROR", { body: '{"grantType":"password"}' }],
  ["MALFORMED_JSON", { body: "" }],
] as const)("%s answers a request for a token with %j", ([code, changes]) => {
  expect(faultOf(tokenRequest(changes))).toBe(code);
});

test("a provider that signs by RSA needs no token, and its moment must be now", () => {
  const byRsa = dokuPartner({ dialect: { ...doku, signature: "rsa" } });
  const sign = (at: Micros): Message => {
    const one = message("/v1/transfer-va/payment", payment, { token: undefined, at });
    const text = transactionText({
      method: "POST",
      path: one.target,
      token: undefined,
      body: JSON.stringify(payment),
      timestamp: snapTime(at),
    });
    return { ...one, headers: { ...one.headers, "x-signature": signedByRsa(privateKeyOf(privatePem), text) } };
  };
  expect(faultOf(sign(NOW), NOW, byRsa)).toBeUndefined();
  expect(faultOf(sign(NOW - 301 * SECOND), NOW, byRsa)).toBe("TIMESTAMP_OUT_OF_WINDOW");
  expect(faultOf(message("/v1/transfer-va/payment", payment), NOW, byRsa)).toBe("SIGNATURE_INVALID");
});
