// Requests: what the merchant's systems asked lately, what they were answered, and how long that took.
import { useQuery } from "@tanstack/react-query";
import { useApi, usePlace } from "../../api/place.ts";
import type { Schema } from "../../api/types.ts";
import { paths, withSearch } from "../../paths.ts";
import { Empty } from "../../ui/empty.tsx";
import { Filters, choice, day, text, useFilters } from "../../ui/filters.tsx";
import { useCursor, useList } from "../../ui/list.ts";
import { Page as Frame } from "../../ui/page.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { AnswerStatus } from "./requests/answer-status.tsx";
import { LogNote } from "./requests/log-note.tsx";

type LoggedRequest = Schema<"LoggedRequest">;

/** New requests appear by themselves while the newest page is shown. */
const ASK_EVERY_MS = 5_000;

// The names are those of the API's query.
const spec = {
  outcome: choice("Outcome", ["succeeded", "refused"]),
  method: choice("Method", ["GET", "POST", "PUT"]),
  path: text("Path begins with", "/v1/payments"),
  error_code: text("Error", "INVALID_AMOUNT"),
  client_id: text("Key", "ak_…"),
  created_from: day("From", "begin"),
  created_to: day("To", "end"),
};

const columns: Column<LoggedRequest>[] = [
  {
    head: "Request",
    cell: ({ method, path }) => (
      <code className="inline-block min-w-32 font-mono text-xs break-all">
        {method} {path}
      </code>
    ),
  },
  { head: "Answer", cell: (request) => <AnswerStatus of={request} /> },
  { head: "Took", align: "right", from: "wide", cell: ({ duration_ms: ms }) => `${ms.toFixed(1)}\u00a0ms` },
  {
    head: "Key",
    from: "full",
    cell: ({ client_id: id }) => (
      <code title={id} className="font-mono text-xs whitespace-nowrap">
        {id.slice(0, 12)}…{id.slice(-4)}
      </code>
    ),
  },
  { head: "Came", align: "right", from: "wide", cell: ({ at }) => <Time at={at} /> },
];

export function Page() {
  const place = usePlace();
  const api = useApi();
  const filters = useFilters(spec);
  const cursor = useCursor();
  const list = useList({
    ...api.read("/v1/requests", { query: { ...filters.value, ...cursor.query } }),
    refetchInterval: cursor.isFirst ? ASK_EVERY_MS : false,
  });

  return (
    <Frame
      title="Requests"
      lead={<LogNote />}
      // Keys read the log of the sandbox alone.
      curl={place.environment === "sandbox" ? { path: withSearch("/v1/sandbox/requests", filters.value) } : undefined}
    >
      <div>
        <Filters of={filters} />
        <Table
          label="Requests"
          list={list}
          cursor={cursor}
          columns={columns}
          id={({ request_id: id }) => id}
          to={({ request_id: id }) => paths.request(place, id)}
          empty={filters.isSet ? <NoneMatch /> : <NoneYet />}
        />
      </div>
    </Frame>
  );
}

function NoneMatch() {
  return <Empty title="No request matches">Change the filters, or clear them.</Empty>;
}

function NoneYet() {
  const { environment } = usePlace();
  const { data: log } = useQuery(useApi().read("/v1/request-log"));
  if (log?.enabled === false)
    return (
      <Empty title="Requests are not logged here">
        The service runs with REQUEST_LOG=false. Its operator can switch the log on; it then starts with the next
        requests.
      </Empty>
    );
  if (environment === "production")
    return <Empty title="Nothing was refused">Production requests appear here when they are refused.</Empty>;
  return (
    <Empty title="No requests yet" curl={{ path: "/v1/balances" }}>
      Every request that your systems send to the sandbox appears here with its answer, within a second or two. A wrong
      signature appears as well, and says what is wrong with it.
    </Empty>
  );
}
