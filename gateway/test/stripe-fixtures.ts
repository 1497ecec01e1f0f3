// Example objects of Stripe's documentation (fixtures3.json of stripe/openapi, read on 2026-11-23), shortened to what concerns payments here,
// for tests alone.

type Json = Record<string, unknown>;

/** A Checkout Session that waits for its payer. */
export function checkoutSession<Change extends Json>(change: Change) {
  return {
    id: "cs_test_a1YS1URlnyQCN5fUUduORoQ7Pw41PJqDWkIVQCpJPqkfIhd6tVY8XB1OLY",
    object: "checkout.session",
    after_expiration: null,
    allow_promotion_codes: null,
    amount_subtotal: 150_050,
    automatic_tax: { enabled: false, liability: null, status: null, provider: null },
    cancel_url: "https://example.com/cancel",
    client_reference_id: null,
    created: 1_234_567_890,
    currency_conversion: null,
    customer_details: null,
    expires_at: 1_234_567_890,
    livemode: false,
    mode: "payment",
    payment_intent: null,
    payment_method_types: ["card"],
    payment_status: "unpaid",
    status: "open",
    success_url: "https://example.com/success",
    total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: 0 },
    ui_mode: "hosted_page",
    url: "https://checkout.stripe.com/pay/c/cs_test_a1YS1URlnyQCN5fUUduORoQ7Pw41PJqDWkIVQCpJPqkfIhd6tVY8XB1OLY",
    ...change,
  };
}

interface Intent {
  status?: string;
  amount_received?: number;
  /** The currency in which the fee is booked; undefined while the fee is not booked. */
  feeCurrency?: string | undefined;
}

/** A PaymentIntent with its charge, as `PAGE_QUERY` asks for it. */
export function paidIntent({ status = "succeeded", amount_received = 150_050, ...fee }: Intent): Json {
  const feeCurrency = "feeCurrency" in fee ? fee.feeCurrency : "idr";
  const booked =
    feeCurrency === undefined
      ? null
      : { id: "txn_1", object: "balance_transaction", fee: 4_401, currency: feeCurrency };
  return {
    id: "pi_1",
    object: "payment_intent",
    amount: 150_050,
    amount_received,
    currency: "idr",
    status,
    latest_charge: { id: "ch_1", object: "charge", amount: 150_050, balance_transaction: booked },
  };
}

export function refund<Change extends Json>(change: Change) {
  return {
    id: "re_1Pgc72B7WZ01zgkWqPvrRrPE",
    object: "refund",
    balance_transaction: null,
    charge: "ch_1PgafuB7WZ01zgkWXYmPNZs8",
    created: 1_234_567_890,
    destination_details: { card: { type: "reversal" }, type: "card" },
    reason: null,
    status: "succeeded",
    ...change,
  };
}

export function dispute<Change extends Json>(change: Change) {
  return {
    id: "dp_1Pgc71B7WZ01zgkWMevJiAUx",
    object: "dispute",
    balance_transactions: [],
    charge: "ch_1PgafuB7WZ01zgkWXYmPNZs8",
    created: 1_234_567_890,
    evidence_details: { due_by: 1_723_679_999, has_evidence: false, past_due: false, submission_count: 0 },
    is_charge_refundable: true,
    livemode: false,
    metadata: {},
    reason: "general",
    ...change,
  };
}
