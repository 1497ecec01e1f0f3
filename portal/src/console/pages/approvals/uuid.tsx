// One change that needs a second operator: who asked, exactly what would happen, and the decision.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { usePart } from "../../../address.ts";
import { useAction } from "../../../api/action.ts";
import { Answer } from "../../../ui/answer.tsx";
import { Button } from "../../../ui/button.tsx";
import { Code } from "../../../ui/code.tsx";
import { Identity } from "../../../ui/copy.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Fact, Facts } from "../../../ui/facts.tsx";
import { Form, Submit, TextField } from "../../../ui/form.tsx";
import { To } from "../../../ui/link.tsx";
import { Money } from "../../../ui/money.tsx";
import { Page as Frame, Section } from "../../../ui/page.tsx";
import { Time, TimeFromNow } from "../../../ui/time.tsx";
import { say } from "../../../ui/toast.tsx";
import { type Schema, read, write } from "../../api/client.ts";
import { useMay } from "../../api/rights.ts";
import { at } from "../../paths.ts";
import { InBook } from "../payments/record.tsx";
import { Effects } from "../decisions/effects.tsx";
import { refusalOf } from "../decisions/refusal.ts";
import { useKeys } from "../decisions/keys.ts";
import { ApprovalStatus } from "./status.tsx";

type Approval = Schema<"ApprovalRecord">;
type Step = "approve" | "refuse" | "withdraw";

export function Page() {
  const uuid = usePart("uuid");
  const may = useMay();
  const approval = useQuery({
    ...read("/v1/approvals/{uuid}", { path: { uuid } }),
    refetchInterval: ({ state }) => (state.data?.status === "executing" ? 2_000 : 15_000),
  });
  const [step, setStep] = useState<Step | undefined>(undefined);
  const record = approval.data;
  const isOpen = record?.status === "waiting" && may("support");
  const can: Record<Step, boolean> = {
    approve: isOpen && record.objection === null && record.would_fail === null,
    refuse: isOpen && !record.is_yours && may(record.least_role),
    withdraw: isOpen && record.is_yours,
  };
  const key = (one: Step) => (can[one] ? () => setStep(one) : undefined);
  useKeys({ a: key("approve"), r: key("refuse") });
  return (
    <Frame
      title="Approval"
      above={{ to: at.approvals(), label: "Approvals" }}
      beside={
        <>
          {record && <ApprovalStatus status={record.status} />}
          <Identity id={uuid} what="the approval's identity" />
        </>
      }
      actions={
        <>
          {can.withdraw && <Button onClick={() => setStep("withdraw")}>Take it back</Button>}
          {can.refuse && (
            <Button look="danger" onClick={() => setStep("refuse")}>
              Refuse
            </Button>
          )}
          {can.approve && (
            <Button look="primary" onClick={() => setStep("approve")}>
              Approve
            </Button>
          )}
        </>
      }
      curl={{ path: `/v1/approvals/${uuid}` }}
    >
      <Answer of={approval}>{(one) => <Whole of={one} />}</Answer>
      {record && step && <Decide key={step} of={record} step={step} close={() => setStep(undefined)} />}
    </Frame>
  );
}

