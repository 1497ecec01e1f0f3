// A review: what fraud detection saw, the payment and its merchant, and the judgement. By keyboard: j and k go on and back, a approves, r refuses.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useGo, usePart } from "../../../address.ts";
import { useAction } from "../../../api/action.ts";
import { Answer } from "../../../ui/answer.tsx";
import { Button } from "../../../ui/button.tsx";
import { classes } from "../../../ui/classes.ts";
import { Identity } from "../../../ui/copy.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Form, Submit, TextField, needed } from "../../../ui/form.tsx";
import { Money } from "../../../ui/money.tsx";
import { Page as Frame, Section } from "../../../ui/page.tsx";
import { type Schema, read, write } from "../../api/client.ts";
import { useMay } from "../../api/rights.ts";
import { at } from "../../paths.ts";
import { NeedsTwo, showOutcome } from "../decisions/decide.tsx";
import { BookNow } from "../decisions/effects.tsx";
import { useKeys } from "../decisions/keys.ts";
import { PaymentFacts, RecordView, RiskSeen } from "../payments/record.tsx";
import { Due } from "./due.tsx";

type Review = Schema<"ReviewRecord">;
type Judgement = "approve" | "refuse";

export function Page() {
  const reference = usePart("reference");
  const go = useGo();
  const may = useMay();
  const review = useQuery(read("/v1/reviews/{reference}", { path: { reference } }));
  const queue = useQuery(read("/v1/reviews", { query: { limit: 100 } }));
  const [judging, setJudging] = useState<Judgement | undefined>(undefined);
  const references = queue.data?.data.map((one) => one.reference) ?? [];
  const place = references.indexOf(reference);
  const beside = (step: number): string | undefined => (place < 0 ? references[0] : references[place + step]);
  const show = (other: string | undefined): void => {
    if (other !== undefined && other !== reference) void go(at.review(other));
  };
  const judge = (judgement: Judgement) => (review.data && may("support") ? () => setJudging(judgement) : undefined);
  useKeys({ j: () => show(beside(1)), k: () => show(beside(-1)), a: judge("approve"), r: judge("refuse") });
  const judged = async (): Promise<void> => {
    setJudging(undefined);
    const next = beside(1) ?? beside(-1);
    await go(next === undefined ? at.waiting() : at.review(next), { replace: true });
  };
  return (
    <Frame
      title="Review"
      above={{ to: at.waitingFor("review"), label: "Waiting" }}
      beside={<Identity id={reference} what="the payment's reference" />}
      actions={
        review.data &&
        may("support") && (
          <>
            <Button look="danger" onClick={() => setJudging("refuse")}>
              Refuse <Key>r</Key>
            </Button>
            <Button look="primary" onClick={() => setJudging("approve")}>
              Approve <Key>a</Key>
            </Button>
          </>
        )
      }
      lead={
        <Where
          place={place}
          count={references.length}
          isMore={queue.data?.has_more === true}
          due={review.data?.decide_before}
          environment={review.data?.payment.environment}
        />
      }
      curl={{ path: `/v1/reviews/${reference}` }}
    >
      <Answer of={review}>{(record) => <Whole of={record} />}</Answer>
      {judging && review.data && (
        <Judge
          key={judging}
          of={review.data}
          judgement={judging}
          close={() => setJudging(undefined)}
          onJudged={judged}
        />
      )}
    </Frame>
  );
}

function Key({ children }: { children: string }) {
  return <kbd className="rounded border border-current/40 px-1 font-mono text-xs">{children}</kbd>;
}

function Where({
  place,
  count,
  isMore,
  due,
  environment,
}: {
  place: number;
  count: number;
  isMore: boolean;
  due: string | null | undefined;
  environment: string | undefined;
}) {
  return (
    <>
      {place >= 0 && `${place + 1} of ${count}${isMore ? "+" : ""}. `}
      {due === null && "If nobody decides here, the acquirer does. "}
      {due && (
        <>
          Automatic refusal: <Due at={due} environment={environment} />.{" "}
        </>
      )}
      <Key>j</Key> next, <Key>k</Key> back.
    </>
  );
}

