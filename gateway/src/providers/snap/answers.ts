// Reads SNAP's responses about accounts, QR codes, wallet pages, payments and refunds. Pure. A response about something else, or without a field
// that it needs, throws an Error that says which: its outcome is unknown.
import type {
  Opened,
  OpenRequest,
  ProviderIds,
  Receipt,
  RefundRequest,
  Refunded,
  ReportedState,
  Unrequested,
} from "../../acquirers/acquirer.ts";
import { readMoved } from "../../acquirers/other-money.ts";
import { objectionToAddresses } from "../../acquirers/payer-address.ts";
import { otherMoneyIn, readQr as readQrText } from "../../acquirers/qris-reading.ts";
import { wireTime } from "../../ground/clock.ts";
import { digestOf } from "../../ground/crypto.ts";
import type { Minor } from "../../ground/money.ts";
import type { Bank, VirtualAccounts } from "./dialect.ts";
import { type Account, accountNumber, accountTransaction } from "./partner.ts";
import { nameOf } from "./requests.ts";
import { CURRENCY, quoted, readAmount, referenceOf } from "./values.ts";

export type Body = Readonly<Record<string, unknown>>;

/** Reads the response to `createAccount`. `expected` is the whole account if Gerbang chooses the numbers, else its beginning. */
export function readCreated(body: Body, request: OpenRequest, expected: Account, numbers: "theirs" | "ours"): Account {
  const data = objectIn(body, "virtualAccountData");
  expectText(data.trxId, referenceOf(request.operationKey), "trxId");
  expectAmount(data.totalAmount, request.amountMinor, "totalAmount");
  const account = readAccount(data);
  if (account.partnerServiceId !== expected.partnerServiceId) throw differs("partnerServiceId", data.partnerServiceId);
  const fits =
    numbers === "ours"
      ? account.customerNo === expected.customerNo
      : account.customerNo.startsWith(expected.customerNo) && account.customerNo.length > expected.customerNo.length;
  if (!fits) throw differs("customerNo", data.customerNo);
  return account;
}

/** Reads the three fields of an account, which must agree. */
export function readAccount(data: Body): Account {
  const partnerServiceId = textIn(data, "partnerServiceId").trim();
  const customerNo = textIn(data, "customerNo").trim();
  const number = textIn(data, "virtualAccountNo").replaceAll(" ", "");
  if (!/^\d{1,8}$/.test(partnerServiceId)) throw differs("partnerServiceId", data.partnerServiceId);
  if (!/^\d{1,20}$/.test(customerNo)) throw differs("customerNo", data.customerNo);
  if (number !== partnerServiceId + customerNo) throw differs("virtualAccountNo", data.virtualAccountNo);
  return { partnerServiceId, customerNo };
}

export function accountOpened(request: OpenRequest, { name, code }: Bank, account: Account): Opened {
  const number = accountNumber(account);
  return {
    instructions: {
      type: "va_number",
      value: number,
      expires_at: wireTime(request.expiresAt),
      bank_name: name,
      bank_code: code,
      account_number: number,
      account_name: nameOf(request.merchantName),
    },
    providerIds: { account: number, service: account.partnerServiceId, customer: account.customerNo },
  };
}

/** Reads a successful response to `deleteAccount`. Throws when it is about another account. */
export function readDeleted(body: Body, request: OpenRequest, account: Account): void {
  const data = objectIn(body, "virtualAccountData");
  if (accountNumber(readAccount(data)) !== accountNumber(account))
    throw differs("virtualAccountNo", data.virtualAccountNo);
  if (data.trxId !== undefined) expectText(data.trxId, referenceOf(request.operationKey), "trxId");
}

/** State of an account, from the response to `inquireAccount`. */
export function readAccountStatus(
  body: Body,
  request: OpenRequest,
  account: Account,
  { paidBy, identity }: Pick<VirtualAccounts, "paidBy" | "identity">,
): ReportedState {
  const data = objectIn(body, "virtualAccountData");
  const answered = readAccount(data);
  if (accountNumber(answered) !== accountNumber(account)) throw differs("virtualAccountNo", data.virtualAccountNo);
  const info = optionalObjectIn(body, "additionalInfo");
  const reference = data.trxId ?? info?.trxId;
  if (reference !== undefined) expectText(reference, referenceOf(request.operationKey), "trxId");
  if (!isPaid(paidBy, data, info)) return { status: "waiting" };
  // With the identity `account` a response may have no amount: such an account takes exactly the amount that it was made for.
  if (identity !== "account" || data.paidAmount !== undefined)
    expectMoved(data.paidAmount, request.amountMinor, "paidAmount");
  const transaction =
    identity === "account"
      ? accountTransaction(account, request.operationKey)
      : readMoved(() => textIn(data, "paymentRequestId"));
  return { status: "paid", receipt: receiptOf(transaction, request.amountMinor) };
}

