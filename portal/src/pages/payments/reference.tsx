// One payment: how it stands, what one can do with it, and its story from the request to the payout.
import { useQuery } from "@tanstack/react-query";
import { usePart } from "../../address.ts";
import { useApi, useCan, usePlace } from "../../api/place.ts";
import type { Schema } from "../../api/types.ts";
import { paths } from "../../paths.ts";
import { Answer } from "../../ui/answer.tsx";
import { FromBookNow } from "../../ui/book-time.tsx";
import { Code } from "../../ui/code.tsx";
import { Copy, Identity } from "../../ui/copy.tsx";
import { Fact, Facts } from "../../ui/facts.tsx";
import { To } from "../../ui/link.tsx";
import { Money } from "../../ui/money.tsx";
import { Page as Frame, Section } from "../../ui/page.tsx";
import { Status } from "../../ui/status.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { Day, Time } from "../../ui/time.tsx";
import { AtAcquirer } from "./reference/at-acquirer.tsx";
import { PaymentActions } from "./reference/actions.tsx";
import { useMemberReader } from "./reference/reader.ts";
import { Story } from "./reference/story.tsx";
import { AfterFee, Fee } from "./reference/fee.tsx";
import { WhyNoRefund } from "./reference/why-no-refund.tsx";
import { WhenPaid } from "./reference/when-paid.tsx";

type Payment = Schema<"PaymentWhole">;

export function Page() {
  const place = usePlace();
  const api = useApi();
  const reference = usePart("reference");
  const reader = useMemberReader();
  const story = useQuery(api.read("/v1/payments/{reference}/story", { path: { reference } }));
  const atAcquirer = useQuery(api.read("/v1/payments/{reference}/acquirer", { path: { reference } }));
  return (
    <Frame
      title="Payment"
      above={{ to: paths.payments(place), label: "Payments" }}
      beside={
        <>
          {story.data && <Status status={story.data.payment.status} />}
          <Identity id={reference} what="the payment's reference" />
        </>
      }
      actions={story.data && <PaymentActions of={story.data.payment} />}
      curl={{ path: `/v1/payments/${reference}` }}
    >
      <Answer of={story}>
        {(story) => (
          <>
            <PaymentFacts of={story.payment} isContested={story.steps.some(runsNow)} />
            <Tabs
              label="Views of the payment"
              tabs={{
                story: {
                  label: "What happened",
                  content: () => (
                    <>
                      <Story of={story} reader={reader} />
                      <AtAcquirer of={atAcquirer} />
                    </>
                  ),
                },
                raw: {
                  label: "As the API tells it",
                  content: () => (
                    <Section title="The payment and what was given with it">
                      <Code value={story.payment} what="the payment" />
                    </Section>
                  ),
                },
              }}
            />
          </>
        )}
      </Answer>
    </Frame>
  );
}

const runsNow = (step: Schema<"StoryStep">): boolean => step.kind === "disputed" && step.object.outcome === null;

function PaymentFacts({ of: payment, isContested }: { of: Payment; isContested: boolean }) {
  const { currency, exponent, settlement } = payment;
  const place = usePlace();
  const batch = useCan()("settlements:read") && payment.settlement_uuid;
  const money = (amount: number) => <Money of={{ amount_minor: amount, currency, exponent }} />;
  return (
    <Facts>
      <Fact name="Amount">{money(payment.amount_minor)}</Fact>
      <Fact name="Your reference">
        <span className="inline-flex items-center gap-1">
          <span className="break-all">{payment.reference_id}</span>
          <Copy text={payment.reference_id} what="your reference" />
        </span>
      </Fact>
      <Fact name="Fee">
        <Fee of={payment} />
      </Fact>
      <Fact name="Method">
        {payment.payment_method.replaceAll("_", " ")}
        {payment.gateway_code !== null && <span className="text-muted"> by {payment.gateway_code}</span>}
      </Fact>
      <Fact name="Yours after fee">
        <AfterFee of={payment} />
      </Fact>
      <Fact name="Created">
        <Time at={payment.created_at} />
      </Fact>
      <Fact name="Refunded">
        {money(payment.refunded_minor)}
        {isContested && payment.refundable_minor === 0 && (
          <span className="text-muted"> (no refund while it is contested)</span>
        )}
        <WhyNoRefund of={payment} whose="your" />
      </Fact>
      <WhenPaid of={payment}>
        {payment.expires_at !== undefined && <FromBookNow at={payment.expires_at} ticking instead={null} />}
      </WhenPaid>
      {settlement && (
        <Fact name="Paid out to you">
          {settlement.status === "paid" ? "on " : ""}
          {settlement.estimated_date === null ? (
            `no date yet: held back by ${isContested ? "the dispute" : "a dispute, a refund, the smallest payout or a frozen wallet"}`
          ) : batch ? (
            <To to={paths.settlement(place, batch)} className="link">
              <Day on={settlement.estimated_date} />
            </To>
          ) : (
            <Day on={settlement.estimated_date} />
          )}
          {settlement.status !== "paid" && settlement.estimated_date !== null && (
            <span className="text-muted"> ({settlement.status}, estimated)</span>
          )}
        </Fact>
      )}
      {payment.payment_link !== undefined && (
        <Fact name="Came by">
          <To to={paths.link(place, payment.payment_link)}>a payment link</To>
        </Fact>
      )}
      {payment.customer?.email !== undefined && <Fact name="Payer">{payment.customer.email}</Fact>}
    </Facts>
  );
}
