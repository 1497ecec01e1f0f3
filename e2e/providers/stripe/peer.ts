// Checks the fake of Stripe and the connector against Stripe's own client: that it accepts the fake's answers, that signatures match in both
// directions, and that its requests have the same form. Run by hand; README.md of the connector says how.
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { checkSignature } from "../../../gateway/src/providers/stripe/signature.ts";
import { API_VERSION } from "../../../gateway/src/providers/stripe/requests.ts";
import { type StripeFake, stripeFake } from "./fake.ts";

type Json = Record<string, unknown>;
interface Resource {
  create(params: Json, options?: Json): Promise<Json>;
  retrieve(id: string, params?: Json): Promise<Json>;
  list(params: Json): Promise<{ data: Json[] }>;
  update(id: string, params: Json, options?: Json): Promise<Json>;
  expire(id: string): Promise<Json>;
}
/** The part of Stripe's client that is used here. */
interface Client {
  checkout: { sessions: Resource };
  refunds: Resource;
  disputes: Resource;
  files: Resource;
  balance: { retrieve(): Promise<Json> };
  webhooks: {
    generateTestHeaderString(options: { payload: string; secret: string; timestamp: number }): string;
    constructEvent(payload: string, header: string, secret: string): Json;
  };
}
interface ClientModule {
  default: new (key: string, options: Json) => Client;
}

const KEY = "sk_test_peer";
const SECRET = "whsec_peer";

async function main(file: string): Promise<void> {
  const loaded: ClientModule = await import(pathToFileURL(file).href);
  const fake = await stripeFake({ secretKey: KEY, webhookSecrets: [SECRET] });
  try {
    const { hostname: host, port } = new URL(fake.url);
    const options = { host, port, protocol: "http", telemetry: false, maxNetworkRetries: 0 };
    const client = new loaded.default(KEY, { ...options, apiVersion: API_VERSION });
    signatures(client);
    await calls(client, fake);
  } finally {
    await fake.close();
  }
}

/** The connector accepts signatures by Stripe's client, and that client accepts its own test headers (both HMAC-SHA256 over `t.body`). */
function signatures(client: Client): void {
  const timestamp = Math.floor(Date.now() / 1_000);
  for (const payload of ['{"id":"evt_1"}', '{"note":"é Rp 1.500 ✓"}', "{}"]) {
    const header = client.webhooks.generateTestHeaderString({ payload, secret: SECRET, timestamp });
    checkSignature(header, Buffer.from(payload), [SECRET], timestamp * 1_000_000);
    assert.deepEqual(client.webhooks.constructEvent(payload, header, SECRET), JSON.parse(payload));
  }
  console.log("signatures: each takes the other's");
}

async function calls(client: Client, fake: StripeFake): Promise<void> {
  const order = {
    mode: "payment",
    payment_method_types: ["card"],
    line_items: [
      { quantity: 1, price_data: { currency: "idr", unit_amount: 150_050, product_data: { name: "Toko" } } },
    ],
    metadata: { operation_key: "peer.1" },
    payment_intent_data: { metadata: { operation_key: "peer.1" } },
    success_url: "https://pay.example/pay/1",
  };
  const session = await client.checkout.sessions.create(order, { idempotencyKey: "peer.1" });
  const again = await client.checkout.sessions.create(order, { idempotencyKey: "peer.1" });
  assert.equal(again["id"], session["id"]);
  assert.equal(session["amount_total"], 150_050);
  const other = client.checkout.sessions.create(
    { ...order, mode: "payment", locale: "id" },
    { idempotencyKey: "peer.1" },
  );
  await assert.rejects(other, { type: "StripeIdempotencyError" });
  await assert.rejects(client.checkout.sessions.create({ mode: "payment" }), {
    type: "StripeInvalidRequestError",
    code: "parameter_missing",
  });
  await fake.control.pay("peer.1");
  const paid = await client.checkout.sessions.retrieve(String(session["id"]), {
    expand: ["payment_intent.latest_charge.balance_transaction"],
  });
  const intent = paid["payment_intent"] as Json;
  assert.equal(paid["payment_status"], "paid");
  assert.equal(intent["status"], "succeeded");
  await assert.rejects(client.checkout.sessions.expire(String(session["id"])), { type: "StripeInvalidRequestError" });
  assert.equal((await client.checkout.sessions.list({ limit: 3 })).data[0]?.["id"], session["id"]);
  console.log("pages: ordered once, paid, read and listed");

  const refund = await client.refunds.create(
    { payment_intent: intent["id"], amount: 50_050, metadata: { operation_key: "peer.2" } },
    { idempotencyKey: "peer.2" },
  );
  await fake.control.decideRefund("peer.2", "succeeded");
  assert.equal((await client.refunds.retrieve(String(refund["id"])))["status"], "succeeded");
  assert.equal((await client.refunds.list({ payment_intent: intent["id"] })).data.length, 1);
  await assert.rejects(client.refunds.create({ payment_intent: intent["id"], amount: 200_000 }), {
    type: "StripeInvalidRequestError",
  });
  console.log("refunds: made, decided, listed, refused beyond the payment");

  const file = await client.files.create({
    purpose: "dispute_evidence",
    file: { data: Buffer.from("%PDF-1.7"), name: "receipt.pdf", type: "application/pdf" },
  });
  await fake.control.dispute?.("peer.1", "open");
  const dispute = await client.disputes.retrieve(fake.control.disputeId("peer.1"));
  const updated = await client.disputes.update(String(dispute["id"]), {
    evidence: { uncategorized_text: "It was signed for.", receipt: file["id"] },
    submit: true,
  });
  assert.equal(updated["status"], "under_review");
  assert.equal((await client.balance.retrieve())["livemode"], false);
  console.log("disputes: evidence uploaded and submitted");
}

await main(process.argv[2] ?? "");
