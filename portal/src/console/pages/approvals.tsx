// Approvals: changes that need a second operator, those that wait first.
import { Empty } from "../../ui/empty.tsx";
import { Filters, choice, useFilters } from "../../ui/filters.tsx";
import { useCursor, useList } from "../../ui/list.ts";
import { Money } from "../../ui/money.tsx";
import { ButtonLink } from "../../ui/button.tsx";
import { Page as Frame } from "../../ui/page.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { TimeFromNow } from "../../ui/time.tsx";
import { type Schema, read } from "../api/client.ts";
import { at } from "../paths.ts";
import { ApprovalStatus } from "./approvals/status.tsx";

type Approval = Schema<"Approval">;

const statuses = ["waiting", "executing", "executed", "failed", "unknown", "refused", "withdrawn", "expired"] as const;
const spec = { status: choice("Status", statuses) };

export function Page() {
  const filters = useFilters(spec);
  const cursor = useCursor();
  const list = useList(read("/v1/approvals", { query: { ...filters.value, ...cursor.query } }));
  return (
    <Frame
      title="Approvals"
      lead="Changes that one operator asked for and a second one has to approve."
      actions={<ButtonLink to={at.approvalPolicy()}>Policy</ButtonLink>}
      curl={{ path: "/v1/approvals?status=waiting" }}
    >
      <div>
        <Filters of={filters} />
        <Table
          label="Approvals"
          list={list}
          columns={columns}
          id={(one) => one.uuid}
          to={(one) => at.approval(one.uuid)}
          cursor={cursor}
          empty={
            <Empty
              title="Nothing was asked for"
              action={<ButtonLink to={at.approvalPolicy()}>Read the policy</ButtonLink>}
            >
              The policy says which changes need a second operator. When somebody asks for such a change it appears
              here, and somebody else approves or refuses it.
            </Empty>
          }
        />
      </div>
    </Frame>
  );
}

const columns: Column<Approval>[] = [
  { head: "What", cell: ({ summary }) => <span className="line-clamp-2 max-w-lg wrap-anywhere">{summary}</span> },
  { head: "Status", cell: ({ status }) => <ApprovalStatus status={status} /> },
  { head: "Asked by", from: "wide", cell: ({ asked_by: by }) => by },
  {
    head: "Decided by",
    from: "full",
    cell: ({ decided_by: by }) => by ?? <span className="text-muted">nobody yet</span>,
  },
  {
    head: "Amount",
    from: "wide",
    align: "right",
    cell: ({ amount_minor, currency, exponent }) =>
      amount_minor !== null &&
      currency !== null &&
      exponent !== null && <Money of={{ amount_minor, currency, exponent }} />,
  },
  {
    head: "Asked",
    from: "wide",
    align: "right",
    cell: ({ asked_at: when }) => <TimeFromNow at={when} />,
  },
];