function Whole({ of: one }: { of: Approval }) {
  const { amount_minor, currency, exponent, payment_reference: payment, result } = one;
  const isOpen = one.status === "waiting";
  return (
    <>
      <p className="max-w-3xl text-lg wrap-anywhere">{one.summary}</p>
      <Outcome of={one} />
      {isOpen && one.would_fail && (
        <p role="status" className="max-w-3xl rounded border border-bad/50 px-3 py-2">
          <strong className="text-bad">It would be refused now.</strong> {refusalOf(one.would_fail)}{" "}
          <code className="font-mono text-xs">{one.would_fail.code}</code>
        </p>
      )}
      {isOpen && one.objection !== null && <p className="max-w-3xl text-muted">{one.objection}</p>}
      {isOpen && one.would_fail === null && (
        <Section title="What happens to the book">
          <Effects of={one.effects} />
        </Section>
      )}
      <Facts>
        <Fact name="Asked by">{one.asked_by}</Fact>
        <Fact name="Asked">
          <Time at={one.asked_at} />
        </Fact>
        <Fact name={one.status === "withdrawn" ? "Taken back by" : "Decided by"}>
          {one.decided_by ?? <span className="text-muted">nobody yet</span>}
        </Fact>
        {isOpen ? (
          <Fact name="Expires">
            <TimeFromNow at={one.expires_at} />
          </Fact>
        ) : (
          <Fact name="Decided">{one.decided_at === null ? "never" : <Time at={one.decided_at} />}</Fact>
        )}
        <Fact name="Merchant">
          {one.merchant_name !== null && one.environment !== null ? (
            <InBook name={one.merchant_name} environment={one.environment} />
          ) : (
            (one.merchant_name ?? <span className="text-muted">nobody&apos;s</span>)
          )}
        </Fact>
        <Fact name="Amount">
          {amount_minor !== null && currency !== null && exponent !== null ? (
            <Money of={{ amount_minor, currency, exponent }} />
          ) : (
            <span className="text-muted">moves none</span>
          )}
        </Fact>
        {payment !== null && (
          <Fact name="Payment">
            <To to={at.payment(payment)} className="link font-mono text-xs">
              {payment}
            </To>
          </Fact>
        )}
        <Fact name="Role needed">{one.least_role}</Fact>
        {one.note !== null && <Fact name="Note">{one.note}</Fact>}
      </Facts>
      {result && (
        <Section title={`How it was answered: ${result.status}`}>
          <Code value={result.body} what="the answer" />
        </Section>
      )}
      <Section title="The call, kept to the byte">
        <p className="mb-2">
          <code className="font-mono text-xs break-all">
            {one.request.method} {one.request.path}
          </code>
        </p>
        {one.request.body === null ? <p>It has no body.</p> : <Code value={one.request.body} what="the body" />}
        <p className="mt-1 text-xs break-all text-muted">SHA-256 {one.request.body_sha256}</p>
      </Section>
    </>
  );
}

/** What became of an approved change, where it was not simply made. */
const outcomes: Partial<Record<Approval["status"], string>> = {
  executing: "It was approved. Whether it was made is not known yet: this page says so within a minute or so.",
  unknown:
    "It was approved, and nobody can tell whether it was made. Look at its object. Ask again only if it was not.",
  failed: "It was approved, checked again when it ran, and refused. Nothing changed. Below is why.",
};

function Outcome({ of: { status } }: { of: Approval }) {
  const outcome = outcomes[status];
  if (outcome === undefined) return null;
  return (
    <p role="status" className="max-w-3xl">
      {outcome}
    </p>
  );
}

const titles: Record<Step, string> = {
  approve: "Approve it?",
  refuse: "Refuse it?",
  withdraw: "Take it back?",
};
const words: Record<Step, string> = {
  approve: "It runs at once.",
  refuse: "Nothing changes. Whoever asked can ask again.",
  withdraw: "Nothing changes. You can ask again.",
};
const verbs: Record<Step, string> = { approve: "Approve and run it", refuse: "Refuse it", withdraw: "Take it back" };

function Decide({
  of: { uuid, summary, amount_minor: amount },
  step,
  close,
}: {
  of: Approval;
  step: Step;
  close: () => void;
}) {
  const action = useAction(
    (note: string) =>
      step === "withdraw"
        ? write("POST", "/v1/approvals/{uuid}/withdraw", { path: { uuid } })
        : write("POST", step === "approve" ? "/v1/approvals/{uuid}/approve" : "/v1/approvals/{uuid}/refuse", {
            path: { uuid },
            body: note === "" ? {} : { note },
          }),
    {
      done: ({ status }) => {
        close();
        say(status === "failed" ? "It was checked again and refused. See why below." : `It is ${status}.`);
      },
    },
  );
  return (
    <Dialog open onClose={close} title={titles[step]}>
      <Form values={{ note: "" }} action={action} onSubmit={({ note = "" }) => action.run(note.trim())}>
        <p className="wrap-anywhere">{summary}</p>
        <p>
          {words[step]} {step === "approve" && amount !== null && "It cannot be undone."}
        </p>
        {step !== "withdraw" && (
          <TextField name="note" label="Note" hint="Optional. Everybody sees it." autoComplete="off" />
        )}
        <Submit look={step === "approve" ? "primary" : "danger"} beside={<Button onClick={close}>Back</Button>}>
          {verbs[step]}
        </Submit>
      </Form>
    </Dialog>
  );
}
