// A payment's record as operators read it: its story, what fraud detection saw, the calls to acquirers, and who did what.
import { useState } from "react";
import { Code } from "../../../ui/code.tsx";
import { Fact, Facts } from "../../../ui/facts.tsx";
import { To } from "../../../ui/link.tsx";
import { type Amount, Money } from "../../../ui/money.tsx";
import { Section } from "../../../ui/page.tsx";
import { Status } from "../../../ui/status.tsx";
import { Time } from "../../../ui/time.tsx";
import type { Schema } from "../../api/client.ts";
import { at } from "../../paths.ts";

export type Record = Schema<"PaymentRecord">;
type Risk = Schema<"RiskSeen">;

export function PaymentFacts({ of: { payment, merchant } }: { of: Pick<Record, "payment" | "merchant"> }) {
  const { currency, exponent, customer } = payment;
  const payer = [customer?.name, customer?.email, customer?.phone].filter((part) => part !== undefined).join(", ");
  return (
    <Facts>
      <Fact name="Amount">
        <Money of={payment} />
      </Fact>
      <Fact name="Merchant">
        {merchant.name} <span className="text-muted">({merchant.environment})</span>
      </Fact>
      <Fact name="Order">
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
            of 100; a person looks from {bounds.review_at}, refused from {bounds.reject_at}
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

export function RecordView({ of: record }: { of: Record }) {
  const { steps, operations, exceptions, audit, people } = record;
  return (
    <>
      <Section title="What happened">
        <ol className="divide-y divide-line rounded-md border border-line bg-panel">
          {steps.map((step, index) => (
            <StepLine key={`${step.kind}-${index}`} step={step} />
          ))}
        </ol>
      </Section>
      {operations.length > 0 && (
        <Section title="Calls to acquirers">
          <ul className="divide-y divide-line rounded-md border border-line bg-panel">
            {operations.map((one) => (
              <li key={one.object} className="flex min-h-9 flex-wrap items-center gap-x-4 px-4 py-1.5">
                <span className="font-medium">{one.gateway_code}</span>
                <Status status={one.step} tone={one.step === "done" ? "good" : "warn"} />
                <span className="text-muted">
                  attempt {one.attempt}, refused {one.refusals}×, asked {one.inquiries}×
                </span>
                {one.operation_key !== null && (
                  <code className="ml-auto min-w-0 font-mono text-xs break-all">{one.operation_key}</code>
                )}
              </li>
            ))}
          </ul>
        </Section>
      )}
      {exceptions.length > 0 && (
        <Section title="Where records disagree">
          <ul className="divide-y divide-line rounded-md border border-line bg-panel">
            {exceptions.map((one) => (
              <li key={one.uuid} className="flex min-h-9 flex-wrap items-center gap-x-4 px-4 py-1.5">
                <To to={at.exception(one.uuid)} className="link">
                  {signs(one.kind)}
                </To>
                <span>{one.gateway_code}</span>
                <Status
                  status={one.closed_at === null ? "open" : "closed"}
                  tone={one.closed_at === null ? "bad" : "calm"}
                />
                {one.note !== null && <span className="text-muted">{one.note}</span>}
              </li>
            ))}
          </ul>
        </Section>
      )}
      {(audit.length > 0 || people.length > 0) && (
        <Section title="Who did what">
          <ul className="divide-y divide-line rounded-md border border-line bg-panel">
            {audit.map((one) => (
              <li key={one.request_id} className="flex min-h-9 flex-wrap items-center gap-x-4 px-4 py-1.5">
                <span className="font-medium">{one.actor ?? "somebody"}</span>
                {one.approved_by !== null && <span>approved by {one.approved_by}</span>}
                <code className="min-w-0 font-mono text-xs break-all">
                  {one.method} {one.path.replace("/ops", "")}
                </code>
                <span className="text-muted">{one.status ?? "no outcome on record"}</span>
                <span className="ml-auto">
                  <Time at={one.at} />
                </span>
              </li>
            ))}
            {people.map((one) => (
              <li key={one.request_id} className="flex min-h-9 flex-wrap items-center gap-x-4 px-4 py-1.5">
                <span className="font-medium">{one.name ?? "somebody"} of the merchant</span>
                <span>{signs(one.action)}</span>
                <span className="ml-auto">
                  <Time at={one.at} />
                </span>
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}

const told: Readonly<globalThis.Record<string, string>> = {
  asked: "Asked for",
  judged: "Judged by fraud detection",
  routed: "Routed",
  called: "An acquirer was called",
  became: "Became",
  instructed: "How to pay was told",
  journalled: "Written into the book",
  told: "Told to the merchant",
  received: "Money came",
  refunded: "Refund",
  disputed: "Dispute",
  answered: "Evidence was handed in",
  settled: "In a payout",
};

/** What steps have in common, where they have it. */
type StepObject = Partial<globalThis.Record<"status" | "gateway_code" | "type" | "kind", unknown>> & Partial<Amount>;

function amountOf({ amount_minor, currency, exponent }: StepObject): Amount | undefined {
  return amount_minor === undefined || currency === undefined || exponent === undefined
    ? undefined
    : { amount_minor, currency, exponent };
}

function StepLine({ step }: { step: Record["steps"][number] }) {
  const [isRaw, setRaw] = useState(false);
  const object = step.object as StepObject;
  const status = typeof object.status === "string" ? object.status : undefined;
  const name = told[step.kind] ?? signs(step.kind);
  return (
    <li className="px-4 py-1.5">
      <div className="flex min-h-7 flex-wrap items-center gap-x-4">
        <span className="font-medium">{name}</span>
        {status !== undefined && <Status status={status} />}
        {amountOf(object) && <Money of={amountOf(object) as Amount} />}
        <span className="text-muted">
          {[object.gateway_code, object.type, object.kind].find((word) => typeof word === "string")}
        </span>
        <span className="text-xs text-muted">
          <Time at={step.at} />
        </span>
        <button
          type="button"
          aria-expanded={isRaw}
          aria-label={`Raw object: ${name}`}
          onClick={() => setRaw(!isRaw)}
          className="ml-auto min-h-6 rounded px-1.5 text-xs text-muted hover:bg-hover hover:text-ink"
        >
          raw
        </button>
      </div>
      {isRaw && <Code value={step.object} what={`the raw object: ${name}`} />}
    </li>
  );
}
