// What banks and providers of SNAP say to us: they ask for a token, ask what a payer owes, and tell what was paid. Pure but for our tokens' chance.
import type { KeyObject } from "node:crypto";
import type { Bill, Heard, Message, ProviderReply, Taken, Words } from "../../acquirers/acquirer.ts";
import { type Micros, SECOND } from "../../ground/clock.ts";
import { TIMESTAMP_WINDOW_SECONDS, sameText } from "../../ground/crypto.ts";
import { Fault, validationFault } from "../../ground/fault.ts";
import { MalformedJson, parseObject } from "../../ground/json.ts";
import { maskedBody } from "../mask.ts";
import { type Body, receiptOf, readAccount } from "./answers.ts";
import { type Service, codeOf } from "./errors.ts";
import { type Account, type Partner, accountFields, accountNumber } from "./partner.ts";
import { nameOf } from "./requests.ts";
import { isSignedByHmac, isSignedByRsa, tokenText, transactionText } from "./signature.ts";
import { OWN_TOKEN_SECONDS, isOwnToken, issueToken } from "./tokens.ts";
import { amountOf, operationKeyOf, readAmount, readSnapTime, snapTime } from "./values.ts";

/** The keys with which they prove who they are. */
export interface TheirKeys {
  /** The secret that we share; the one before it, too, while it is being replaced. The first signs our tokens. */
  secrets: readonly string[];
  /** Their public keys. */
  publicKeys: readonly KeyObject[];
}

type Kind = "token" | "inquiry" | "payment" | "notifyVa" | "qrNotify" | "debitNotify";

/** By how the path ends: what comes before, such as a version, is theirs to choose. */
const kinds: readonly (readonly [RegExp, Kind])[] = [
  [/\/access-token\/b2b$/, "token"],
  [/\/transfer-va\/inquiry$/, "inquiry"],
  [/\/transfer-va\/payment$/, "payment"],
  [/\/transfer-va\/notify-payment-intrabank$/, "notifyVa"],
  [/\/qr\/qr-mpm-notify$/, "qrNotify"],
  [/\/debit\/notify$/, "debitNotify"],
];

/**
 * Reads a message of theirs. Nothing is read from it before its signature is checked. Throws SIGNATURE_MISSING, SIGNATURE_INVALID,
 * TIMESTAMP_OUT_OF_WINDOW, MALFORMED_JSON, VALIDATION_ERROR and ROUTE_NOT_FOUND.
 */
export function received(partner: Partner, keys: TheirKeys, message: Message, now: Micros): Heard {
  const path = message.rest.split("?", 1)[0] ?? "";
  const kind = kinds.find(([pattern]) => pattern.test(path))?.[1];
  if (kind === undefined || message.method !== "POST") throw new Fault("ROUTE_NOT_FOUND");
  const words: Words = { about: `POST ${path}`, status: undefined, text: maskedBody(message.body) };
  if (kind === "token") return { kind: "reply", reply: giveToken(partner, keys, message, now) };
  const refusal = checkTransaction(partner, keys, message, now, kind);
  if (refusal) return { kind: "reply", reply: refusal, words };
  const body = bodyOf(message.body);
  switch (kind) {
    case "inquiry":
      return { ...readInquiry(body, now), words };
    case "payment":
      return { ...readPayment(body), words };
    case "notifyVa":
      return { ...readAccountNotice(body), words };
    case "qrNotify":
    case "debitNotify":
      return { ...readNotice(body, kind), words };
  }
}

/** They ask for a token: signed with their key over their name and the moment, and by nothing else, so the moment must be now. */
function giveToken(
  { code, clientId }: Partner,
  { secrets, publicKeys }: TheirKeys,
  message: Message,
  now: Micros,
): ProviderReply {
  const timestamp = headerIn(message, "x-timestamp");
  const signature = headerIn(message, "x-signature");
  checkMoment(timestamp, now, TIMESTAMP_WINDOW_SECONDS);
  const isKnown = sameText(headerIn(message, "x-client-key"), clientId);
  const text = tokenText(clientId, timestamp);
  const isSigned = publicKeys.some((key) => isSignedByRsa(key, text, signature));
  if (!isKnown || !isSigned)
    throw new Fault("SIGNATURE_INVALID", { message: "The signature of X-CLIENT-KEY and X-TIMESTAMP does not match." });
  const { grantType } = bodyOf(message.body);
  if (grantType !== "client_credentials")
    throw validationFault("grantType", grantType, "grantType must be client_credentials.");
  const [secret] = secrets;
  if (secret === undefined) throw new Error(`${code} has no secret`);
  return reply(200, "token", "00", "Successful", {
    accessToken: issueToken(secret, code, now),
    tokenType: "Bearer",
    // Text in the standard's examples.
    expiresIn: String(OWN_TOKEN_SECONDS),
  });
}

