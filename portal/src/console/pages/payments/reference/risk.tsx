// What fraud detection saw of a payment: the signs with their points, the counts against their bounds, and what else the payer paid.
import { To } from "../../../../ui/link.tsx";
import { Money } from "../../../../ui/money.tsx";
import { Status } from "../../../../ui/status.tsx";
import { Time } from "../../../../ui/time.tsx";
import type { Schema } from "../../../api/client.ts";
import { at } from "../../../paths.ts";

type Seen = Schema<"RiskSeen">;

/** Below the step that says how it was judged. `exponent`: of the payment's currency. */
export function Risk({ of: seen, exponent }: { of: Seen; exponent: number }) {
  const { reasons, facts, bounds, other_payments: others } = seen;
  return (
    <div className="space-y-1">
      {reasons.length === 0 ? (
        <p className="text-muted">No signs of risk.</p>
      ) : (
        <ul aria-label="Signs of risk" className="flex flex-wrap gap-1.5 text-xs">
          {reasons.map(({ sign, points }) => (
            <li key={sign} className="rounded border border-line px-1.5">
              {sign.replaceAll("_", " ")} <span className="text-muted">+{points}</span>
            </li>
          ))}
        </ul>
      )}
      <details>
        <summary className="inline-flex min-h-6 items-center text-muted hover:text-ink">How it was judged</summary>
        <ul aria-label="How it was judged" className="space-y-0.5 text-muted">
          <li>
            {facts.customer_payments} of the same payer in the hour before; {bounds.customer_per_hour} are a sign
          </li>
          <li>
            {facts.merchant_payments} of the merchant in the minute before; {bounds.merchant_per_minute} are a sign
          </li>
          <li>
            <Money of={{ ...facts, exponent }} />;{" "}
            {bounds.large_amount_minor === null ? (
              "no amount counts as large in this currency"
            ) : (
              <>
                <Money of={{ amount_minor: bounds.large_amount_minor, currency: facts.currency, exponent }} /> is a sign
              </>
            )}
          </li>
          <li>
            From {bounds.review_at} points a person reviews it; from {bounds.reject_at} it is refused
          </li>
        </ul>
      </details>
      {others.length > 0 && (
        <details>
          <summary className="inline-flex min-h-6 items-center text-muted hover:text-ink">
            {others.length} other {others.length === 1 ? "payment" : "payments"} of the same payer
          </summary>
          <ul aria-label="Other payments of the same payer" className="space-y-0.5">
            {others.map((one) => (
              <li key={one.reference} className="flex flex-wrap items-baseline gap-x-3">
                <To to={at.payment(one.reference)} className="link font-mono text-xs">
                  {one.reference}
                </To>
                <Status status={one.status} />
                {/* Of another currency the answer does not say how many decimals it has. */}
                {one.currency === facts.currency && <Money of={{ ...one, exponent }} />}
                <span className="text-xs text-muted">
                  <Time at={one.created_at} shape="minute" />
                </span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}
