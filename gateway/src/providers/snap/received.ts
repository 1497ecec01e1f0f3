// Reads messages of SNAP providers: requests for a token, questions for a bill, and notifications. Pure but for the random part of tokens.
import type { KeyObject } from "node:crypto";
import type { Bill, MessageMeaning, Message, ProviderReply, Taken, AcquirerMessage } from "../../acquirers/acquirer.ts";
import { type Micros, SECOND } from "../../ground/clock.ts";
import { TIMESTAMP_WINDOW_SECONDS, sameText } from "../../ground/crypto.ts";
import { Fault, validationFault } from "../../ground/fault.ts";
import { parseObject } from "../../ground/json.ts";
import { maskedBody } from "../mask.ts";
import { type Body, receiptOf, readAccount } from "./answers.ts";
import { type Service, codeOf } from "./errors.ts";
import type { VirtualAccounts } from "./dialect.ts";
import { type Account, type Partner, accountFields, accountNumber, accountTransaction } from "./partner.ts";
import { nameOf } from "./requests.ts";
import { isSignedByHmac, isSignedByRsa, tokenText, transactionText } from "./signature.ts";
import { OWN_TOKEN_SECONDS, isOwnToken, issueToken } from "./tokens.ts";
import { amountOf, operationKeyOf, readAmount, readSnapTime, snapTime } from "./values.ts";

/** The keys with which the provider proves its identity. */
export interface TheirKeys {
  /** The shared secret, and while it is being replaced also the one before. The first signs the tokens that Gerbang issues. */
  secrets: readonly string[];
  publicKeys: readonly KeyObject[];
}

type Kind = "token" | "inquiry" | "payment" | "notifyVa" | "qrNotify" | "debitNotify";

/** Kinds of messages by the end of the path: the provider chooses its beginning, such as a version. */
const kinds: readonly (readonly [RegExp, Kind])[] = [
  [/\/access-token\/b2b$/, "token"],
  [/\/transfer-va\/inquiry$/, "inquiry"],
  [/\/transfer-va\/payment$/, "payment"],
  [/\/transfer-va\/notify-payment-intrabank$/, "notifyVa"],
  [/\/qr\/qr-mpm-notify$/, "qrNotify"],
  [/\/debit\/notify$/, "debitNotify"],
];

/**
 * Reads a message of the provider. Nothing is read from it before its signature is checked. Throws SIGNATURE_MISSING, SIGNATURE_INVALID,
 * TIMESTAMP_OUT_OF_WINDOW, MALFORMED_JSON, VALIDATION_ERROR and ROUTE_NOT_FOUND.
 */
export function received(partner: Partner, keys: TheirKeys, message: Message, now: Micros): MessageMeaning {
  const path = message.rest.split("?", 1)[0] ?? "";
  const kind = kinds.find(([pattern]) => pattern.test(path))?.[1];
  if (kind === undefined || message.method !== "POST") throw new Fault("ROUTE_NOT_FOUND");
  if (kind === "token") return { kind: "reply", reply: giveToken(partner, keys, message, now) };
  const refusal = checkTransaction(partner, keys, message, now, kind);
  const kept: AcquirerMessage = { about: `POST ${path}`, status: undefined, text: maskedBody(message.body) };
  if (refusal) return { kind: "reply", reply: refusal, message: kept };
  const body = parseObject(message.body);
  switch (kind) {
    case "inquiry":
      return { ...readInquiry(body, now), message: kept };
    case "payment":
      return { ...readPayment(body, partner.dialect.virtualAccounts?.identity), message: kept };
    case "notifyVa":
      return { ...readAccountNotice(body), message: kept };
    case "qrNotify":
    case "debitNotify":
      return { ...readNotice(body, kind), message: kept };
  }
}

/** Issues a token to the provider. Its request signs only the client's id and the time, so the time must be now. */
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
  const { grantType } = parseObject(message.body);
  if (grantType !== "client_credentials")
    throw validationFault("grantType", grantType, "grantType must be client_credentials.");
  const [secret] = secrets;
  if (secret === undefined) throw new Error(`${code} has no secret`);
  return reply(200, "token", "00", "Successful", {
    accessToken: issueToken(secret, code, now),
    tokenType: "Bearer",
    // The standard's examples write the number as text.
    expiresIn: String(OWN_TOKEN_SECONDS),
  });
}

/** Checks a message about a transaction. Where the signature is right and the token is not (any more), the response asks for another. */
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
  // The provider repeats messages within the token's lifetime at most. A repeated message changes nothing, since each transaction counts once.
  checkMoment(timestamp, now, byToken ? OWN_TOKEN_SECONDS : TIMESTAMP_WINDOW_SECONDS);
  if (token === undefined || isOwnToken(secrets, code, token, now)) return undefined;
  return reply(401, service, "01", "Invalid Token (B2B)");
}

/** Answers the bank's question what the payer of this account owes. */
function readInquiry(body: Body, now: Micros): MessageMeaning {
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

/** Reads the payment of a virtual account. Its reference is Gerbang's; for an `asked` account the bank has it from Gerbang's bill. */
function readPayment(body: Body, identity: VirtualAccounts["identity"] | undefined): MessageMeaning {
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
  // The same identity as in responses, so that money which an inquiry finds as well counts once.
  const receipt = receiptOf(
    identity === "account" ? accountTransaction(account, operationKey) : paymentRequestId,
    paid,
  );
  return {
    kind: "reports",
    reports: [{ kind: "payment", operationKey, state: { status: "paid", receipt } }],
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

/** Reads a bank's notice that an account was paid: an inquiry tells the amount. Acknowledged in any case, so that the bank does not repeat it. */
function readAccountNotice(body: Body): MessageMeaning {
  return {
    kind: "reports",
    reports: [{ kind: "look", operationKey: accountNumber(accountOf(body)) }],
    reply: () => reply(200, "notifyVa", "00", "Successful"),
  };
}

/** Reads a notification about a payment by QR or wallet. It need not say everything, so an inquiry follows. */
function readNotice(body: Body, service: "qrNotify" | "debitNotify"): MessageMeaning {
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

function accountOf(body: Body): Account {
  return read("virtualAccountNo", body.virtualAccountNo, () => readAccount(body));
}

/** Turns an error of `reading` into a VALIDATION_ERROR that names the field. */
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
