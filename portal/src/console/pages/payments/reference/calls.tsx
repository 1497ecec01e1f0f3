// How acquirers were called for a payment and its refunds, and where what they say disagrees with the book.
import { Copy } from "../../../../ui/copy.tsx";
import { To } from "../../../../ui/link.tsx";
import { Section } from "../../../../ui/page.tsx";
import { Status } from "../../../../ui/status.tsx";
import { Time, TimeFromNow } from "../../../../ui/time.tsx";
import { times } from "../../../../ui/times.ts";
import type { Schema } from "../../../api/client.ts";
import { pageOf } from "../../../found.ts";
import { at } from "../../../paths.ts";

const line = "flex min-h-9 flex-wrap items-center gap-x-4 gap-y-0.5 px-4 py-1.5";

/** In these states a payment is asked about no more: what was planned is closed at its next turn, and no call is made. */
const decided: ReadonlySet<string> = new Set(["succeeded", "partially_refunded", "refunded", "failed"]);

export function Calls({
  of: { operations, payment },
}: {
  of: Pick<Schema<"PaymentRecord">, "operations" | "payment">;
}) {
  if (operations.length === 0) return null;
  const isOver = ({ object, step }: Schema<"PaymentOperation">): boolean =>
    step === "done" || (step === "polling" && object === payment.reference && decided.has(payment.status));
  return (
    <Section title="Calls to acquirers">
      <ul className="divide-y divide-line rounded-md border border-line bg-panel">
        {operations.map((one) => (
          <li key={one.object} className={line}>
            <span className="font-medium">{one.gateway_code}</span>
            {one.object.startsWith("rfd_") && (
              <To to={at.refund(one.object)} className="link">
                refund
              </To>
            )}
            <Status status={isOver(one) ? "done" : one.step} tone={isOver(one) ? "calm" : "warn"} />
            <span className="text-muted">
              {one.attempt} {one.attempt === 1 ? "call" : "calls"}
              {one.inquiries > 0 && `, inquired ${times(one.inquiries)}`}
              {one.refusals > 0 && `, refused by all ${times(one.refusals)}`}
              {one.refused_by.length > 0 && `, refused by ${one.refused_by.join(", ")}`}
              {one.next_at !== null && !isOver(one) && (
                <>
                  , next <TimeFromNow at={one.next_at} />
                </>
              )}
            </span>
            {one.operation_key !== null && (
              <span className="inline-flex min-w-0 items-center gap-1 sm:ml-auto">
                <code className="min-w-0 font-mono text-xs break-all">{one.operation_key}</code>
                <Copy text={one.operation_key} what="the operation key" />
              </span>
            )}
          </li>
        ))}
      </ul>
    </Section>
  );
}

export function Disagreements({ of: exceptions }: { of: readonly Schema<"ReconciliationException">[] }) {
  if (exceptions.length === 0) return null;
  return (
    <Section title="Where records disagree">
      <ul className="divide-y divide-line rounded-md border border-line bg-panel">
        {exceptions.map((one) => {
          const page = pageOf({ kind: "exception", id: one.uuid });
          const name = one.kind.replaceAll("_", " ");
          return (
            <li key={one.uuid} className={line}>
              {page === undefined ? <span className="font-medium">{name}</span> : <To to={page}>{name}</To>}
              <span>{one.gateway_code}</span>
              {one.closed_at === null ? <Status status="open" tone="bad" /> : <Status status="closed" />}
              {one.note !== null && <span className="text-muted wrap-anywhere">{one.note}</span>}
              <span className="text-xs text-muted sm:ml-auto">
                <Time at={one.noticed_at} />
              </span>
            </li>
          );
        })}
      </ul>
    </Section>
  );
}
