// Who did what to a payment: operators with what they were answered, and the merchant's people at the portal.
import { To } from "../../../../ui/link.tsx";
import { Section } from "../../../../ui/page.tsx";
import { Status } from "../../../../ui/status.tsx";
import { Time } from "../../../../ui/time.tsx";
import type { Schema } from "../../../api/client.ts";
import { at } from "../../../paths.ts";

type Record = Schema<"PaymentRecord">;

const line = "flex min-h-9 flex-wrap items-center gap-x-4 gap-y-0.5 px-4 py-1.5";

export function Hands({ of: { audit, people } }: { of: Record }) {
  return (
    <>
      {audit.length > 0 && (
        <Section title="What operators did">
          <ul className="divide-y divide-line rounded-md border border-line bg-panel">
            {audit.map((entry) => (
              <Operator key={entry.request_id} of={entry} />
            ))}
          </ul>
        </Section>
      )}
      {people.length > 0 && (
        <Section title="What the merchant's people did">
          <ul className="divide-y divide-line rounded-md border border-line bg-panel">
            {people.map((one) => (
              <li key={one.request_id} className={line}>
                <span className="font-medium">{one.name ?? "nobody who is known"}</span>
                <span>{one.action.replaceAll("_", " ")}</span>
                <Outcome status={one.status} />
                <span className="text-xs text-muted sm:ml-auto">
                  <Time at={one.at} />
                  {one.address !== null && <span className="ml-2 font-mono">{one.address}</span>}
                </span>
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}

function Operator({ of: entry }: { of: Schema<"AuditEntry"> }) {
  return (
    <li className={line}>
      <To to={at.auditOf(entry.actor)} className="inline-flex min-h-6 items-center font-medium hover:underline">
        {entry.actor}
      </To>
      {entry.approved_by !== null && <span className="text-muted">approved by {entry.approved_by}</span>}
      <code className="min-w-0 font-mono text-xs break-all">
        {entry.method} {entry.path.replace("/ops/v1", "")}
      </code>
      <Outcome status={entry.status} />
      <span className="text-xs text-muted sm:ml-auto">
        <Time at={entry.at} />
      </span>
    </li>
  );
}

function Outcome({ status }: { status: number | null }) {
  if (status === null) return <Status status="not on record" tone="warn" />;
  // Nothing was done yet: it waited for a second operator.
  if (status === 202) return <Status status="asked for" />;
  return status < 400 ? <Status status="done" /> : <Status status={`refused ${status}`} tone="bad" />;
}
