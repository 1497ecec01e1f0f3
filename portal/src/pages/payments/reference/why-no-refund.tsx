// Why nothing of a payment can be refunded now, although a part of it was neither given back nor contested.
import type { Schema } from "../../../api/types.ts";

interface Props {
  of: Pick<
    Schema<"PaymentWhole">,
    "refundable_minor" | "contestable_minor" | "gateway_code" | "payment_method" | "currency"
  >;
  /** Whose wallet it is: "your", or "the merchant's". */
  whose: string;
}

export function WhyNoRefund({ of: payment, whose }: Props) {
  if (payment.refundable_minor > 0 || payment.contestable_minor === 0) return null;
  const method = payment.payment_method.replaceAll("_", " ");
  return (
    <span className="text-muted">
      {" "}
      (no refund now: {whose} {payment.currency} wallet is frozen or switched off, or {payment.gateway_code} gives no
      payment by {method} back)
    </span>
  );
}