function isPaid(paidBy: VirtualAccounts["paidBy"], data: Body, info: Body | undefined): boolean {
  if (paidBy === "paidStatus") {
    const status = info?.paidStatus;
    if (status !== "Y" && status !== "N") throw differs("additionalInfo.paidStatus", status);
    return status === "Y";
  }
  const flag = data.paymentFlagStatus;
  if (flag !== undefined && flag !== "00" && flag !== "03") throw differs("paymentFlagStatus", flag);
  const reason = optionalObjectIn(data, "paymentFlagReason")?.english;
  // The response has an amount even before a payment: only the reason says whether the account was paid.
  if (reason !== "Success" && reason !== "Pending") throw differs("paymentFlagReason.english", reason);
  if (flag !== undefined && (flag === "00") !== (reason === "Success")) throw differs("paymentFlagStatus", flag);
  return reason === "Success";
}

/** Reads the response to `generateQr`. */
export function readQr(body: Body, request: OpenRequest): Opened {
  expectText(body.partnerReferenceNo, referenceOf(request.operationKey), "partnerReferenceNo");
  const content = textIn(body, "qrContent");
  if (content.length > 512 || !/^[\x20-\x7e]+$/.test(content)) throw differs("qrContent", content);
  // A payer must not be shown a code with another currency or amount.
  const other = otherMoneyIn(readQrText(content), request.amountMinor);
  if (other !== undefined) throw differs(`the ${other} within qrContent`, content);
  return qrOpened(request, { reference: textIn(body, "referenceNo"), ...inParts("qr", content) });
}

/** The same from the stored ids, since no later response repeats the code; undefined when it was never stored. */
export function qrKept(request: OpenRequest): Opened | undefined {
  const { providerIds } = request;
  return providerIds?.reference === undefined || joined(providerIds, "qr") === ""
    ? undefined
    : qrOpened(request, providerIds);
}

function qrOpened({ expiresAt }: OpenRequest, providerIds: ProviderIds): Opened {
  const qr_string = joined(providerIds, "qr");
  const instructions = { type: "qr_string", value: qr_string, expires_at: wireTime(expiresAt), qr_string } as const;
  return { instructions, providerIds };
}

/** Reads the response to `payByWallet`. `plainOnLoopback` allows plain http to this machine, for tries. */
export function readWalletPage(body: Body, request: OpenRequest, channel: string, plainOnLoopback: boolean): Opened {
  expectText(body.partnerReferenceNo, referenceOf(request.operationKey), "partnerReferenceNo");
  const url = textIn(body, "webRedirectUrl");
  if (url.length > PART_LENGTH * PARTS_MAX) throw differs("webRedirectUrl", url);
  const opened = walletOpened(request, { wallet: channel, ...inParts("url", url) });
  const objection = objectionToAddresses(opened.instructions, plainOnLoopback);
  if (objection !== undefined) throw new Error(`webRedirectUrl leads nowhere that payers are sent to: ${objection}`);
  return opened;
}

export function walletKept(request: OpenRequest): Opened | undefined {
  const { providerIds } = request;
  return providerIds === undefined || joined(providerIds, "url") === ""
    ? undefined
    : walletOpened(request, providerIds);
}

function walletOpened({ expiresAt }: OpenRequest, providerIds: ProviderIds): Opened {
  const url = joined(providerIds, "url");
  const instructions = { type: "redirect", value: url, expires_at: wireTime(expiresAt), redirect_url: url } as const;
  return { instructions, providerIds };
}

/**
 * State of a payment by QR or wallet, with the ids that the response contains. `kept`: the provider's reference, if it is stored already.
 * Undefined when the provider has no such payment. The response must contain at least one of the two references, and neither may be another's.
 * `unrequested`: something was refunded, and it does not say by which refund.
 */
export function readStatus(
  body: Body,
  { operationKey, amountMinor, kept }: { operationKey: string; amountMinor: Minor; kept: string | undefined },
): { state: ReportedState; ids: ProviderIds; unrequested: readonly Unrequested[] } | undefined {
  const status = textIn(body, "latestTransactionStatus");
  if (status === "07") return undefined;
  const { originalPartnerReferenceNo: ours, originalReferenceNo: theirs } = body;
  if (theirs === undefined || ours !== undefined)
    expectText(ours, referenceOf(operationKey), "originalPartnerReferenceNo");
  if (ours === undefined || (kept !== undefined && theirs !== undefined))
    expectText(theirs, kept ?? "", "originalReferenceNo");
  const approval = body.approvalCode ?? optionalObjectIn(body, "additionalInfo")?.approvalCode;
  const ids: Record<string, string> = {};
  // One that cannot be kept is left out: a refund asks for the approval again, and money without a reference is told to a person.
  for (const [name, id] of Object.entries({ reference: kept ?? theirs, approval })) if (isId(id)) ids[name] = id;
  switch (status) {
    case "00":
    // Refunded, wholly or in part: the payment was paid, and each refund has a state of its own.
    case "04": {
      expectMoved(body.amount ?? body.transAmount, amountMinor, "amount");
      const transaction = readMoved(() => textIn(ids, "reference"));
      const receipt = receiptOf(transaction, amountMinor);
      return {
        state: { status: "paid", receipt: { ...receipt, feeMinor: feeOf(body.feeAmount) } },
        ids,
        unrequested: status === "04" ? ["unlisted_refund"] : [],
      };
    }
    case "01":
    case "03":
      return { state: { status: "waiting" }, ids, unrequested: [] };
    case "02":
      return { state: { status: "processing" }, ids, unrequested: [] };
    case "05":
    case "06":
      return { state: { status: "failed" }, ids, unrequested: [] };
    default:
      throw differs("latestTransactionStatus", status);
  }
}

