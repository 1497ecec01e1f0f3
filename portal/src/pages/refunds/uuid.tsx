// One refund: how much, of which payment, and what became of it.
import { useQuery } from "@tanstack/react-query";
import { usePart } from "../../address.ts";
import { useApi, usePlace } from "../../api/place.ts";
import type { Schema } from "../../api/types.ts";
import { paths } from "../../paths.ts";
import { Answer } from "../../ui/answer.tsx";
import { Code } from "../../ui/code.tsx";
import { Identity } from "../../ui/copy.tsx";
import { Fact, Facts } from "../../ui/facts.tsx";
import { To } from "../../ui/link.tsx";
import { Money } from "../../ui/money.tsx";
import { Page as Frame, Section } from "../../ui/page.tsx";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { Deducted } from "../settlements/in-batch.tsx";

const sentences: Record<Schema<"Refund">["status"], string> = {
  pending:
    "The money is on its way: it has left your available balance, and the acquirer has not confirmed yet that it arrived.",
  succeeded:
    "The acquirer has sent the money back to the payer. It may take a few more days to appear at the payer's bank or card.",
  failed: "The acquirer could not return the money. It is in your available balance again, and you can refund again.",
};

export function Page() {
  const place = usePlace();
  const api = useApi();
  const uuid = usePart("uuid");
  const refund = useQuery(api.read("/v1/refunds/{uuid}", { path: { uuid } }));
  return (
    <Frame
      title="Refund"
      above={{ to: paths.refunds(place), label: "Refunds" }}
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
            <Facts>
              <Fact name="Amount">
                <Money of={refund} />
              </Fact>
              <Fact name="Your reference">
                <span className="break-all">{refund.reference_id}</span>
              </Fact>
              <Fact name="Payment">
                <To to={paths.payment(place, refund.payment_reference)} className="link font-mono text-xs">
                  {refund.payment_reference}
                </To>
              </Fact>
              <Fact name="Created">
                <Time at={refund.created_at} />
              </Fact>
              <Fact name="Completed">
                {refund.completed_at === null ? "not yet" : <Time at={refund.completed_at} />}
              </Fact>
              {refund.status === "succeeded" && <Deducted in={refund.settlement_uuid} />}
            </Facts>
            <Section title="As the API tells it">
              <Code value={refund} what="the refund" />
            </Section>
          </>
        )}
      </Answer>
    </Frame>
  );
}
