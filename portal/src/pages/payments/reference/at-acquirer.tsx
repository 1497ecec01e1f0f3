// A payment at its acquirer: who took it, what it calls it, where its dashboard shows it, and the messages of each step.
import type { UseQueryResult } from "@tanstack/react-query";
import type { ApiError } from "../../../api/error.ts";
import type { Schema } from "../../../api/types.ts";
import { Answer } from "../../../ui/answer.tsx";
import { Copy } from "../../../ui/copy.tsx";
import { Section } from "../../../ui/page.tsx";
import { Skeleton } from "../../../ui/skeleton.tsx";
import { Exchanged } from "./exchanged.tsx";

type Exchange = Schema<"PaymentAtAcquirer">;

export function AtAcquirer({ of }: { of: UseQueryResult<Exchange, ApiError> }) {
  return (
    <Section title="At the acquirer">
      <Answer of={of} skeleton={<Skeleton className="h-24 w-full" />}>
        {(known) => <Known of={known} />}
      </Answer>
    </Section>
  );
}

function Known({ of: known }: { of: Exchange }) {
  const { gateway_code: code, acquirer_name: name, operations, messages, is_cut: isCut } = known;
  if (code === null && operations.length === 0)
    return <p className="text-muted">No acquirer has taken this payment.</p>;
  if (operations.length === 0)
    return (
      <p className="text-muted">
        {name ?? code} took it without a call over a network, so it has no ids of its own and no messages.
      </p>
    );
  return (
    <div className="space-y-3">
      <ul aria-label="Its own ids" className="divide-y divide-line rounded-md border border-line bg-panel">
        {operations.map((one) => (
          <Operation key={one.object} of={one} name={name !== null && one.gateway_code === code ? name : undefined} />
        ))}
      </ul>
      {messages.length === 0 ? (
        <p className="text-muted">No messages from its calls are kept.</p>
      ) : (
        <ol aria-label="Messages" className="space-y-2">
          {messages.map((one, at) => (
            <li key={`${one.exchanged_at} ${at}`}>
              <Exchanged {...one} at={one.exchanged_at} what={nameOf(one)} awaited={one.call !== "report"} />
            </li>
          ))}
        </ol>
      )}
      {isCut && <p className="text-muted">There are more: at most a hundred ids and a hundred messages are shown.</p>}
    </div>
  );
}

const calls: Record<Exchange["messages"][number]["call"], string> = {
  open: "Opening",
  inquire: "Inquiry",
  cancel: "Its end",
  judge: "The judgement",
  refund: "Refund",
  inquire_refund: "Inquiry about the refund",
  submit_evidence: "Evidence",
  report: "Its notification",
};

function nameOf({ call, object }: Exchange["messages"][number]): string {
  return call === "report" && object.startsWith("rfd_") ? `${calls.report} about the refund` : calls[call];
}

function Operation({ of: one, name }: { of: Exchange["operations"][number]; name: string | undefined }) {
  const isRefund = one.object.startsWith("rfd_");
  const ids = Object.entries(one.provider_ids);
  return (
    <li className="flex flex-wrap items-center gap-x-6 gap-y-1 px-4 py-2">
      <span className="font-medium">
        {isRefund ? "Refund" : "Payment"} <span className="font-normal text-muted">by {name ?? one.gateway_code}</span>
      </span>
      {ids.length === 0 && <span className="text-muted">It has reported no id for its dashboard.</span>}
      {ids.map(([kind, id]) => (
        <span key={kind} className="inline-flex max-w-full min-w-0 items-center gap-1.5">
          <span className="shrink-0 text-xs text-muted">{kind.replaceAll("_", " ")}</span>
          <code className="min-w-0 font-mono text-xs break-all">{id}</code>
          <Copy text={id} what={`the ${kind.replaceAll("_", " ")} of the ${isRefund ? "refund" : "payment"}`} />
        </span>
      ))}
      {one.dashboard_url !== null && (
        <a className="link sm:ml-auto" href={one.dashboard_url} target="_blank" rel="noopener noreferrer">
          Open in its dashboard
        </a>
      )}
    </li>
  );
}
