// How each kind of step is told: a title, a tone where it is a state, and what is worth seeing of it.
import type { ReactNode } from "react";
import type { Schema } from "../../../api/types.ts";
import { To } from "../../../ui/link.tsx";
import { Money } from "../../../ui/money.tsx";
import { Status } from "../../../ui/status.tsx";
import { Time } from "../../../ui/time.tsx";
import { Entries } from "../../ledger/entries.tsx";
import { Candidates } from "./candidates.tsx";
import { Deliveries } from "./deliveries.tsx";
import { Asked, Called, Part, Received } from "./details.tsx";
import { HowToPay } from "./how-to-pay.tsx";
import type { Reader, Step } from "./reader.ts";

interface Telling {
  title: ReactNode;
  /** The same in plain words. */
  name: string;
  tone?: "good" | "warn" | "bad" | undefined;
  detail?: ReactNode;
}

const endings: Record<string, { title: string; tone?: Telling["tone"] }> = {
  processing: { title: "The acquirer works on it", tone: "warn" },
  succeeded: { title: "Paid", tone: "good" },
  failed: { title: "Failed", tone: "bad" },
  expired: { title: "Expired: nobody paid in time" },
  canceled: { title: "Canceled" },
};

const refunds: Record<string, string> = {
  pending: "Refund asked for:",
  succeeded: "Refunded",
  failed: "Refund failed:",
};

const resolutions: Record<string, Telling["tone"]> = { won: "good", withdrawn: "good", lost: "bad" };

export function tell(step: Step, reader: Reader): Telling {
  const link = (to: string | undefined, text: string): ReactNode =>
    to === undefined ? (
      <span className="font-mono text-xs">{text}</span>
    ) : (
      <To to={to} className="link font-mono text-xs">
        {text}
      </To>
    );
  switch (step.kind) {
    case "asked":
      return {
        title: (
          <>
            Asked for <Money of={step.object} />
          </>
        ),
        name: "asked",
        detail: <Asked of={step.object} owner={reader.owner} />,
      };
    case "judged":
      return { ...judged(step.object), name: "judged" };
    case "routed": {
      const { gateway_code: code } = step.object;
      const title = code === null ? "No acquirer took it" : `Routed to ${code}`;
      return {
        title,
        name: "routed",
        tone: code === null ? "bad" : undefined,
        detail: <Candidates of={step.object} />,
      };
    }
    case "called":
      return { title: `Asked ${step.object.gateway_code}`, name: "called", detail: <Called of={step.object} /> };
    case "instructed":
      return { title: "Instructed the payer", name: "instructed", detail: <HowToPay of={step.object} /> };
    case "received":
      return {
        title: (
          <>
            {step.object.gateway_code} received <Money of={step.object} />
          </>
        ),
        name: "received",
        tone: step.object.status === "applied" ? "good" : "warn",
        detail: <Received of={step.object} page={reader.receipt?.(step.object.uuid)} />,
      };
    case "became": {
      const { status, reason } = step.object;
      return {
        ...(endings[status] ?? { title: status }),
        name: status,
        detail: (
          <>
            {reason !== null && <p>“{reason}”</p>}
            {/* What the payer asks who thinks that they have paid. */}
            {(status === "failed" || status === "expired") && (
              <p className="text-muted">It was not paid. If the payer still wants to pay, they need a new payment.</p>
            )}
          </>
        ),
      };
    }
    case "journalled":
      return {
        title: (
          <>
            Journalled as {step.object.kind.replaceAll("_", " ")}{" "}
            {link(reader.journal(step.object.id), `no. ${step.object.seq}`)}
          </>
        ),
        name: `journal ${step.object.seq}`,
        detail: <Entries of={step.object.entries} label={`Entries of journal ${step.object.seq}`} />,
      };
    case "told": {
      const { type, id } = step.object.event;
      const tone = step.object.event.delivery?.state === "undelivered" ? "bad" : undefined;
      return {
        title: <>Told {link(reader.event(id), type)}</>,
        name: `event ${type}`,
        tone,
        detail: <Deliveries of={step.object} page={reader.deliveries(id)} />,
      };
    }
    case "refunded":
      return {
        title: (
          <>
            {refunds[step.object.status]} <Money of={step.object} /> {link(reader.refund(step.object.uuid), "refund")}
          </>
        ),
        name: "refund",
        tone: step.object.status === "failed" ? "bad" : step.object.status === "pending" ? "warn" : undefined,
        detail: (
          <p className="flex flex-wrap gap-x-3">
            <Status status={step.object.status} />
            {step.object.reason !== null && <span>“{step.object.reason}”</span>}
          </p>
        ),
      };
    case "disputed":
      return {
        title: (
          <>
            Contested: <Money of={step.object} /> {link(reader.dispute(step.object.uuid), "dispute")}
          </>
        ),
        name: "dispute",
        tone: "warn",
        detail: (
          <p>
            {step.object.reason.replaceAll("_", " ")}, evidence until{" "}
            <Time at={step.object.evidence_due_at} shape="minute" />
          </p>
        ),
      };
    case "answered":
      return {
        title: <>Evidence submitted {link(reader.dispute(step.object.uuid), "dispute")}</>,
        name: "evidence",
      };
    case "resolved":
      return { title: `Dispute ${step.object.status}`, name: "dispute's end", tone: resolutions[step.object.status] };
    case "settled":
      return {
        title: <>Put into a settlement {link(reader.settlement(step.object.settlement.uuid), "batch")}</>,
        name: "settlement",
        detail: <Part of={step.object} />,
      };
    case "paid_out":
      return {
        title: (
          <>
            Paid out to {reader.payee} {link(reader.settlement(step.object.settlement.uuid), "batch")}
          </>
        ),
        name: "payout",
        tone: "good",
        detail: (
          <>
            <Part of={step.object} />
            <p className="text-muted">Bank reference {step.object.settlement.bank_reference}</p>
          </>
        ),
      };
    case "returned":
      return {
        title: <>The bank returned the {link(reader.settlement(step.object.settlement.uuid), "batch")}</>,
        name: "returned payout",
        tone: "bad",
        detail: (
          <>
            <Part of={step.object} />
            <p className="text-muted">Its items go into another batch.</p>
          </>
        ),
      };
  }
}

function judged({ decision, score }: Schema<"Risk">): Pick<Telling, "title" | "tone"> {
  const title = { approve: "Judged as safe", review: "Held for review", reject: "Rejected by fraud detection" }[
    decision
  ];
  return {
    title: (
      <>
        {title} <span className="font-normal text-muted">score {score} of 100</span>
      </>
    ),
    tone: decision === "approve" ? undefined : decision === "review" ? "warn" : "bad",
  };
}
