// One key: what the requests that it signed have changed, newest first.
import { usePart } from "../../../address.ts";
import { useApi, usePlace } from "../../../api/place.ts";
import type { Schema } from "../../../api/types.ts";
import { pageOfObject, paths } from "../../../paths.ts";
import { Empty } from "../../../ui/empty.tsx";
import { To } from "../../../ui/link.tsx";
import { useCursor, useList } from "../../../ui/list.ts";
import { Page as Frame } from "../../../ui/page.tsx";
import { Status } from "../../../ui/status.tsx";
import { type Column, Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";

type Change = Schema<"KeyChange">;

export function Page() {
  const place = usePlace();
  const id = usePart("client_id");
  const cursor = useCursor();
  const list = useList(
    useApi().read("/v1/credentials/{client_id}/changes", { path: { client_id: id }, query: cursor.query }),
  );
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
    { head: "Of", cell: ({ subject }) => subject !== null && <ObjectLink id={subject} /> },
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
    <Frame
      title="What a key changed"
      lead={`Every change that a request signed with ${id} made, and where it came from. The list can only grow.`}
      above={{ to: paths.keys(place), label: "Keys" }}
    >
      <Table
        label="Changes"
        list={list}
        cursor={cursor}
        columns={columns}
        id={({ request_id: request }) => request}
        empty={
          <Empty title="It has changed nothing">
            A payment, a refund, a link or a step of the sandbox that this key asks for stands here at once. Reads do
            not.
          </Empty>
        }
      />
    </Frame>
  );
}

function ObjectLink({ id }: { id: string }) {
  const to = pageOfObject(usePlace(), id);
  const text = <span className="font-mono text-xs break-all ample:whitespace-nowrap">{id}</span>;
  return to === undefined ? (
    text
  ) : (
    <To to={to} className="link">
      {text}
    </To>
  );
}
