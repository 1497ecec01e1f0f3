// One payment of any merchant: how it stands, its story with what only operators see, and refunding it for its merchant.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { usePart } from "../../../address.ts";
import { Answer } from "../../../ui/answer.tsx";
import { Button } from "../../../ui/button.tsx";
import { Code } from "../../../ui/code.tsx";
import { Copy, Identity } from "../../../ui/copy.tsx";
import { Fact, Facts } from "../../../ui/facts.tsx";
import { To } from "../../../ui/link.tsx";
import { Money } from "../../../ui/money.tsx";
import { Page as Frame, Section } from "../../../ui/page.tsx";
import { Status } from "../../../ui/status.tsx";
import { Tabs } from "../../../ui/tabs.tsx";
import { Day, Time } from "../../../ui/time.tsx";
import { type Schema, read } from "../../api/client.ts";
import { useMay } from "../../api/rights.ts";
import { pageOf } from "../../found.ts";
import { at } from "../../paths.ts";
import { PaymentOutcome } from "../decisions/outcome.tsx";
import { RecordView } from "./record.tsx";
import { Contest } from "./reference/contest.tsx";
import { Refund } from "./reference/refund.tsx";
import { AfterFee, Fee } from "../../../pages/payments/reference/fee.tsx";
import { WhyNoRefund } from "../../../pages/payments/reference/why-no-refund.tsx";
import { WhenPaid } from "../../../pages/payments/reference/when-paid.tsx";

type Record = Schema<"PaymentRecord">;

/** Whether its acquirer is asked about it and leaves it open: it is processing, or over or paid and in doubt. */
function isLeftOpen({ payment: { reference, status }, operations }: Record): boolean {
  return operations.some(
    ({ object, step }) =>
      object === reference && (status === "processing" || (status !== "pending" && step === "inquiring")),
  );
}

export function Page() {
  const reference = usePart("reference");
  const isAdmin = useMay()("admin");
  const record = useQuery(read("/v1/payments/{reference}", { path: { reference } }));
  const [doing, setDoing] = useState<"refund" | "contest" | undefined>(undefined);
  const { refundable_minor: refundable = 0, contestable_minor: contestable = 0 } = record.data?.payment ?? {};
  return (
    <Frame
      title="Payment"
      above={{ to: at.payments(), label: "Payments" }}
      beside={
        <>
          {record.data && <Status status={record.data.payment.status} />}
          <Identity id={reference} what="the payment's reference" />
        </>
      }
      actions={
        isAdmin && (
          <>
            {contestable > 0 && <Button onClick={() => setDoing("contest")}>Record a dispute…</Button>}
            {refundable > 0 && <Button onClick={() => setDoing("refund")}>Refund…</Button>}
          </>
        )
      }
      curl={{ path: `/v1/payments/${reference}` }}
    >
      <Answer of={record}>
        {(record) => (
          <>
            <Unapplied of={record} />
            <PaymentFacts of={record} />
            {isLeftOpen(record) && <PaymentOutcome of={record.payment} />}
            <Tabs
              label="Views of the payment"
              tabs={{
                story: { label: "Record", content: () => <RecordView of={record} /> },
                raw: {
                  label: "As the API tells it",
                  content: () => (
                    <Section title="The payment and all that is known of it">
                      <Code value={record} what="the payment" />
                    </Section>
                  ),
                },
              }}
            />
            {doing === "refund" && <Refund of={record} close={() => setDoing(undefined)} />}
            {doing === "contest" && <Contest of={record} close={() => setDoing(undefined)} />}
          </>
        )}
      </Answer>
    </Frame>
  );
}

/** Above the facts, which say of a payment that is over that nothing of it is the merchant's. */
function Unapplied({ of: { steps } }: { of: Record }) {
  const received = steps.flatMap((step) =>
    step.kind === "received" && step.object.status === "unapplied" ? [step.object] : [],
  );
  return received.map((money) => (
    <p key={money.uuid} role="status" className="mb-3 rounded border border-warn/50 px-3 py-2">
      <strong className="font-medium text-warn">
        <Money of={money} /> arrived that this payment did not expect.
      </strong>{" "}
      It is not in the merchant&apos;s balance until you <To to={at.receipt(money.uuid)}>decide whose it is</To>.
    </p>
  ));
}

function PaymentFacts({ of: { payment, merchant } }: { of: Record }) {
  const { currency, exponent, settlement, customer } = payment;
  const page = pageOf({ kind: "merchant", id: merchant.merchant_id });
  const money = (amount: number) => <Money of={{ amount_minor: amount, currency, exponent }} />;
  const payer = [customer?.name, customer?.email, customer?.phone].filter((part) => part !== undefined).join(", ");
  return (
    <Facts>
      <Fact name="Amount">{money(payment.amount_minor)}</Fact>
      <Fact name="Merchant">
        <span className="inline-flex flex-wrap items-center justify-end gap-x-2">
          {merchant.suspended && <Status status="suspended" tone="bad" />}
          {page === undefined ? (
            <span className="wrap-anywhere">{merchant.name}</span>
          ) : (
            <To to={page}>{merchant.name}</To>
          )}
          <Copy text={merchant.merchant_id} what="the merchant's identity" />
        </span>
      </Fact>
      <Fact name="Fee">
        <Fee of={payment} />
      </Fact>
      <Fact name="Environment">
        <span data-environment={merchant.environment}>{merchant.environment}</span>
      </Fact>
      <Fact name="The merchant's after fee">
        <AfterFee of={payment} />
      </Fact>
      <Fact name="Merchant's reference">
        <span className="inline-flex items-center gap-1">
          <span className="break-all">{payment.reference_id}</span>
          <Copy text={payment.reference_id} what="the merchant's reference" />
        </span>
      </Fact>
      <Fact name="Refunded">
        {money(payment.refunded_minor)}
        <WhyNoRefund of={payment} whose="the merchant's" />
      </Fact>
      <Fact name="Method">
        {payment.payment_method.replaceAll("_", " ")}
        {payment.gateway_code !== null && <span className="text-muted"> by {payment.gateway_code}</span>}
      </Fact>
      <Fact name="Payer">
        {payer === "" ? <span className="text-muted">not known</span> : <span className="wrap-anywhere">{payer}</span>}
      </Fact>
      <Fact name="Created">
        <Time at={payment.created_at} />
      </Fact>
      {settlement && (
        <Fact name="Paid out to the merchant">
          {settlement.status === "paid" ? "on " : ""}
          {settlement.estimated_date === null ? (
            "no date yet: held back by a dispute, a refund, the smallest payout or a frozen wallet"
          ) : (
            <Day on={settlement.estimated_date} />
          )}
          {settlement.status !== "paid" && settlement.estimated_date !== null && (
            <span className="text-muted"> ({settlement.status}, estimated)</span>
          )}
        </Fact>
      )}
      <WhenPaid of={payment} />
    </Facts>
  );
}
