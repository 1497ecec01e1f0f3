// Disputes of a merchant's book: which payments are contested, until when they can be answered, and how the others ended.
import { withSearch } from "../../paths.ts";
import { ShortId } from "../../ui/copy.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Filters, choice, day, text, useFilters } from "../../ui/filters.tsx";
import { useCursor, useList } from "../../ui/list.ts";
import { Money } from "../../ui/money.tsx";
import { Page as Frame } from "../../ui/page.tsx";
import { Status } from "../../ui/status.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { type Schema, read } from "../api/client.ts";
import { at } from "../paths.ts";
import { BookSwitch, useBook, useMerchantName } from "./merchants/book.tsx";

type Dispute = Schema<"Dispute">;

// The names are those of the API's query.
const spec = {
  status: choice("Status", ["needs_response", "under_review", "won", "lost", "withdrawn"]),
  payment_reference: text("Payment", "pay_…"),
  opened_from: day("Opened from", "begin"),
  opened_to: day("to", "end"),
};

const columns: Column<Dispute>[] = [
  { head: "Dispute", cell: ({ uuid }) => <ShortId id={uuid} /> },
  { head: "Status", cell: ({ status }) => <Status status={status} /> },
  { head: "Contested", align: "right", cell: (dispute) => <Money of={dispute} /> },
  { head: "Reason", from: "wide", cell: ({ reason }) => reason.replaceAll("_", " ") },
  { head: "Merchant's reference", from: "full", cell: ({ reference_id: reference }) => reference },
  {
    head: "Opened",
    align: "right",
    from: "full",
    cell: ({ opened_at: opened }) => <Time at={opened} shape="minute" />,
  },
  {
    head: "Evidence due",
    align: "right",
    from: "wide",
    // Only what can still be answered has a due time that matters.
    cell: ({ status, evidence_due_at: due }) => status === "needs_response" && <Time at={due} shape="minute" />,
  },
];

export function Page() {
  const book = useBook();
  const { id, environment } = book;
  const name = useMerchantName(id);
  const filters = useFilters(spec);
  const cursor = useCursor();
  const path = { id, environment };
  const list = useList(
    read("/v1/merchants/{id}/books/{environment}/disputes", { path, query: { ...filters.value, ...cursor.query } }),
  );
  return (
    <Frame
      title="Disputes"
      above={{ to: at.merchant(id), label: name }}
      lead={`Payments to ${name} in its ${environment} book that payers have contested, newest first.`}
      actions={<BookSwitch of={book} to={at.disputes} />}
      curl={{ path: withSearch(`/v1/merchants/${id}/books/${environment}/disputes`, filters.value) }}
    >
      <div>
        <Filters of={filters} />
        <Table
          label="Disputes"
          list={list}
          cursor={cursor}
          columns={columns}
          id={(dispute) => dispute.uuid}
          to={(dispute) => at.dispute(id, environment, dispute.uuid)}
          empty={
            filters.isSet ? (
              <Empty title="No dispute matches">Change the filters, or clear them.</Empty>
            ) : (
              <Empty title="No disputes">
                An acquirer reports most of them. Record one that comes by mail on the payment's page.
              </Empty>
            )
          }
        />
      </div>
    </Frame>
  );
}
