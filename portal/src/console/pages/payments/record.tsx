// A payment's record as operators read it: its story, what fraud detection saw, the calls to acquirers, and who did what.
import { useQuery } from "@tanstack/react-query";
import { AtAcquirer } from "../../../pages/payments/reference/at-acquirer.tsx";
import { Story } from "../../../pages/payments/reference/story.tsx";
import { Fact, Facts } from "../../../ui/facts.tsx";
import { To } from "../../../ui/link.tsx";
import { Money } from "../../../ui/money.tsx";
import { Section } from "../../../ui/page.tsx";
import { Status } from "../../../ui/status.tsx";
import { Time } from "../../../ui/time.tsx";
import { type Schema, read } from "../../api/client.ts";
import { at } from "../../paths.ts";
import { Calls, Disagreements } from "./reference/calls.tsx";
import { Hands } from "./reference/hands.tsx";
import { readerOf } from "./reference/reader.tsx";

type Record = Schema<"PaymentRecord">;
type Risk = Schema<"RiskSeen">;

/** A merchant, and which of its two books: nobody decides about real money by mistake. */
export function InBook({ name, environment }: { name: string; environment: string }) {
  return (
    <span data-environment={environment}>
      {name} <span className="text-muted">({environment})</span>
    </span>
  );
}

export function PaymentFacts({ of: { payment, merchant } }: { of: Pick<Record, "payment" | "merchant"> }) {
  const { currency, exponent, customer } = payment;
  const payer = [customer?.name, customer?.email, customer?.phone].filter((part) => part !== undefined).join(", ");
  return (
    <Facts>
      <Fact name="Amount">
        <Money of={payment} />
      </Fact>
      <Fact name="Merchant">
        <InBook name={merchant.name} environment={merchant.environment} />
      </Fact>
      <Fact name="Merchant's reference">
        <span className="break-all">{payment.reference_id}</span>
      </Fact>
      <Fact name="Method">
        {payment.payment_method.replaceAll("_", " ")}
        {payment.gateway_code !== null && <span className="text-muted"> by {payment.gateway_code}</span>}
      </Fact>
      <Fact name="Payer">{payer === "" ? <span className="text-muted">not known</span> : payer}</Fact>
      <Fact name="Created">
        <Time at={payment.created_at} />
      </Fact>
      <Fact name="Refunded">
        <Money of={{ amount_minor: payment.refunded_minor, currency, exponent }} />
      </Fact>
      <Fact name="Payment">
        <To to={at.payment(payment.reference)} className="link font-mono text-xs">
          {payment.reference}
        </To>
      </Fact>
    </Facts>
  );
}

const signs = (text: string): string => text.replaceAll("_", " ");

/** What fraud detection saw: the signs with their points, and the counts with their bounds. */
export function RiskSeen({ of: { score, reasons, facts, bounds, other_payments: others } }: { of: Risk }) {
  const rows = [
    ["Payments of this payer in the hour before", facts.customer_payments, bounds.customer_per_hour],
    ["Payments of the merchant in the minute before", facts.merchant_payments, bounds.merchant_per_minute],
  ] as const;
  return (
    <div className="space-y-3">
      <div className="flex flex-wrap items-baseline gap-x-6 gap-y-2">
        <p>
          <span className="text-2xl font-semibold">{score}</span>{" "}
          <span className="text-muted">
            of 100; review from {bounds.review_at}, refused from {bounds.reject_at}
          </span>
        </p>
        <ul className="flex flex-wrap gap-2">
          {reasons.map(({ sign, points }) => (
            <li key={sign} className="rounded border border-line bg-panel px-2 py-0.5">
              {signs(sign)} <span className="font-medium text-warn">+{points}</span>
            </li>
          ))}
        </ul>
      </div>
      <Facts>
        {rows.map(([name, count, bound]) => (
          <Fact key={name} name={name}>
            {count} <span className="text-muted">of {bound}</span>
          </Fact>
        ))}
      </Facts>
      {others.length > 0 && (
        <div>
          <p className="mb-1 text-xs text-muted">Other payments of the same payer</p>
          <ul className="divide-y divide-line rounded-md border border-line bg-panel">
            {others.map((one) => (
              <li key={one.reference} className="flex min-h-9 flex-wrap items-center gap-x-4 px-4 py-1">
                <To to={at.payment(one.reference)} className="link font-mono text-xs">
                  {one.reference}
                </To>
                <Status status={one.status} />
                <span className="ml-auto">
                  <Time at={one.created_at} shape="minute" />
                </span>
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}

function AtItsAcquirer({ reference }: { reference: string }) {
  return <AtAcquirer of={useQuery(read("/v1/payments/{reference}/acquirer", { path: { reference } }))} />;
}

/** What happened, in time, and what only operators see of it. */
export function RecordView({ of: record }: { of: Record }) {
  return (
    <>
      <Disagreements of={record.exceptions} />
      <Section title="What happened">
        <Story of={record} reader={readerOf(record)} />
      </Section>
      <Calls of={record} />
      <AtItsAcquirer reference={record.payment.reference} />
      <Hands of={record} />
    </>
  );
}