/** Reads the successful response to a refund. */
export function readRefund(body: Body, request: RefundRequest): Refunded {
  if (body.partnerRefundNo !== undefined)
    expectText(body.partnerRefundNo, referenceOf(request.operationKey), "partnerRefundNo");
  if (body.originalPartnerReferenceNo !== undefined)
    expectText(body.originalPartnerReferenceNo, referenceOf(request.paymentOperationKey), "originalPartnerReferenceNo");
  expectMoved(body.refundAmount, request.amountMinor, "refundAmount");
  if (!isId(body.refundNo)) throw differs("refundNo", body.refundNo);
  return { status: "succeeded", providerIds: { refund: body.refundNo } };
}

/** The refund with Gerbang's reference in the history of a wallet payment; undefined when it is not listed. */
export function refundInHistory(body: Body, request: RefundRequest): Refunded | undefined {
  expectText(body.originalPartnerReferenceNo, referenceOf(request.paymentOperationKey), "originalPartnerReferenceNo");
  const history: unknown = body.refundHistory ?? [];
  if (!Array.isArray(history)) throw differs("refundHistory", history);
  for (const entry of history as unknown[]) {
    if (typeof entry !== "object" || entry === null) throw differs("refundHistory", entry);
    const { partnerReferenceNo, refundAmount, refundStatus, refundNo } = entry as Body;
    if (partnerReferenceNo !== referenceOf(request.operationKey)) continue;
    const status = refundStatuses.get(refundStatus);
    if (status === undefined) throw differs("refundHistory.refundStatus", refundStatus);
    const check = status === "failed" ? expectAmount : expectMoved;
    check(refundAmount, request.amountMinor, "refundHistory.refundAmount");
    return {
      status,
      ...(isId(refundNo) ? { providerIds: { refund: refundNo } } : {}),
    };
  }
  return undefined;
}

const refundStatuses = new Map<unknown, Refunded["status"]>([
  ["00", "succeeded"],
  ["03", "pending"],
  ["06", "failed"],
]);

/** Receipt of a provider's transaction. An id that is too long or has other characters is replaced by its digest. */
export function receiptOf(transaction: string, amountMinor: Minor): Receipt {
  const fits = /^[\x21-\x7e]{1,64}$/.test(transaction);
  const transactionId = fits ? transaction : digestOf("snap transaction", transaction).toString("hex");
  return { transactionId, amountMinor, currency: CURRENCY };
}

const PART_LENGTH = 250;
const PARTS_MAX = 4;

/** Splits a long text into ids: `qr_1`, `qr_2`. */
function inParts(name: string, text: string): Record<string, string> {
  const parts = text.match(new RegExp(`.{1,${PART_LENGTH}}`, "gs")) ?? [];
  return Object.fromEntries(parts.map((part, at) => [`${name}_${at + 1}`, part]));
}

function joined(ids: ProviderIds, name: string): string {
  return Array.from({ length: PARTS_MAX }, (_, at) => ids[`${name}_${at + 1}`] ?? "").join("");
}

/** The fee that the bank states; undefined when it states none, or one that cannot be read: the money counts all the same. */
function feeOf(stated: unknown): Minor | undefined {
  try {
    return stated === undefined || stated === null ? undefined : readAmount(stated, "feeAmount");
  } catch {
    return undefined;
  }
}

function objectIn(body: Body, name: string): Body {
  const value = optionalObjectIn(body, name);
  if (value === undefined) throw new Error(`${name} is missing`);
  return value;
}

function optionalObjectIn(body: Body, name: string): Body | undefined {
  const value = body[name];
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Body) : undefined;
}

function textIn(body: Body, name: string): string {
  const value = body[name];
  if (typeof value !== "string" || value === "")
    throw new Error(value === undefined ? `${name} is missing` : differs(name, value).message);
  return value;
}

function isId(value: unknown): value is string {
  return typeof value === "string" && /^[\x20-\x7e]{1,255}$/.test(value);
}

function expectText(value: unknown, expected: string, name: string): void {
  if (value !== expected) throw differs(name, value);
}

function expectAmount(value: unknown, expected: Minor, name: string): void {
  const amount = readAmount(value, name);
  if (amount !== expected) throw new Error(`${name} is another amount: ${amount} instead of ${expected} minor units`);
}

/** The same for an amount that has moved, as the response says: throws `OtherMoney`. */
function expectMoved(value: unknown, expected: Minor, name: string): void {
  readMoved(() => expectAmount(value, expected, name));
}

function differs(name: string, value: unknown): Error {
  return new Error(`${name} is not what was asked about: ${quoted(value)}`);
}
