// Creates one of every object that the pages show, by a merchant's own requests and the sandbox's simulations.
import { paymentBody } from "../../../gateway/test/kit.ts";
import type { Client } from "../../kit/client.ts";

export interface Things {
  /** The `client_id` of the key that made the others. */
  key: string;
  payment: string;
  /** A payment that waits for its payer. */
  pending: string;
  link: string;
  refund: string;
  dispute: string;
  settlement: string;
  journal: string;
  event: string;
  request: string;
  idempotencyKey: string;
}

/** A paid payment of IDR 1,000.00, beside another whose money is there for a refund of the whole. */
export async function paidPayment(client: Client): Promise<string> {
  const [reference = ""] = await Promise.all(
    [100_000, 900_000].map(async (amount_minor) => {
      const { json } = await client.post("/v1/payments", paymentBody({ amount_minor }));
      await client.post(`/v1/sandbox/payments/${json.reference}/simulate`, { outcome: "succeeded" });
      return json.reference as string;
    }),
  );
  return reference;
}

export async function oneOfEverything(client: Client): Promise<Things> {
  const post = async (path: string, body: unknown = {}, key?: string) => {
    const answer = await client.post(path, body, key === undefined ? {} : { key });
    if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`);
    return answer;
  };
  const idempotencyKey = "order-2026-0001";
  const created = await post("/v1/payments", paymentBody({ amount_minor: 15_000_000 }), idempotencyKey);
  const [contested, paid, pending] = await Promise.all(
    [25_000_000, 5_000_000, 1_000_000].map(
      async (amount_minor) => (await post("/v1/payments", paymentBody({ amount_minor }))).json.reference as string,
    ),
  );
  const payment = created.json.reference as string;
  // One after the other: which of them go into the batch depends on the order, since the dispute and its fee leave too little for all.
  for (const reference of [payment, contested, paid])
    await post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  const dispute = await post(`/v1/sandbox/payments/${contested}/dispute`, { reason: "general" });
  const refund = await post("/v1/refunds", { payment_reference: payment, amount_minor: 5_000_000 });
  const settled = await post("/v1/sandbox/settlements/run");
  const link = await post("/v1/payment-links", { amount_minor: 500_000, currency: "IDR", reusable: true });
  const [entries, events] = await Promise.all([client.get("/v1/balances/IDR/entries"), client.get("/v1/events")]);
  return {
    key: client.credentials.client_id,
    payment,
    pending: pending ?? "",
    link: link.json.uuid as string,
    refund: refund.json.uuid as string,
    dispute: dispute.json.uuid as string,
    settlement: settled.json.data[0].uuid as string,
    journal: entries.json.data[0].journal as string,
    event: events.json.data[0].id as string,
    request: created.headers.get("x-request-id") ?? "",
    idempotencyKey,
  };
}
