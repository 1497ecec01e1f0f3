// A dispute to decide: what the merchant says to it, and what each outcome would do to the book.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useGo, usePart } from "../../../address.ts";
import { Answer } from "../../../ui/answer.tsx";
import { Button } from "../../../ui/button.tsx";
import { Identity } from "../../../ui/copy.tsx";
import { save } from "../../../ui/download.ts";
import { Fact, Facts } from "../../../ui/facts.tsx";
import { Money } from "../../../ui/money.tsx";
import { Page as Frame, Section } from "../../../ui/page.tsx";
import { Status } from "../../../ui/status.tsx";
import { Time } from "../../../ui/time.tsx";
import { type Schema, download, read, write } from "../../api/client.ts";
import { useMay } from "../../api/rights.ts";
import { at } from "../../paths.ts";
import { Decision, askedIn } from "../decisions/decide.tsx";
import { BookNow } from "../decisions/effects.tsx";
import { PaymentFacts, RecordView } from "../payments/record.tsx";
import { Due } from "./due.tsx";
import { AnswerFor, MoreTime } from "./dispute-forms.tsx";

type Dispute = Schema<"DisputeRecord">;
type Outcome = Schema<"DisputeOutcome">;

export function Page() {
  const [id, environment, uuid] = [usePart("merchant"), usePart("environment") as "sandbox", usePart("uuid")];
  const path = { id, environment, uuid };
  const dispute = useQuery(read("/v1/merchants/{id}/books/{environment}/disputes/{uuid}", { path }));
  return (
    <Frame
      title="Dispute"
      above={{ to: at.waiting(), label: "Waiting" }}
      beside={
        <>
          {dispute.data && <Status status={dispute.data.dispute.status} />}
          <Identity id={uuid} what="the dispute's identity" />
        </>
      }
      curl={{ path: `/v1/merchants/${id}/books/${environment}/disputes/${uuid}` }}
    >
      <Answer of={dispute}>{(record) => <Whole of={record} />}</Answer>
    </Frame>
  );
}

const verbs: Record<Outcome, string> = {
  won: "Decide for the merchant",
  lost: "Decide for the payer",
  withdrawn: "Record that the payer withdrew",
};

function Whole({ of: { dispute, merchant_id: id, evidence, record, book, decisions } }: { of: Dispute }) {
  const go = useGo();
  const { uuid, environment } = dispute;
  const path = { id, environment, uuid };
  const runs = dispute.outcome === null;
  const may = useMay();
  const [doing, setDoing] = useState<"time" | "answer" | undefined>(undefined);
  const close = (): void => setDoing(undefined);
  return (
    <>
      <Facts>
        <Fact name="Contested">
          <Money of={dispute} />
        </Fact>
        <Fact name="Reason">{dispute.reason.replaceAll("_", " ")}</Fact>
        <Fact name="Opened">
          <Time at={dispute.opened_at} />
        </Fact>
        <Fact name="Evidence due">
          <Due at={dispute.evidence_due_at} environment={environment} />
        </Fact>
      </Facts>
      <Section title="What the merchant says">
        {evidence === null ? (
          <div className="space-y-3">
            <p className="text-muted">Nothing yet.</p>
            {dispute.status === "needs_response" && (
              <div className="flex flex-wrap gap-2">
                {may("admin") && <Button onClick={() => setDoing("time")}>Give it more time…</Button>}
                {may("support") && <Button onClick={() => setDoing("answer")}>Answer for the merchant…</Button>}
              </div>
            )}
          </div>
        ) : (
          <Evidence of={evidence} path={path} />
        )}
      </Section>
      {doing === "time" && <MoreTime path={path} due={dispute.evidence_due_at} close={close} />}
      {doing === "answer" && <AnswerFor path={path} close={close} />}
      {runs && (
        <Section title="How it ended">
          <div className="grid grid-cols-1 items-start gap-4 xl:grid-cols-2">
            {decisions.map((decision) => {
              const { outcome } = decision.body as { outcome: Outcome };
              return (
                <Decision
                  key={outcome}
                  of={decision}
                  verb={verbs[outcome]}
                  look={outcome === "lost" ? "danger" : "plain"}
                  send={() =>
                    write("POST", "/v1/merchants/{id}/books/{environment}/disputes/{uuid}/resolve", {
                      path,
                      body: { outcome },
                    })
                  }
                  done={`The dispute is ${outcome}.`}
                  onDone={async (answer) => {
                    const asked = askedIn(answer);
                    if (asked) await go(at.approval(asked.uuid));
                  }}
                />
              );
            })}
          </div>
        </Section>
      )}
      <Section title="The payment">
        <PaymentFacts of={record} />
      </Section>
      <Section title="The book now">
        <BookNow of={book} />
      </Section>
      <RecordView of={record} />
    </>
  );
}

interface EvidenceProps {
  of: NonNullable<Dispute["evidence"]>;
  path: { id: string; environment: string; uuid: string };
}

function Evidence({ of: evidence, path: { id, environment, uuid } }: EvidenceProps) {
  const files = `/v1/merchants/${id}/books/${environment}/disputes/${uuid}/evidence/files`;
  const fetched = async (number: number): Promise<void> => {
    const saved = await download(`${files}/${number}`);
    save(saved, saved.name);
  };
  const delivery = [evidence.carrier, evidence.tracking_number, evidence.delivered_on].filter((part) => part !== null);
  return (
    <div className="space-y-3 rounded-md border border-line bg-panel px-4 py-3">
      <p className="max-w-3xl whitespace-pre-line wrap-anywhere">{evidence.statement}</p>
      {delivery.length > 0 && <p className="text-muted">Delivered: {delivery.join(", ")}</p>}
      {evidence.files.length > 0 && (
        <ul className="flex flex-wrap gap-2">
          {evidence.files.map((file) => (
            <li key={file.number}>
              <Button onClick={() => fetched(file.number)}>
                {file.name} <span className="text-muted">{Math.ceil(file.size_bytes / 1024)} KiB</span>
              </Button>
            </li>
          ))}
        </ul>
      )}
      <p className="text-xs text-muted">
        Files come from outside, so they are only downloaded, never shown here: open them with care.
      </p>
    </div>
  );
}
