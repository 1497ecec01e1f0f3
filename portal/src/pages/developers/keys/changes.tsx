// What the requests of one key have changed, as a table, newest first.
import type { Schema } from "../../../api/types.ts";
import { Empty } from "../../../ui/empty.tsx";
import { To } from "../../../ui/link.tsx";
import type { useCursor, useList } from "../../../ui/list.ts";
import { Status } from "../../../ui/status.tsx";
import { type Column, Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";

type Change = Schema<"KeyChange">;

interface Props {
  list: ReturnType<typeof useList<Schema<"KeyChangeList">>>;
  cursor: ReturnType<typeof useCursor>;
  /** Where the reader sees an object, by its identity; undefined where there is no page of it. */
  pageOf: (id: string) => string | undefined;
}

export function Changes({ list, cursor, pageOf }: Props) {
  const columns: Column<Change>[] = [
    {
      head: "What",
      cell: ({ action, at }) => (
        <>
          <span className="font-medium">{action.replaceAll("_", " ")}</span>
          {/* A narrow table has no room for the column. */}
          <p className="text-xs text-muted roomy:hidden">
            <Time at={at} shape="minute" />
          </p>
        </>
      ),
    },
    { head: "Of", cell: ({ subject }) => subject !== null && <ObjectLink id={subject} to={pageOf(subject)} /> },
    { head: "Then it was", from: "wide", cell: ({ status }) => status !== null && <Status status={status} /> },
    {
      head: "From",
      from: "wide",
      cell: ({ address }) => (
        <code title={address ?? undefined} className="inline-block max-w-32 truncate align-bottom font-mono text-xs">
          {address}
        </code>
      ),
    },
    {
      head: "Request",
      from: "full",
      cell: ({ request_id: request }) => <code className="font-mono text-xs text-muted">{request}</code>,
    },
    { head: "When", align: "right", from: "wide", cell: ({ at }) => <Time at={at} /> },
  ];
  return (
    <Table
      label="Changes"
      list={list}
      cursor={cursor}
      columns={columns}
      id={({ request_id: request }) => request}
      empty={
        <Empty title="No changes yet">
          Every payment, refund, link or sandbox step that this key asks for appears here at once. Reads do not.
        </Empty>
      }
    />
  );
}

function ObjectLink({ id, to }: { id: string; to: string | undefined }) {
  const text = <span className="font-mono text-xs break-all ample:whitespace-nowrap">{id}</span>;
  return to === undefined ? (
    text
  ) : (
    <To to={to} className="link">
      {text}
    </To>
  );
}
