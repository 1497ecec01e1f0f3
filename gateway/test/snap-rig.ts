// A SNAP partner and requests to it, for tests of the SNAP connector. Nothing here listens.
import type { OpenRequest, RefundRequest } from "../src/acquirers/acquirer.ts";
import { SECOND } from "../src/ground/clock.ts";
import { newId } from "../src/ground/ids.ts";
import type { Partner } from "../src/providers/snap/partner.ts";
import { bri } from "../src/providers/snap/profiles/bri.ts";
import { doku } from "../src/providers/snap/profiles/doku.ts";

export const NOW = Date.parse("2026-11-23T14:00:00Z") * 1000;

/** The operation key of a payment or refund that was made at `at`. */
export function keyAt(kind: "payment" | "refund", at = NOW): string {
  return `${newId(kind, at).replace("_", "")}.${newId("merchant", at).slice(4)}.s1`;
}

export function dokuPartner(changes: Partial<Partner> = {}): Partner {
  return {
    code: "doku",
    dialect: doku,
    clientId: "BRN-0253-1758536533798",
    partnerId: "BRN-0253-1758536533798",
    channelId: "H2H",
    accounts: {
      bca: { partnerServiceId: "19008", customerPrefix: "0", numbers: "theirs" },
      bri: { partnerServiceId: "13925", customerPrefix: "6", numbers: "ours" },
      bni: { partnerServiceId: "8492", customerPrefix: "3", numbers: "asked" },
    },
    qris: { merchantId: "47435", terminalId: "A01", postalCode: "12190" },
    ...changes,
  };
}

export function briPartner(): Partner {
  return {
    code: "bri",
    dialect: bri,
    clientId: "client-of-bri",
    partnerId: "feedloop",
    channelId: "00009",
    accounts: { bri: { partnerServiceId: "77777", customerPrefix: "", numbers: "ours" } },
    qris: undefined,
  };
}

export function openRequest(changes: Partial<OpenRequest> = {}): OpenRequest {
  return {
    reference: "pay_01kb5zw3d9h4vq0t7n8m2c6xre",
    operationKey: "pay01kb5zw3d9h4vq0t7n8m2c6xre.01kb5zw3d9h4vq0t7n8m2c6xrf.s1",
    amountMinor: 5_800_000n,
    currency: "IDR",
    method: "va",
    merchantName: "Warung Bu Sri",
    expiresAt: NOW + 3_600 * SECOND,
    payUrl: "https://pay.example/p/1",
    returnUrl: undefined,
    metadata: undefined,
    callbackUrl: "https://pay.example/acquirers/doku/callbacks",
    round: 0,
    isOver: false,
    providerIds: undefined,
    ...changes,
  };
}

export function refundRequest(changes: Partial<RefundRequest> = {}): RefundRequest {
  return {
    operationKey: "rfd01kb5zw3d9h4vq0t7n8m2c6xrg.01kb5zw3d9h4vq0t7n8m2c6xrf.s1",
    paymentOperationKey: "pay01kb5zw3d9h4vq0t7n8m2c6xre.01kb5zw3d9h4vq0t7n8m2c6xrf.s1",
    paymentProviderIds: { reference: "DOKU-1", approval: "1hk9vlw79634", wallet: "dana" },
    isOver: false,
    paymentAmountMinor: 5_800_000n,
    method: "qris",
    amountMinor: 1_000_000n,
    currency: "IDR",
    callbackUrl: "https://pay.example/acquirers/doku/callbacks",
    providerIds: undefined,
    ...changes,
  };
}
