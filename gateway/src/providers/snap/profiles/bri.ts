// Bank Rakyat Indonesia: its virtual accounts (BRIVA WS). The README says which page each line was read from.
import type { Dialect } from "../dialect.ts";

export const bri: Dialect = {
  title: "Bank Rakyat Indonesia",
  urls: { sandbox: "https://sandbox.partner.api.bri.co.id", production: "https://partner.api.bri.co.id" },
  channelId: undefined,
  signature: "hmac",
  externalIdDigits: 9,
  repetition: "conflict",
  paths: { token: "/snap/v1.0/access-token/b2b" },
  virtualAccounts: {
    paths: {
      create: "/snap/v1.0/transfer-va/create-va",
      status: "/snap/v1.0/transfer-va/status",
      delete: "/snap/v1.0/transfer-va/delete-va",
    },
    numbers: "ours",
    tellsBillAgain: false,
    customerDigits: 13,
    transactionType: undefined,
    namesChannel: false,
    identity: "account",
    paidBy: "paidStatus",
    banks: { bri: { channel: "BRI", name: "Bank Rakyat Indonesia", code: "002" } },
  },
};
