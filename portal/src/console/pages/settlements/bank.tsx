// What the bank said about a batch: each answer with what recording it would do to the book, and a second operator where one is needed.
import { useState } from "react";
import { useAction } from "../../../api/action.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Form, Submit } from "../../../ui/form.tsx";
import { To } from "../../../ui/link.tsx";
import { Section } from "../../../ui/page.tsx";
import { TimeFromNow } from "../../../ui/time.tsx";
import { say } from "../../../ui/toast.tsx";
import { type Schema, write } from "../../api/client.ts";
import { useMay } from "../../api/rights.ts";
import { at } from "../../paths.ts";
import { useBook } from "../merchants/book.tsx";
import { Effects } from "../decisions/effects.tsx";
import { refusalOf } from "../decisions/refusal.ts";
import { BankReference, noReference, paidBy, whenPaid } from "./bank-reference.tsx";

type Record = Schema<"SettlementRecord">;
type Decision = Schema<"DecisionOutlook">;
type Approval = Schema<"Approval">;

interface Answer {
  button: string;
  title: string;
  done: string;
  look: "primary" | "danger";
}

// By the operation that records it.
const answers: { [operation: string]: Answer } = {
  recordSettlementPaid: {
    button: "Paid…",
    title: "Record that the bank paid it",
    done: "The batch is recorded as paid.",
    look: "primary",
  },
  recordSettlementReturned: {
    button: "Returned…",
    title: "Record that the bank returned it",
    done: "The batch is recorded as returned.",
    look: "danger",
  },
};

/** What is left to know of a batch of which the bank has said what there is to say. */
const ended: { [status: string]: string } = {
  paid: "The bank paid it. Money that it gives back after that is not recorded here: send it again, outside the books.",
  failed:
    "The bank returned it. Its money is available again and goes into the next batch: have the account at the bank corrected before that.",
};

export function Bank({ of: { settlement, decisions } }: { of: Record }) {
  const may = useMay();
  const [open, setOpen] = useState<Decision | undefined>(undefined);
  const [asked, setAsked] = useState<Approval | undefined>(undefined);
  const said = ended[settlement.status];
  if (said !== undefined) return <Section title="What the bank said">{said}</Section>;
  const offered = decisions.filter(({ operation }) => operation in answers);
  if (offered.length === 0 && !asked) return null;
  return (
    <Section title="What the bank said">
      {asked && <Waiting of={asked} />}
      <ul className="divide-y divide-line rounded-md border border-line bg-panel">
        {offered.map((decision) => {
          const answer = answers[decision.operation];
          return (
            answer && (
              <li key={decision.operation} className="flex min-h-12 flex-wrap items-center gap-x-4 gap-y-2 px-4 py-2">
                <div className="min-w-0 flex-1 basis-60">
                  <p className="wrap-anywhere">{decision.summary ?? answer.title}</p>
                  {decision.would_fail && <p className="text-muted">{refusalOf(decision.would_fail)}</p>}
                  {!decision.would_fail && decision.needs_approval && (
                    <p className="text-muted">A second operator has to approve it.</p>
                  )}
                </div>
                {may(decision.least_role) && !decision.would_fail && (
                  <Button look={answer.look} label={answer.title} onClick={() => setOpen(decision)}>
                    {answer.button}
                  </Button>
                )}
              </li>
            )
          );
        })}
      </ul>
      {open && (
        <Say
          uuid={settlement.uuid}
          decision={open}
          onAsked={(approval) => setAsked(approval)}
          close={() => setOpen(undefined)}
        />
      )}
    </Section>
  );
}

function Waiting({ of: { uuid, summary, least_role: role, expires_at: ends } }: { of: Approval }) {
  return (
    <div role="status" className="mb-3 rounded border border-warn/50 px-3 py-2">
      <p className="font-medium text-warn">Nothing is recorded yet: a second operator has to approve.</p>
      <p className="mt-0.5">
        {summary}. Another {role} than you approves or refuses it; it is over <TimeFromNow at={ends} />.
      </p>
      <p className="mt-1">
        <To to={at.approval(uuid)} className="link">
          The approval
        </To>
      </p>
    </div>
  );
}

interface SayProps {
  uuid: string;
  decision: Decision;
  onAsked: (approval: Approval) => void;
  close: () => void;
}

function Say({ uuid, decision, onAsked, close }: SayProps) {
  const { id, environment } = useBook();
  const { operation, effects, needs_approval: needsApproval } = decision;
  const answer = answers[operation];
  const isPaid = operation === "recordSettlementPaid";
  const path = { id, environment, uuid };
  const base = "/v1/merchants/{id}/books/{environment}/settlements/{uuid}";
  const action = useAction(
    (body: ReturnType<typeof paidBy>, intent) =>
      isPaid ? write("POST", `${base}/pay`, { path, body }, intent) : write("POST", `${base}/return`, { path }, intent),
    {
      refresh: ["/v1/merchants/{id}/books", "/v1/approvals", "/v1/waiting", "/v1/audit"],
      done: (result) => {
        if ("approval" in result) onAsked(result.approval);
        else say(answer?.done ?? "It is recorded.");
        close();
      },
    },
  );
  return (
    <Dialog open onClose={close} title={answer?.title ?? operation} wide>
      <div className="space-y-4">
        <p className="wrap-anywhere">
          {decision.summary}. {needsApproval ? "It waits for a second operator." : "It cannot be undone here."}
          {isPaid && ` ${whenPaid}`}
        </p>
        <Effects of={effects} />
        <Form values={noReference} action={action} onSubmit={(typed) => action.run(paidBy(typed))}>
          {isPaid && <BankReference environment={environment} />}
          <Submit look={answer?.look ?? "primary"} beside={<Button onClick={close}>Back</Button>}>
            {needsApproval ? "Ask a second operator" : "Record it"}
          </Submit>
        </Form>
      </div>
    </Dialog>
  );
}
