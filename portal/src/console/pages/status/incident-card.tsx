// One incident that is open or planned: what was said, and what an operator can do about it.
import { type ReactNode, useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { Status } from "../../../ui/status.tsx";
import { Time } from "../../../ui/time.tsx";
import type { Schema } from "../../api/client.ts";
import { useMay } from "../../api/rights.ts";
import { CorrectUpdate, EditIncident, PostUpdate } from "./write.tsx";

type Incident = Schema<"Incident">;
type Update = Incident["updates"][number];

export function toneOfState(state: Schema<"ComponentState">) {
  return ({ operational: "good", degraded: "warn", outage: "bad", maintenance: "calm", no_data: "calm" } as const)[
    state
  ];
}

type Doing = { kind: "update"; resolve: boolean } | { kind: "edit" } | { kind: "correct"; update: Update };

export function IncidentCard({ incident }: { incident: Incident }) {
  const may = useMay();
  const [doing, setDoing] = useState<Doing | undefined>(undefined);
  const close = (): void => setDoing(undefined);
  const { title, impact, components, status, phase, starts_at, ends_at, updates } = incident;
  return (
    <article className="rounded-md border border-line bg-panel p-4" aria-label={title}>
      <div className="flex flex-wrap items-start gap-x-4 gap-y-2">
        <div className="min-w-0">
          <h3 className="font-semibold wrap-anywhere">{title}</h3>
          <p className="mt-0.5 flex flex-wrap gap-x-3 text-xs text-muted">
            <Status status={status} tone={impact === "critical" ? "bad" : phase === "planned" ? "calm" : "warn"} />
            <span>{impact}</span>
            <span>{components.length === 0 ? "no component" : components.join(", ").replaceAll("_", " ")}</span>
            <span>
              from <Time at={starts_at} shape="minute" />
              {ends_at !== null && (
                <>
                  {" "}
                  until <Time at={ends_at} shape="minute" />
                </>
              )}
            </span>
          </p>
        </div>
        {may("support") && (
          <div className="ml-auto flex flex-wrap gap-2">
            <Button look="quiet" onClick={() => setDoing({ kind: "edit" })}>
              Edit
            </Button>
            <Button onClick={() => setDoing({ kind: "update", resolve: false })}>Post an update</Button>
            <Button onClick={() => setDoing({ kind: "update", resolve: true })}>Resolve</Button>
          </div>
        )}
      </div>
      <ol className="mt-3 space-y-2 border-l-2 border-line pl-4" aria-label={`Updates of ${title}`}>
        {updates.toReversed().map((update) => (
          <li key={update.update_id}>
            <p className="flex flex-wrap items-center gap-x-3 text-xs text-muted">
              <b className="font-medium text-ink">{update.status}</b>
              <Time at={update.at} shape="minute" />
              <span>{update.by}</span>
              {update.corrected_at !== null && <span>corrected</span>}
              {may("support") && (
                <button
                  type="button"
                  className="inline-flex min-h-6 items-center hover:text-ink hover:underline"
                  aria-label={`Correct “${update.message.slice(0, 40)}”`}
                  onClick={() => setDoing({ kind: "correct", update })}
                >
                  Correct
                </button>
              )}
            </p>
            <p className="whitespace-pre-line wrap-anywhere">{update.message}</p>
          </li>
        ))}
      </ol>
      {dialogOf(doing, incident, close)}
    </article>
  );
}

function dialogOf(doing: Doing | undefined, incident: Incident, close: () => void): ReactNode {
  if (doing?.kind === "update") return <PostUpdate incident={incident} resolve={doing.resolve} close={close} />;
  if (doing?.kind === "edit") return <EditIncident incident={incident} close={close} />;
  return doing && <CorrectUpdate incident={incident} update={doing.update} close={close} />;
}
