// Examples of payments for the contract: one QRIS payment with its later states, and the instructions of each method.
import { exampleIds, exampleTimes } from "../http/examples.ts";

const qrString =
  "00020101021226710019ID.CO.NUSANTARA.WWW011893600914010421037802150000000001042100303UMI51440014ID.CO.QRIS.WWW0215ID10260001042100303UMI5204599953033605409150000.005802ID5911TOKO MELATI6007JAKARTA6105101106229012501KAN3T5Q8E4VS0X7YBD2M9FJ6304BD37";

export const exampleCheckoutUrl = "https://pay.example.com/pay/5kq2w8zr4h6t1n3yq0ejr8zb5v";

export const exampleInstructions = {
  qr: { type: "qr_string", value: qrString, expires_at: exampleTimes.expires, qr_string: qrString },
  virtualAccount: {
    type: "va_number",
    value: "8808126409113752",
    expires_at: exampleTimes.expires,
    bank_name: "Bank Nusantara",
    bank_code: "914",
    account_number: "8808126409113752",
    account_name: "TOKO MELATI",
  },
  bankTransfer: {
    type: "bank_account",
    value: "8081264091",
    expires_at: exampleTimes.expires,
    bank_name: "Bank Nusantara",
    bank_code: "914",
    account_number: "8081264091",
    account_name: "TOKO MELATI",
    transfer_code: "GB41027753960184",
  },
  redirect: {
    type: "redirect",
    value: exampleCheckoutUrl,
    expires_at: exampleTimes.expires,
    redirect_url: exampleCheckoutUrl,
  },
} as const;

const amounts = {
  amount_minor: 15_000_000,
  currency: "IDR",
  exponent: 2,
  fee_minor: 105_000,
  net_minor: 14_895_000,
};

export const exampleCustomer = { name: "Sari Wulandari", email: "sari@example.com", phone: "+6281234567890" };

export const exampleMetadata = { order: "1042", source: "web" };

export const exampleDescription = "Two bags of coffee";

const order = {
  amount_minor: 15_000_000,
  currency: "IDR",
  reference_id: "order-1042",
  description: exampleDescription,
  customer: exampleCustomer,
  metadata: exampleMetadata,
};

export const exampleCreatePayment = { ...order, payment_method: "qris" as const, expires_in: 1_800 };

export const createPaymentExamples = {
  qris: { summary: "By QRIS, to be paid within half an hour", value: exampleCreatePayment },
  virtualAccount: {
    summary: "To a virtual account, within a day",
    value: { ...order, payment_method: "va", expires_in: 86_400 },
  },
  card: {
    summary: "By card, on a page of the acquirer",
    value: { ...order, payment_method: "card", return_url: "https://shop.example.com/orders/1042" },
  },
};

const summary = {
  ...amounts,
  refunded_minor: 0,
  payment_method: "qris" as const,
  reference_id: "order-1042",
  gateway_code: "nusantara",
  environment: "sandbox" as const,
};

export const examplePayment = {
  reference: exampleIds.payment,
  status: "succeeded" as const,
  ...summary,
  paid_at: exampleTimes.paid,
  settlement_uuid: null,
  settlement: { status: "pending" as const, estimated_date: "2026-11-23" },
  created_at: exampleTimes.created,
  updated_at: exampleTimes.paid,
};

export const paymentExamples = {
  succeeded: { summary: "Paid, and paid out tomorrow", value: examplePayment },
  pending: {
    summary: "Not paid yet",
    value: {
      reference: exampleIds.payment,
      status: "pending",
      ...summary,
      instructions: exampleInstructions.qr,
      expires_at: exampleTimes.expires,
      checkout_url: exampleCheckoutUrl,
      created_at: exampleTimes.created,
      updated_at: exampleTimes.created,
    },
  },
};

export const exampleCanceledPayment = {
  reference: exampleIds.payment,
  status: "canceled" as const,
  canceled_at: exampleTimes.paid,
  reason: "The customer changed their mind",
};

/** The data of payment.succeeded. Other events have no `paid_at`; those of a pending payment have the instructions. */
export const examplePaymentEventData = {
  reference: exampleIds.payment,
  status: "succeeded" as const,
  ...amounts,
  payment_method: "qris" as const,
  reference_id: "order-1042",
  gateway_code: "nusantara",
  paid_at: exampleTimes.paid,
  metadata: exampleMetadata,
};