/**
 * Checks a message that belongs to a transaction. Who has signed it well under a token that is not good (any more) is answered, and asks for
 * another.
 */
function checkTransaction(
  { dialect, code, partnerId }: Partner,
  { secrets, publicKeys }: TheirKeys,
  message: Message,
  now: Micros,
  service: Service,
): ProviderReply | undefined {
  const timestamp = headerIn(message, "x-timestamp");
  const signature = headerIn(message, "x-signature");
  const byToken = dialect.signature === "hmac";
  const token = byToken ? /^Bearer (\S{1,2048})$/i.exec(headerIn(message, "authorization"))?.[1] : undefined;
  const body = message.body.toString("utf8");
  const text = transactionText({ method: message.method, path: message.target, token, body, timestamp });
  const isSigned = byToken
    ? secrets.map((secret) => isSignedByHmac(secret, text, signature)).includes(true)
    : publicKeys.some((key) => isSignedByRsa(key, text, signature));
  const isForUs = sameText(headerIn(message, "x-partner-id"), partnerId);
  if (!isSigned || !isForUs || (byToken && token === undefined)) {
    const message = "The signature of method, path, token, body and X-TIMESTAMP does not match.";
    throw new Fault("SIGNATURE_INVALID", { message });
  }
  // Their repetitions come within the token's age at most; a repeated one changes nothing, since each transaction counts once.
  checkMoment(timestamp, now, byToken ? OWN_TOKEN_SECONDS : TIMESTAMP_WINDOW_SECONDS);
  if (token === undefined || isOwnToken(secrets, code, token, now)) return undefined;
  return reply(401, service, "01", "Invalid Token (B2B)");
}

/** What does the payer of this account owe? */
function readInquiry(body: Body, now: Micros): Heard {
  const account = accountOf(body);
  const echo = { ...accountFields(account), inquiryRequestId: textOrEmpty(body.inquiryRequestId) };
  const refuse = (which: string, english: string, indonesia: string): ProviderReply =>
    reply(404, "inquiry", which, english, {
      virtualAccountData: { ...echo, inquiryStatus: "01", inquiryReason: { english, indonesia } },
    });
  return {
    kind: "bill",
    find: { account: accountNumber(account) },
    reply: (bill: Bill | undefined): ProviderReply => {
      if (!bill) return refuse("12", "Bill not found", "Tagihan tidak ditemukan");
      if (!bill.payable && bill.expiresAt <= now) return refuse("19", "Bill expired", "Tagihan telah kedaluwarsa");
      if (!bill.payable) return refuse("14", "Bill has been paid", "Tagihan telah dibayar");
      const reference = bill.providerIds?.bill;
      return reply(200, "inquiry", "00", "Successful", {
        virtualAccountData: {
          ...echo,
          virtualAccountName: nameOf(bill.merchantName),
          totalAmount: amountOf(bill.amountMinor),
          virtualAccountTrxType: "C",
          expiredDate: snapTime(bill.expiresAt),
          ...(reference === undefined ? {} : { trxId: reference }),
          additionalInfo: {
            ...channelOf(body),
            ...(reference === undefined ? {} : { trxId: reference }),
            virtualAccountConfig: { reusableStatus: false },
          },
          inquiryStatus: "00",
          inquiryReason: { english: "Success", indonesia: "Sukses" },
        },
      });
    },
  };
}

