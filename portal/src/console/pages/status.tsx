// Status and incidents: what everybody is told now, what is open, and writing it.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { ErrorFace, useErrorShown } from "../../ui/face.tsx";
import { useCursor, useList } from "../../ui/list.ts";
import { Page as Frame, Section } from "../../ui/page.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Status } from "../../ui/status.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { type Schema, read } from "../api/client.ts";
import { useMay } from "../api/rights.ts";
import { IncidentCard, toneOfState } from "./status/incident-card.tsx";
import { PlanWork, ReportIncident } from "./status/write.tsx";

type Incident = Schema<"Incident">;

const OFTEN_MS = 15_000;

export function Page() {
  const status = useQuery({ ...read("/v1/status"), refetchInterval: OFTEN_MS });
  const error = useErrorShown(status);
  const may = useMay();
  const [writing, setWriting] = useState<"incident" | "work" | undefined>(undefined);
  const close = (): void => setWriting(undefined);
  const url = status.data?.public_url;
  return (
    <Frame
      title="Status & incidents"
      lead={
        <>
          What everybody can read{" "}
          {url !== undefined && (
            <a className="link" href={url} target="_blank" rel="noreferrer">
              at {url}
            </a>
          )}
          . The service measures itself; write here what only people know.
        </>
      }
      actions={
        may("support") && (
          <>
            <Button onClick={() => setWriting("work")}>Plan work</Button>
            <Button look="primary" onClick={() => setWriting("incident")}>
              Report an incident
            </Button>
          </>
        )
      }
      curl={{ path: "/v1/status" }}
    >
      <Section title="Open and planned">
        <Open />
      </Section>
      <Section title="Now">
        {status.data ? (
          <Components status={status.data.status} />
        ) : error ? (
          <ErrorFace error={error} retry={() => status.refetch()} />
        ) : (
          <Skeleton className="h-40 w-full" />
        )}
      </Section>
      <Section title="All that was told">
        <All />
      </Section>
      {writing === "incident" && <ReportIncident close={close} />}
      {writing === "work" && <PlanWork close={close} />}
    </Frame>
  );
}

function Open() {
  const open = useQuery({
    ...read("/v1/incidents", { query: { open: "true", limit: 100 } }),
    refetchInterval: OFTEN_MS,
  });
  const error = useErrorShown(open);
  if (!open.data && error) return <ErrorFace error={error} retry={() => open.refetch()} />;
  if (!open.data) return <Skeleton className="h-24 w-full" />;
  if (open.data.data.length === 0)
    return (
      <Empty title="Nothing is open">
        When something happens that everybody should know about, report it: merchants see it within seconds on the
        status page, and in their feed reader when it looks next.
      </Empty>
    );
  return (
    <ul className="space-y-3">
      {open.data.data.map((incident) => (
        <li key={incident.incident_id}>
          <IncidentCard incident={incident} />
        </li>
      ))}
    </ul>
  );
}

function Components({ status }: { status: Schema<"Status"> }) {
  return (
    <>
      {status.from_memory && (
        <p role="status" className="mb-2 text-warn">
          The database is not answering: this is only what one process knows.
        </p>
      )}
      <ul className="grid gap-x-8 rounded-md border border-line bg-panel px-4 py-2 sm:grid-cols-2">
        {status.components.map((one) => (
          <li key={one.component} className="flex min-h-9 items-center gap-3">
            <span className="font-medium">{one.name}</span>
            <span className="ml-auto text-xs text-muted tabular-nums">
              {one.uptime_percent === null ? "not measured yet" : `${one.uptime_percent.toFixed(2)} % up`}
            </span>
            <Status status={one.state} tone={toneOfState(one.state)} />
          </li>
        ))}
      </ul>
      <p className="mt-1 text-xs text-muted">
        Up: the share of measured minutes in ninety days without an outage, excluding planned work.
      </p>
    </>
  );
}

function All() {
  const cursor = useCursor();
  const list = useList(read("/v1/incidents", { query: cursor.query }));
  const columns: Column<Incident>[] = [
    { head: "What", cell: ({ title }) => <span className="font-medium wrap-anywhere">{title}</span> },
    { head: "Impact", from: "wide", cell: ({ impact }) => impact },
    {
      head: "Status",
      cell: ({ status, phase }) => <Status status={status} tone={phase === "over" ? "calm" : "warn"} />,
    },
    { head: "By", from: "full", cell: ({ created_by }) => created_by },
    { head: "From", align: "right", from: "wide", cell: ({ starts_at }) => <Time at={starts_at} shape="minute" /> },
  ];
  return (
    <Table
      label="Incidents and planned work"
      list={list}
      cursor={cursor}
      columns={columns}
      id={(one) => one.incident_id}
      empty={<Empty title="Nothing was told yet">Incidents and planned work are kept here for good.</Empty>}
    />
  );
}