function Whole({ of: record }: { of: Review }) {
  return (
    <>
      {record.asked_by === "acquirer" && (
        <Section title="What the acquirer asks">
          <p>
            The payer has paid, and the fraud detection of {record.payment.gateway_code} holds the money until a person
            decides whether to accept it. Its reasons are in its own dashboard; its messages are below.
          </p>
        </Section>
      )}
      <Section title="What fraud detection saw">
        <RiskSeen of={record.risk} />
      </Section>
      <Section title="The payment">
        <PaymentFacts of={record} />
      </Section>
      <Section title="The merchant's last seven days">
        <Days of={record.merchant_days} />
      </Section>
      <Section title="The book now">
        <BookNow of={record.book} />
      </Section>
      <RecordView of={record} />
    </>
  );
}

const outcomes = ["succeeded", "rejected", "failed", "expired", "canceled"] as const;

function Days({ of: days }: { of: Review["merchant_days"] }) {
  return (
    <div tabIndex={0} role="group" aria-label="Days" className="overflow-x-auto rounded-md border border-line bg-panel">
      <table className="w-full border-collapse text-right text-xs sm:text-sm">
        <thead className="border-b border-line text-xs text-muted">
          <tr>
            <th scope="col" className="px-2 py-2 text-left sm:px-4 font-medium">
              Day, UTC
            </th>
            {outcomes.map((name) => (
              <th key={name} scope="col" className="px-1 py-2 font-medium last:pr-2 sm:px-3">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {days.map((day) => (
            <tr key={day.begins_at} className="border-b border-line last:border-b-0">
              <td className="px-2 py-1.5 text-left sm:px-4 whitespace-nowrap">{day.begins_at.slice(0, 10)}</td>
              {outcomes.map((name) => (
                <td key={name} className={classes("px-1 py-1.5 last:pr-2 sm:px-3", day[name] === 0 && "text-muted")}>
                  {day[name]}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface JudgeProps {
  of: Review;
  judgement: Judgement;
  close: () => void;
  onJudged: () => Promise<void>;
}

/** It cannot be undone, so it is asked once more: Enter does it, Escape does not. */
function Judge({ of: { payment, decisions, asked_by }, judgement, close, onJudged }: JudgeProps) {
  const { reference } = payment;
  const approves = judgement === "approve";
  const isAcquirers = asked_by === "acquirer";
  const approved = isAcquirers ? "Its acquirer is told to accept the money." : "Its payer can pay from now on.";
  const refused = isAcquirers
    ? "Its acquirer is told to return the money; then the payment fails, and the merchant is notified."
    : "The payment fails, and the merchant is notified.";
  const needsTwo = approves && decisions.some((one) => one.needs_approval);
  const action = useAction(
    (reason: string) =>
      write("POST", approves ? "/v1/reviews/{reference}/approve" : "/v1/reviews/{reference}/refuse", {
        path: { reference },
        body: reason === "" ? {} : { reason },
      }),
    {
      refresh: ["/v1/reviews", "/v1/waiting", "/v1/approvals", "/v1/audit"],
      done: async (answer) => {
        showOutcome(answer, approves ? `Approved. ${approved}` : "Refused.");
        await onJudged();
      },
    },
  );
  return (
    <Dialog open onClose={close} title={approves ? "Let the payment go on?" : "Refuse the payment?"}>
      <Form values={{ reason: "" }} action={action} onSubmit={({ reason = "" }) => action.run(reason.trim())}>
        <p>
          <Money of={payment} /> for {payment.reference_id}. {approves ? approved : refused} This cannot be undone.
        </p>
        {needsTwo && <NeedsTwo />}
        <TextField
          name="reason"
          label="Reason"
          hint={approves ? "Optional. For the audit." : "For the audit: only operators can read it."}
          check={approves ? undefined : needed("A reason")}
          autoComplete="off"
        />
        <Submit look={approves ? "primary" : "danger"} beside={<Button onClick={close}>Back</Button>}>
          {needsTwo ? "Ask a second operator" : approves ? "Approve" : "Refuse"}
        </Submit>
      </Form>
    </Dialog>
  );
}
