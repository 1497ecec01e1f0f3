// An operator as the reader of a payment's story: who made each request, and what fraud detection saw.
import type { Reader } from "../../../../pages/payments/reference/reader.ts";
import type { Schema } from "../../../api/client.ts";
import { pageOf } from "../../../found.ts";
import { Risk } from "./risk.tsx";

export function readerOf({ merchant, risk, payment, audit, people }: Schema<"PaymentRecord">): Reader {
  const page = (kind: string) => (id: string) => pageOf({ kind, id, merchant });
  const makers = new Map<string, string>();
  for (const { request_id: id, name } of people) if (name !== null) makers.set(id, `${name} of ${merchant.name}`);
  for (const { request_id: id, actor } of audit) if (actor !== null) makers.set(id, actor);
  return {
    owner: "the merchant's",
    payee: merchant.name,
    journal: page("journal"),
    event: page("event"),
    deliveries: page("event"),
    refund: page("refund"),
    dispute: page("dispute"),
    settlement: page("settlement"),
    request: page("request"),
    maker: (request) => makers.get(request),
    more: (step) => (step.kind === "judged" ? <Risk of={risk} exponent={payment.exponent} /> : undefined),
  };
}
