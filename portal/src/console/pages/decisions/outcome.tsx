// What an acquirer leaves open for a day: recording by hand what became of it, with what shows it.
import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { useGo } from "../../../address.ts";
import type { ApiError } from "../../../api/error.ts";
import { Answer } from "../../../ui/answer.tsx";
import { TextField, needed } from "../../../ui/form.tsx";
import { Section } from "../../../ui/page.tsx";
import { type Schema, read, write } from "../../api/client.ts";
import { at } from "../../paths.ts";
import { Decision, askedIn } from "./decide.tsx";
import { refusalOf } from "./refusal.ts";

type Outlook = Schema<"DecisionOutlook">;
type Outcome = Schema<"RecordPaymentOutcome">["outcome"];

/** Recording the outcome of a pending refund. */
export function RefundOutcome({ uuid }: { uuid: string }) {
  const outlook = useQuery(read("/v1/refunds/{uuid}/outcome", { path: { uuid } }));
  return (
    <Outcomes
      of={outlook}
      verbs={{ succeeded: "Record that it was made", failed: "Record that it was never made" }}
      send={(outcome, { proof = "" }) =>
        write("POST", "/v1/refunds/{uuid}/outcome", { path: { uuid }, body: { outcome, proof: proof.trim() } })
      }
    />
  );
}

/** Recording the outcome of a payment that is processing, or over or paid and in doubt at its acquirer. */
export function PaymentOutcome({ of: { reference, status } }: { of: Schema<"PaymentRecord">["payment"] }) {
  const isPaid = ["succeeded", "partially_refunded", "refunded"].includes(status);
  const outlook = useQuery(read("/v1/payments/{reference}/outcome", { path: { reference } }));
  return (
    <Outcomes
      of={outlook}
      verbs={
        isPaid
          ? { succeeded: "Record that the money is there", failed: "Record that the money is gone" }
          : { succeeded: "Record that it was paid", failed: "Record that it was not paid" }
      }
      hasTransaction
      send={(outcome, { proof = "", transaction_id: id = "" }) =>
        write("POST", "/v1/payments/{reference}/outcome", {
          path: { reference },
          body: { outcome, proof: proof.trim(), ...(outcome === "succeeded" && { transaction_id: id.trim() }) },
        })
      }
    />
  );
}

interface Props {
  of: UseQueryResult<{ decisions: Outlook[] }, ApiError>;
  verbs: Record<Outcome, string>;
  /** True when money that was taken has the acquirer's identity. */
  hasTransaction?: boolean;
  send: (outcome: Outcome, typed: Record<string, string>) => Promise<unknown>;
}

const proofNeeded = needed("What shows it");
const transactionNeeded = needed("The acquirer's transaction id");

function Outcomes({ of, ...decided }: Props) {
  return (
    <Section title="If the acquirer never says">
      <Answer of={of}>{({ decisions }) => <Decisions of={decisions} {...decided} />}</Answer>
    </Section>
  );
}

interface DecisionsProps extends Omit<Props, "of"> {
  of: readonly Outlook[];
}

function Decisions({ of: decisions, verbs, hasTransaction = false, send }: DecisionsProps) {
  const go = useGo();
  const fault = decisions.find((one) => one.would_fail !== null)?.would_fail;
  const leave = async (answer: unknown): Promise<void> => {
    const asked = askedIn(answer);
    if (asked) await go(at.approval(asked.uuid));
  };
  return (
    <>
      <p className="mb-2 max-w-2xl text-muted">
        {(fault && refusalOf(fault)) ??
          "Ask the acquirer first. Record only what it has told you in writing: if it says otherwise later, that appears under Waiting."}
      </p>
      {!fault && (
        <div className="grid grid-cols-1 items-start gap-4 xl:grid-cols-2">
          {decisions.map((decision) => {
            const outcome: Outcome = decision.body?.outcome === "succeeded" ? "succeeded" : "failed";
            const isMoney = hasTransaction && outcome === "succeeded";
            return (
              <Decision
                key={outcome}
                of={decision}
                verb={verbs[outcome]}
                look={outcome === "failed" ? "danger" : "plain"}
                values={{ proof: "", transaction_id: "" }}
                send={(typed) => send(outcome, typed)}
                done="The outcome is recorded."
                onDone={leave}
              >
                {isMoney && (
                  <TextField
                    name="transaction_id"
                    label="The acquirer's transaction id"
                    hint="Of the payer's money, as the acquirer's report or statement shows it."
                    check={transactionNeeded}
                    autoComplete="off"
                    mono
                  />
                )}
                <TextField
                  name="proof"
                  label="What shows it"
                  hint="The acquirer's letter or a line of its statement. It stands in the audit."
                  check={proofNeeded}
                />
              </Decision>
            );
          })}
        </div>
      )}
    </>
  );
}
