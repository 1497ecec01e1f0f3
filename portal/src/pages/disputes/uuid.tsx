// One dispute: how long there is to answer, what is asked, what is submitted, and what was decided.
import { useQuery } from "@tanstack/react-query";
import { usePart } from "../../address.ts";
import { useApi, useCan, usePlace } from "../../api/place.ts";
import type { Schema } from "../../api/types.ts";
import { paths } from "../../paths.ts";
import { Answer } from "../../ui/answer.tsx";
import { Identity } from "../../ui/copy.tsx";
import { Fact, Facts } from "../../ui/facts.tsx";
import { To } from "../../ui/link.tsx";
import { Money } from "../../ui/money.tsx";
import { Page as Frame, Section } from "../../ui/page.tsx";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { Deducted } from "../settlements/in-batch.tsx";
import { Decide } from "./uuid/decide.tsx";
import { Gather } from "./uuid/gather.tsx";
import { Given } from "./uuid/given.tsx";
import { DisputeState } from "./uuid/state.tsx";

export function Page() {
  const place = usePlace();
  const api = useApi();
  const uuid = usePart("uuid");
  const dispute = useQuery(api.read("/v1/disputes/{uuid}", { path: { uuid } }));
  const evidence = useQuery(api.read("/v1/disputes/{uuid}/evidence", { path: { uuid } }));
  return (
    <Frame
      title="Dispute"
      above={{ to: paths.disputes(place), label: "Disputes" }}
      beside={
        <>
          {dispute.data && <Status status={dispute.data.status} />}
          <Identity id={uuid} what="the dispute's identity" />
        </>
      }
      curl={{ path: `/v1/disputes/${uuid}` }}
    >
      <Answer of={dispute}>
        {(dispute) => (
          <Answer of={evidence}>
            {(kept) => <Whole dispute={dispute} evidence={kept} receivedAt={evidence.dataUpdatedAt} />}
          </Answer>
        )}
      </Answer>
    </Frame>
  );
}

interface Props {
  dispute: Schema<"Dispute">;
  evidence: Schema<"GatheredEvidence">;
  receivedAt: number;
}

function Whole({ dispute, evidence, receivedAt }: Props) {
  const place = usePlace();
  const can = useCan();
  const runs = dispute.outcome === null;
  return (
    <>
      <DisputeState dispute={dispute} evidence={evidence} receivedAt={receivedAt} />
      <Facts>
        <Fact name="Contested">
          <Money of={dispute} />
        </Fact>
        <Fact name="Reason">{dispute.reason.replaceAll("_", " ")}</Fact>
        <Fact name="Your reference">
          <span className="break-all">{dispute.reference_id}</span>
        </Fact>
        <Fact name="Payment">
          <To to={paths.payment(place, dispute.payment_reference)} className="link font-mono text-xs">
            {dispute.payment_reference}
          </To>
        </Fact>
        <Fact name="Opened">
          <Time at={dispute.opened_at} />
        </Fact>
        <Fact name="Answer by">
          <Time at={dispute.evidence_due_at} />
        </Fact>
        <Fact name="Decided">{dispute.resolved_at === null ? "not yet" : <Time at={dispute.resolved_at} />}</Fact>
        {dispute.status === "lost" && <Deducted in={dispute.settlement_uuid} />}
      </Facts>
      {runs && (
        <Section title="What the payer says">
          <div className="rounded-md border border-line bg-panel px-4 py-3">
            <p>{evidence.asked.claim}</p>
            {evidence.can_change && (
              <>
                <p className="mt-2 text-muted">What helps most:</p>
                <ol className="ml-5 list-decimal text-muted">
                  {evidence.asked.helpful.map((one) => (
                    <li key={one}>{one}</li>
                  ))}
                </ol>
              </>
            )}
          </div>
        </Section>
      )}
      {evidence.can_change && can("disputes:write") ? <Gather evidence={evidence} /> : <Given evidence={evidence} />}
      {runs && place.environment === "sandbox" && can("sandbox:write") && <Decide uuid={dispute.uuid} />}
    </>
  );
}