/** A virtual account was paid. Its reference is ours; an account that we were asked about has it from our answer. */
function readPayment(body: Body): Heard {
  const account = accountOf(body);
  const info =
    typeof body.additionalInfo === "object" && body.additionalInfo !== null ? (body.additionalInfo as Body) : {};
  const given = body.trxId ?? info.trxId;
  const operationKey = operationKeyOf(given);
  if (operationKey === undefined) throw validationFault("trxId", given, "trxId must be the reference that we gave.");
  const paid = read("paidAmount", body.paidAmount, (value) => readAmount(value, "paidAmount"));
  const { paymentRequestId } = body;
  if (typeof paymentRequestId !== "string" || paymentRequestId === "" || paymentRequestId.length > 128)
    throw validationFault(
      "paymentRequestId",
      paymentRequestId,
      "paymentRequestId must be text of 1 to 128 characters.",
    );
  const echo = {
    ...accountFields(account),
    virtualAccountName: textOrEmpty(body.virtualAccountName),
    trxId: given,
    paymentRequestId,
    paidAmount: amountOf(paid),
  };
  const answer = (status: number, which: string, english: string, indonesia: string): ProviderReply =>
    reply(status, "payment", which, status === 200 ? "Successful" : english, {
      virtualAccountData: {
        ...echo,
        paymentFlagStatus: status === 200 ? "00" : "01",
        paymentFlagReason: { english, indonesia },
      },
    });
  return {
    kind: "reports",
    reports: [
      { kind: "payment", operationKey, standing: { status: "paid", receipt: receiptOf(paymentRequestId, paid) } },
    ],
    reply: (taken: Taken): ProviderReply => {
      switch (taken) {
        case "taken":
          return answer(200, "00", "Success", "Sukses");
        case "unknown operation":
          return answer(404, "12", "Bill not found", "Tagihan tidak ditemukan");
        case "refused":
          return answer(404, "13", "Invalid Amount", "Nominal tidak sesuai");
      }
    },
  };
}

/**
 * A bank tells that an account was paid, by its number alone: it is inquired about, which tells how much it was. It is acknowledged in any
 * case, so that the bank does not repeat it.
 */
function readAccountNotice(body: Body): Heard {
  return {
    kind: "reports",
    reports: [{ kind: "look", operationKey: accountNumber(accountOf(body)) }],
    reply: () => reply(200, "notifyVa", "00", "Successful"),
  };
}

/** Something happened to a payment by QR or wallet: it is inquired about, since the notification need not say all. */
function readNotice(body: Body, service: "qrNotify" | "debitNotify"): Heard {
  const operationKey = operationKeyOf(body.originalPartnerReferenceNo);
  if (operationKey === undefined) {
    const message = "originalPartnerReferenceNo must be the reference that we gave.";
    throw validationFault("originalPartnerReferenceNo", body.originalPartnerReferenceNo, message);
  }
  return {
    kind: "reports",
    reports: [{ kind: "look", operationKey }],
    reply: (taken: Taken): ProviderReply =>
      taken === "unknown operation"
        ? reply(404, service, "01", "Transaction Not Found")
        : reply(200, service, "00", "Successful"),
  };
}

function reply(status: number, service: Service, which: string, message: string, more: Body = {}): ProviderReply {
  return {
    status,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ responseCode: codeOf(status, service, which), responseMessage: message, ...more }),
  };
}

function headerIn({ headers }: Message, name: string): string {
  const value = headers[name];
  if (value === undefined || value === "")
    throw new Fault("SIGNATURE_MISSING", { message: `Send ${name.toUpperCase()}.` });
  if (typeof value !== "string" || value.length > 4096)
    throw new Fault("SIGNATURE_INVALID", { message: `${name.toUpperCase()} cannot be read.` });
  return value;
}

function checkMoment(timestamp: string, now: Micros, windowSeconds: number): void {
  const at = readSnapTime(timestamp);
  if (at === undefined)
    throw new Fault("SIGNATURE_INVALID", { message: "X-TIMESTAMP must be a moment like 2026-11-23T21:00:00+07:00." });
  if (Math.abs(at - now) > windowSeconds * SECOND)
    throw new Fault("TIMESTAMP_OUT_OF_WINDOW", {
      message: `X-TIMESTAMP is more than ${windowSeconds} seconds from our clock.`,
    });
}

function bodyOf(bytes: Buffer): Body {
  try {
    return parseObject(bytes);
  } catch (error) {
    if (error instanceof MalformedJson) throw new Fault("MALFORMED_JSON");
    throw error;
  }
}

function accountOf(body: Body): Account {
  return read("virtualAccountNo", body.virtualAccountNo, () => readAccount(body));
}

/** What cannot be read is the sender's mistake, and named. */
function read<Value>(field: string, value: unknown, reading: (value: unknown) => Value): Value {
  try {
    return reading(value);
  } catch (error) {
    throw validationFault(field, value, error instanceof Error ? error.message : undefined);
  }
}

function textOrEmpty(value: unknown): string {
  return typeof value === "string" ? value.slice(0, 255) : "";
}

function channelOf({ additionalInfo }: Body): Record<string, string> {
  const channel =
    typeof additionalInfo === "object" && additionalInfo !== null ? (additionalInfo as Body).channel : undefined;
  return typeof channel === "string" ? { channel: channel.slice(0, 64) } : {};
}
