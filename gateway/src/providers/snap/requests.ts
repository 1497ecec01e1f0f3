// Builds the requests to SNAP providers: their paths and bodies. Pure; the same order or inquiry has the same body, whenever it is sent.
import type { OpenRequest, RefundRequest } from "../../acquirers/acquirer.ts";
import type { Qris, Wallets } from "./dialect.ts";
import type { Service } from "./errors.ts";
import { type Account, type Partner, accountFields, bankOf } from "./partner.ts";
import { amountOf, digitsOf, referenceOf, snapTime } from "./values.ts";

/** One request, not yet signed. */
export interface SnapRequest {
  service: Service;
  /** POST when absent. */
  method?: "DELETE";
  path: string;
  body: Readonly<Record<string, unknown>>;
  /** Operation key that the request is about. With the service it makes the `X-EXTERNAL-ID` of orders whose repetition must have the same one. */
  about: string;
  headers?: Readonly<Record<string, string>>;
  /** Digits of services that this provider answers with instead of the standard's. */
  others?: readonly string[];
}

/** Orders an account that takes this amount once. `account` is whole if Gerbang chooses the numbers, else the beginning of Gerbang's range. */
export function createAccount(partner: Partner, request: OpenRequest, channel: string, account: Account): SnapRequest {
  const { bank, traits } = bankOf(partner, channel);
  const config = { channel: bank.channel, virtualAccountConfig: { reusableStatus: false } };
  return {
    service: "createVa",
    path: traits.paths.create,
    about: request.operationKey,
    body: {
      ...accountFields(account),
      virtualAccountName: nameOf(request.merchantName),
      trxId: referenceOf(request.operationKey),
      totalAmount: amountOf(request.amountMinor),
      ...(traits.transactionType === undefined ? {} : { virtualAccountTrxType: traits.transactionType }),
      expiredDate: snapTime(request.expiresAt),
      additionalInfo: traits.namesChannel ? config : { description: referenceOf(request.operationKey) },
    },
  };
}

export function inquireAccount(partner: Partner, request: OpenRequest, channel: string, account: Account): SnapRequest {
  const { traits } = bankOf(partner, channel);
  return {
    service: "vaStatus",
    path: traits.paths.status,
    about: request.operationKey,
    body: {
      ...accountFields(account),
      // DOKU's page leaves `inquiryRequestId` out, and BRI's demands it: the reference that the account was made with.
      ...(traits.namesChannel ? {} : { inquiryRequestId: referenceOf(request.operationKey) }),
      additionalInfo: {},
    },
  };
}

/** Deletes an unpaid account. The number alone identifies it; the reference is the one that it was made with. */
export function deleteAccount(partner: Partner, request: OpenRequest, channel: string, account: Account): SnapRequest {
  const { bank, traits } = bankOf(partner, channel);
  return {
    service: "deleteVa",
    method: "DELETE",
    path: traits.paths.delete,
    about: request.operationKey,
    body: {
      ...accountFields(account),
      trxId: referenceOf(request.operationKey),
      ...(traits.namesChannel ? { additionalInfo: { channel: bank.channel } } : {}),
    },
  };
}

export function generateQr({ paths, additionalInfo }: Qris, partner: Partner, request: OpenRequest): SnapRequest {
  const { merchantId, terminalId, postalCode } = qrMerchant(partner);
  return {
    service: "qrGenerate",
    path: paths.generate,
    about: request.operationKey,
    body: {
      partnerReferenceNo: referenceOf(request.operationKey),
      amount: amountOf(request.amountMinor),
      merchantId,
      terminalId,
      validityPeriod: snapTime(request.expiresAt),
      additionalInfo: { ...(postalCode === undefined ? {} : { postalCode }), ...additionalInfo },
    },
  };
}

