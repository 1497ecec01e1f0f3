// An operator as the reader of a payment's story: where the console shows what it names, and what fraud detection saw.
import type { Reader } from "../../../../pages/payments/reference/reader.ts";
import { To } from "../../../../ui/link.tsx";
import type { Schema } from "../../../api/client.ts";
import { pageOf } from "../../../found.ts";
import { at } from "../../../paths.ts";
import { Risk } from "./risk.tsx";

export function readerOf({ merchant, risk, payment }: Schema<"PaymentRecord">): Reader {
  const page = (kind: string) => (id: string) => pageOf({ kind, id, merchant });
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
    key: page("key"),
    receipt: page("receipt"),
    more: (step) =>
      step.kind === "judged" ? (
        <>
          {step.object.decision === "review" && payment.status === "pending" && payment.gateway_code === null && (
            <p>
              <To to={at.review(payment.reference)}>The review</To>
            </p>
          )}
          <Risk of={risk} exponent={payment.exponent} />
        </>
      ) : undefined,
  };
}
