// One refund: whose, how much, why, and how its acquirer was asked for it.
import { useQuery } from "@tanstack/react-query";
import { usePart } from "../../../address.ts";
import { Answer } from "../../../ui/answer.tsx";
import { Code } from "../../../ui/code.tsx";
import { Identity } from "../../../ui/copy.tsx";
import { Fact, Facts } from "../../../ui/facts.tsx";
import { To } from "../../../ui/link.tsx";
import { Money } from "../../../ui/money.tsx";
import { Page as Frame, Section } from "../../../ui/page.tsx";
import { Status } from "../../../ui/status.tsx";
import { Time, TimeFromNow } from "../../../ui/time.tsx";
import { type Schema, read } from "../../api/client.ts";
import { pageOf } from "../../found.ts";
import { at } from "../../paths.ts";
import { RefundOutcome } from "../decisions/outcome.tsx";

type Refund = Schema<"AnyRefund">;

const sentences: Record<Refund["status"], string> = {
  pending:
    "The money is on its way: it has left the merchant's available balance, and the acquirer has not confirmed yet that it arrived.",
  succeeded:
    "The acquirer has sent the money back to the payer. It may take a few more days to appear at the payer's bank or card.",
  failed: "The acquirer could not return the money. It is in the merchant's available balance again.",
};

export function Page() {
  const uuid = usePart("uuid");
  const refund = useQuery(read("/v1/refunds/{uuid}", { path: { uuid } }));
  return (
    <Frame
      title="Refund"
      above={{ to: at.refunds(), label: "Refunds" }}
      beside={
        <>
          {refund.data && <Status status={refund.data.status} />}
          <Identity id={uuid} what="the refund's identity" />
        </>
      }
      curl={{ path: `/v1/refunds/${uuid}` }}
    >
      <Answer of={refund}>
        {(refund) => (
          <>
            <p className="max-w-2xl">{sentences[refund.status]}</p>
            <RefundFacts of={refund} />
            {refund.operation && <Calls of={refund.operation} code={refund.gateway_code} />}
            {refund.operation && refund.status === "pending" && <RefundOutcome uuid={uuid} />}
            <Section title="As the API tells it">
              <Code value={refund} what="the refund" />
            </Section>
          </>
        )}
      </Answer>
    </Frame>
  );
}

function RefundFacts({ of: refund }: { of: Refund }) {
  const merchant = pageOf({ kind: "merchant", id: refund.merchant_id });
  return (
    <Facts>
      <Fact name="Amount">
        <Money of={refund} />
      </Fact>
      <Fact name="Payment">
        <To to={at.payment(refund.payment_reference)} className="link font-mono text-xs wrap-anywhere">
          {refund.payment_reference}
        </To>
      </Fact>
      <Fact name="Merchant">
        {merchant === undefined ? (
          <Identity id={refund.merchant_id} what="the merchant" />
        ) : (
          <To to={merchant} className="link font-mono text-xs wrap-anywhere">
            {refund.merchant_id}
          </To>
        )}
      </Fact>
      <Fact name="Environment">
        <span data-environment={refund.environment}>{refund.environment}</span>
      </Fact>
      <Fact name="Acquirer">{refund.gateway_code}</Fact>
      <Fact name="Created">
        <Time at={refund.created_at} />
      </Fact>
      <Fact name="Reason">
        {refund.reason === null ? (
          <span className="text-muted">none was given</span>
        ) : (
          <span className="wrap-anywhere">{refund.reason}</span>
        )}
      </Fact>
      <Fact name="Completed">{refund.completed_at === null ? "not yet" : <Time at={refund.completed_at} />}</Fact>
    </Facts>
  );
}

const meanings: Record<Schema<"AcquirerOperation">["step"], string> = {
  planned: "The call has not been made yet.",
  calling: "The call is under way.",
  inquiring: "The outcome of the call is unknown; the service is asking the acquirer for it.",
  retryable: "It certainly did not happen; the next try continues from here.",
  polling: "It is open at the acquirer; the service asks about it from time to time.",
  done: "Nothing more to do.",
};

function Calls({ of: call, code }: { of: Schema<"AcquirerOperation">; code: string }) {
  return (
    <Section title={`How ${code} was asked`}>
      <p className="mb-2 text-muted">{meanings[call.step]}</p>
      <Facts>
        <Fact name="Step">
          <Status status={call.step} />
        </Fact>
        <Fact name="Calls">
          {call.attempt}
          {call.refusals > 0 && <span className="text-muted">, {call.refusals} refused</span>}
        </Fact>
        <Fact name="Our name for the call">
          {call.operation_key === null ? (
            <span className="text-muted">not called yet</span>
          ) : (
            <Identity id={call.operation_key} what="the operation key" />
          )}
        </Fact>
        <Fact name="Looked at again">
          {call.next_at === null ? <span className="text-muted">never</span> : <TimeFromNow at={call.next_at} />}
        </Fact>
      </Facts>
    </Section>
  );
}