export function queryQr({ paths }: Qris, partner: Partner, operationKey: string, theirs: string): SnapRequest {
  return {
    service: "qrQuery",
    path: paths.query,
    about: operationKey,
    body: {
      originalReferenceNo: theirs,
      originalPartnerReferenceNo: referenceOf(operationKey),
      merchantId: qrMerchant(partner).merchantId,
      serviceCode: "47",
    },
  };
}

/** `approval` is the approval code that the query of the payment returned. */
export function refundQr(qris: Qris, partner: Partner, request: RefundRequest, approval: string): SnapRequest {
  return {
    service: "qrRefund",
    path: qris.paths.refund,
    about: request.operationKey,
    body: {
      originalPartnerReferenceNo: referenceOf(request.paymentOperationKey),
      originalReferenceNo: request.paymentProviderIds?.reference ?? "",
      partnerRefundNo: referenceOf(request.operationKey),
      merchantId: qrMerchant(partner).merchantId,
      refundAmount: amountOf(request.amountMinor),
      reason: REASON,
      additionalInfo: { approvalCode: approval },
    },
  };
}

/** Orders a payment at a wallet's own page, whose address is in the response. */
export function payByWallet(wallets: Wallets, request: OpenRequest, channel: string): SnapRequest {
  const back = request.returnUrl !== undefined && request.returnUrl.length <= 255 ? request.returnUrl : request.payUrl;
  return {
    service: "debitPay",
    path: wallets.paths.pay,
    about: request.operationKey,
    body: {
      partnerReferenceNo: referenceOf(request.operationKey),
      amount: amountOf(request.amountMinor),
      urlParam: [{ url: back, type: "PAY_RETURN", isDeepLink: "N" }],
      validUpTo: snapTime(request.expiresAt),
      pointOfInitiation: "mweb",
      additionalInfo: { channel: walletChannel(wallets, channel), orderTitle: nameOf(request.merchantName) },
    },
    headers: deviceHeaders(request.operationKey),
    others: wallets.paymentServices,
  };
}

export function inquireWallet(wallets: Wallets, operationKey: string, channel: string): SnapRequest {
  return {
    service: "debitStatus",
    path: wallets.paths.status,
    about: operationKey,
    body: {
      originalPartnerReferenceNo: referenceOf(operationKey),
      serviceCode: "55",
      additionalInfo: { channel: walletChannel(wallets, channel) },
    },
  };
}

export function refundWallet(wallets: Wallets, request: RefundRequest, channel: string): SnapRequest {
  return {
    service: "debitRefund",
    path: wallets.paths.refund,
    about: request.operationKey,
    body: {
      originalPartnerReferenceNo: referenceOf(request.paymentOperationKey),
      partnerRefundNo: referenceOf(request.operationKey),
      refundAmount: amountOf(request.amountMinor),
      reason: REASON,
      additionalInfo: { channel: walletChannel(wallets, channel) },
    },
    headers: deviceHeaders(request.paymentOperationKey),
  };
}

const REASON = "Refund by the merchant";

/** A server does not know the payer's device: an id of the payment stands in. Letters and digits alone, as the documentation asks. */
function deviceHeaders(operationKey: string): Record<string, string> {
  return { "x-device-id": digitsOf(20, "device", operationKey) };
}

function walletChannel({ channels }: Wallets, channel: string): string {
  const name = Object.hasOwn(channels, channel) ? channels[channel] : undefined;
  if (name === undefined) throw new Error(`there is no wallet ${channel}`);
  return name;
}

function qrMerchant({ qris, code }: Partner): NonNullable<Partner["qris"]> {
  if (!qris) throw new Error(`${code} has no merchant for QRIS`);
  return qris;
}

/** A merchant's name in the characters that banks print; other characters become spaces. */
export function nameOf(merchantName: string): string {
  const plain = merchantName.normalize("NFKD").replaceAll(/\p{M}+/gu, "");
  const name = plain.replaceAll(/[^a-zA-Z0-9.\-/+,=_:'@% ]+/g, " ").replaceAll(/ {2,}/g, " ");
  return name.trim().slice(0, 40).trim() || "Merchant";
}
