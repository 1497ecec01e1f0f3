// The system: what runs, on which database, with which clocks, queues, retention and settings.
import { useQuery } from "@tanstack/react-query";
import { Answer } from "../../ui/answer.tsx";
import { Fact, Facts } from "../../ui/facts.tsx";
import { Page as Frame, Section } from "../../ui/page.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Status } from "../../ui/status.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Time, TimeFromNow } from "../../ui/time.tsx";
import { type Schema, read } from "../api/client.ts";
import { count, milliseconds, seconds } from "./wall/words.ts";

type System = Schema<"System">;

export function Page() {
  const system = useQuery({ ...read("/v1/system"), refetchInterval: 10_000 });
  return (
    <Frame title="System" lead="What is running, on which database, with which settings." curl={{ path: "/v1/system" }}>
      <Answer of={system} skeleton={<Skeleton className="h-96 w-full" />}>
        {(shown) => (
          <>
            <Processes of={shown} />
            <Database of={shown} />
            <Queues of={shown} />
            <Retention of={shown} />
            <Settings of={shown} />
          </>
        )}
      </Answer>
    </Frame>
  );
}

/** Rows that are there already, as a table takes them. */
const listOf = <Row,>(data: Row[]) =>
  ({ data: { data, has_more: false, next_cursor: null }, error: null, isPlaceholderData: false }) as never;

const tones = { alive: "good", stopped: "calm", lost: "bad" } as const;
const processColumns: Column<System["processes"][number]>[] = [
  {
    head: "Process",
    cell: ({ host, pid, is_this: own }) => (
      <>
        <span className="font-medium">{host}</span> <span className="text-muted">{pid}</span>
        {own && <span className="text-muted"> · answers</span>}
      </>
    ),
  },
  { head: "State", cell: ({ state }) => <Status status={state} tone={tones[state]} /> },
  { head: "Roles", from: "wide", cell: ({ roles }) => roles.join(", ") },
  { head: "Version", from: "wide", cell: ({ version, node }) => <span title={node}>{version}</span> },
  { head: "Since", cell: ({ started_at: at }) => <TimeFromNow at={at} /> },
  {
    head: "Requests",
    align: "right",
    from: "wide",
    cell: ({ now }) => (now ? `${count(now.requests_per_second)}/s` : ""),
  },
  { head: "Event loop", align: "right", from: "full", cell: ({ now }) => (now ? milliseconds(now.loop_lag_ms) : "") },
  { head: "Clock", align: "right", from: "full", cell: ({ now }) => (now ? milliseconds(now.clock_skew_ms) : "") },
  { head: "Memory", align: "right", from: "wide", cell: ({ now }) => (now ? `${count(now.memory_mib)} MiB` : "") },
];

function Processes({ of: { processes } }: { of: System }) {
  return (
    <Section title="Processes">
      <Table
        label="Processes"
        list={listOf(processes)}
        columns={processColumns}
        id={(one) => one.process_id}
        empty={null}
      />
    </Section>
  );
}

const MIB = 2 ** 20;

function Database({ of: { database, clocks } }: { of: System }) {
  return (
    <Section title="Database and clocks">
      <Facts>
        <Fact name="PostgreSQL">{database.version}</Fact>
        <Fact name="Since">
          <Time at={database.started_at} shape="minute" />
        </Fact>
        <Fact name="Schema">
          <span title={database.schema_name}>{database.schema_version}</span>
        </Fact>
        <Fact name="Size">{count(database.size_bytes / MIB)} MiB</Fact>
        <Fact name="Connections">
          {database.connections} of {database.connections_max}
        </Fact>
        <Fact name="Replicas">
          {database.replicas.length === 0
            ? "none"
            : database.replicas.map(({ name, state }) => `${name ?? "unknown"}, ${state ?? "not visible"}`).join("; ")}
        </Fact>
        <Fact name="Clock of this process">
          {milliseconds(Math.abs(clocks.skew_ms))} {clocks.skew_ms < 0 ? "behind" : "ahead of"} the database's
        </Fact>
        <Fact name="Furthest of any">
          <span className={clocks.furthest_ms > 1_000 ? "font-medium text-bad" : undefined}>
            {milliseconds(clocks.furthest_ms)}
          </span>
        </Fact>
      </Facts>
    </Section>
  );
}

const queues: Record<System["queues"][number]["what"], string> = {
  deliveries_due: "Deliveries that are due",
  deliveries_undelivered: "Deliveries that were given up",
  acquirer_operations: "Acquirer operations under way",
};

function Queues({ of }: { of: System }) {
  return (
    <Section title="Queues now">
      <Facts>
        {of.queues.map(({ what, count: number, is_more: more }) => (
          <Fact key={what} name={queues[what]}>
            {number}
            {more && "+"}
          </Fact>
        ))}
      </Facts>
    </Section>
  );
}

const DAY_SECONDS = 86_400;
const kept = (value: number): string =>
  value >= 2 * DAY_SECONDS ? `${Math.round(value / DAY_SECONDS)} days` : seconds(value);

function Retention({ of }: { of: System }) {
  return (
    <Section title="What is kept, and for how long">
      <Facts>
        {of.retention.map(({ what, kept_seconds: keptSeconds }) => (
          <Fact key={what} name={what}>
            {kept(keptSeconds)}
          </Fact>
        ))}
      </Facts>
    </Section>
  );
}

const settingColumns: Column<System["settings"][number]>[] = [
  { head: "Setting", cell: ({ name }) => <code className="font-mono text-xs wrap-anywhere">{name}</code> },
  {
    head: "Value",
    cell: ({ value, secret }) =>
      value === null ? (
        <span className="text-muted">not set</span>
      ) : secret ? (
        <span className="text-muted">set, not shown</span>
      ) : (
        <span className="inline-block min-w-28 wrap-anywhere">{value}</span>
      ),
  },
];

function Settings({ of }: { of: System }) {
  return (
    <Section title="Settings of the process that answers">
      <Table label="Settings" list={listOf(of.settings)} columns={settingColumns} id={(one) => one.name} empty={null} />
    </Section>
  );
}
