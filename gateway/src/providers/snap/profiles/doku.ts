// DOKU (PT Nusa Satu Inti Artha). The README says which page each line was read from.
import type { Dialect } from "../dialect.ts";

export const doku: Dialect = {
  title: "DOKU",
  urls: { sandbox: "https://api-sandbox.doku.com", production: "https://api.doku.com" },
  channelId: "H2H",
  signature: "hmac",
  externalIdDigits: 32,
  repetition: "same",
  paths: { token: "/authorization/v1/access-token/b2b" },
  virtualAccounts: {
    paths: {
      create: "/virtual-accounts/bi-snap-va/v1.1/transfer-va/create-va",
      status: "/orders/v1.0/transfer-va/status",
      delete: "/virtual-accounts/bi-snap-va/v1.1/transfer-va/delete-va",
    },
    numbers: "theirs",
    tellsBillAgain: true,
    customerDigits: 12,
    transactionType: "C",
    namesChannel: true,
    identity: "paymentRequestId",
    paidBy: "paymentFlagReason",
    banks: {
      bca: { channel: "VIRTUAL_ACCOUNT_BCA", name: "Bank Central Asia", code: "014" },
      mandiri: { channel: "VIRTUAL_ACCOUNT_BANK_MANDIRI", name: "Bank Mandiri", code: "008" },
      bsi: { channel: "VIRTUAL_ACCOUNT_BANK_SYARIAH_MANDIRI", name: "Bank Syariah Indonesia", code: "451" },
      bri: { channel: "VIRTUAL_ACCOUNT_BRI", name: "Bank Rakyat Indonesia", code: "002" },
      bni: { channel: "VIRTUAL_ACCOUNT_BNI", name: "Bank Negara Indonesia", code: "009" },
      permata: { channel: "VIRTUAL_ACCOUNT_BANK_PERMATA", name: "Bank Permata", code: "013" },
      cimb: { channel: "VIRTUAL_ACCOUNT_BANK_CIMB", name: "Bank CIMB Niaga", code: "022" },
      danamon: { channel: "VIRTUAL_ACCOUNT_BANK_DANAMON", name: "Bank Danamon", code: "011" },
    },
  },
  qris: {
    paths: {
      generate: "/snap-adapter/b2b/v1.0/qr/qr-mpm-generate",
      query: "/snap-adapter/b2b/v1.0/qr/qr-mpm-query",
      refund: "/snap-adapter/b2b/v1.0/qr/qr-mpm-refund",
    },
    additionalInfo: { feeType: "1" },
  },
  wallets: {
    paths: {
      pay: "/direct-debit/core/v1/debit/payment-host-to-host",
      status: "/orders/v1.0/debit/status",
      refund: "/direct-debit/core/v1/debit/refund",
    },
    // DOKU's page of DANA shows the code 2000500.
    paymentServices: ["05"],
    channels: { dana: "EMONEY_DANA_SNAP", shopeepay: "EMONEY_SHOPEE_PAY_SNAP" },
  },
};
