// Rejected calls: those of programs without a good token, and reads beyond a role, counted together, newest first.
import { Empty } from "../../../ui/empty.tsx";
import { useCursor, useList } from "../../../ui/list.ts";
import { Page as Frame } from "../../../ui/page.tsx";
import { type Column, Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { type Schema, read } from "../../api/client.ts";
import { at } from "../../paths.ts";

type Rejected = Schema<"Refusal">;

const reasons: Record<Rejected["reason"], string> = {
  missing: "without a token",
  wrong: "a token that never was",
  ended: "a token that has ended",
  role: "a read beyond its role",
};

const columns: Column<Rejected>[] = [
  {
    head: "What",
    cell: ({ reason, actor, last_at: last }) => (
      <>
        {reasons[reason]}
        {actor !== null && <span className="text-muted"> · {actor}</span>}
        {/* A narrow table has no room for the column. */}
        <span className="block text-xs text-muted roomy:hidden">
          <Time at={last} shape="minute" />
        </span>
      </>
    ),
  },
  {
    head: "From",
    cell: ({ address }) =>
      address === null ? (
        <span className="text-muted">many addresses</span>
      ) : (
        <code className="font-mono text-xs wrap-anywhere">{address}</code>
      ),
  },
  { head: "Calls", align: "right", cell: ({ count }) => count.toLocaleString("en") },
  { head: "First", align: "right", from: "full", cell: ({ first_at: first }) => <Time at={first} /> },
  { head: "Last", align: "right", from: "wide", cell: ({ last_at: last }) => <Time at={last} /> },
];

export function Page() {
  const cursor = useCursor();
  const list = useList(read("/v1/audit/refusals", { query: cursor.query }));
  return (
    <Frame
      title="Rejected calls"
      above={{ to: at.audit(), label: "Audit" }}
      lead="Calls to this API in the last 30 days without a valid token, and reads beyond a role. Anyone who still uses a token that has ended is named."
      curl={{ path: "/v1/audit/refusals" }}
    >
      <Table
        label="Rejected calls"
        list={list}
        cursor={cursor}
        columns={columns}
        id={(one) => one.refusal_id}
        empty={
          <Empty title="No call was rejected">
            Every call in the last 30 days had a valid token and the role for it.
          </Empty>
        }
      />
    </Frame>
  );
}
