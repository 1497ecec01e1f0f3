// Disputes: which payments are contested, what waits for an answer, and how the others ended.
import { useApi, useCan, usePlace } from "../api/place.ts";
import type { Schema } from "../api/types.ts";
import { paths, withSearch } from "../paths.ts";
import { orderColumns } from "./payments/of-order.tsx";
import { OfPaid } from "./payments/of-paid.tsx";
import { FromBookNow } from "../ui/book-time.tsx";
import { ShortId } from "../ui/copy.tsx";
import { type CsvColumn, amounts, fields } from "../ui/csv.ts";
import { CsvButton, CsvNote, useCsvDownload } from "../ui/download-csv.tsx";
import { Empty } from "../ui/empty.tsx";
import { Filters, choice, day, text, useFilters } from "../ui/filters.tsx";
import { To } from "../ui/link.tsx";
import { useCursor, useList } from "../ui/list.ts";
import { Money } from "../ui/money.tsx";
import { Page as Frame } from "../ui/page.tsx";
import { Status } from "../ui/status.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";

type Dispute = Schema<"Dispute">;

// The names are those of the API's query.
const spec = {
  status: choice("Status", ["needs_response", "under_review", "won", "lost", "withdrawn"]),
  payment_reference: text("Payment", "pay_…"),
  opened_from: day("Opened from", "begin"),
  opened_to: day("to", "end"),
};

const csvColumns: CsvColumn<Dispute>[] = [
  ...fields<Dispute>("uuid", "payment_reference", "reference_id", "status", "reason", "currency"),
  ...amounts<Dispute>("amount_minor"),
  ...fields<Dispute>("opened_at", "evidence_due_at", "resolved_at", "outcome", "settlement_uuid"),
];

export function Page() {
  const place = usePlace();
  const api = useApi();
  const filters = useFilters(spec);
  const cursor = useCursor();
  const list = useList(api.read("/v1/disputes", { query: { ...filters.value, ...cursor.query } }));
  const csv = useCsvDownload({
    what: "disputes",
    columns: csvColumns,
    times: ["opened_at", "resolved_at"],
    read: (page, signal) => api.readOnce(signal, "/v1/disputes", { query: { ...filters.value, ...page } }),
    days: [filters.chosen.opened_from, filters.chosen.opened_to],
  });

  const columns: Column<Dispute>[] = [
    ...orderColumns<Dispute>("Dispute"),
    {
      head: "Status",
      cell: (dispute) => (
        <>
          <Status status={dispute.status} />
          {/* A narrow table has no room for the column. */}
          {dispute.status === "needs_response" && (
            <p className="text-xs roomy:hidden">
              <AnswerBy dispute={dispute} />
            </p>
          )}
        </>
      ),
    },
    { head: "Amount", align: "right", cell: (dispute) => <Money of={dispute} /> },
    {
      head: "Reason",
      from: "wide",
      cell: (dispute) => <span className="whitespace-nowrap">{dispute.reason.replaceAll("_", " ")}</span>,
    },
    {
      head: "Payment",
      from: "full",
      cell: ({ payment_reference: reference }) => (
        <To to={paths.payment(place, reference)} className="link">
          <ShortId id={reference} brief />
        </To>
      ),
    },
    { head: "Time to answer", align: "right", from: "wide", cell: (dispute) => <AnswerBy dispute={dispute} /> },
  ];

  return (
    <Frame
      title="Disputes"
      lead="Payments that payers have contested, newest first. The contested amount is held while a dispute is open."
      actions={list.data && list.data.data.length > 0 && <CsvButton of={csv} />}
      curl={{ path: withSearch("/v1/disputes", filters.value) }}
    >
      <div>
        <CsvNote of={csv} />
        <Filters of={filters} />
        <Table
          label="Disputes"
          list={list}
          cursor={cursor}
          columns={columns}
          id={(dispute) => dispute.uuid}
          to={(dispute) => paths.dispute(place, dispute.uuid)}
          empty={filters.isSet ? <NoneMatch /> : <NoneYet />}
        />
      </div>
    </Frame>
  );
}

/** Only what can still be answered has a deadline that matters. */
/** Where the book's clock is not known its day: a list has no room for more, and the dispute's page has the minute. */
function AnswerBy({ dispute: { status, evidence_due_at: due } }: { dispute: Dispute }) {
  if (status !== "needs_response") return <span className="text-muted">–</span>;
  return <FromBookNow at={due} instead={<Time at={due} shape="day" />} />;
}

function NoneMatch() {
  return <Empty title="No dispute matches">Change the filters, or clear them.</Empty>;
}

function NoneYet() {
  const place = usePlace();
  const can = useCan();
  const isSandbox = place.environment === "sandbox";
  return (
    <Empty
      title="No disputes"
      action={isSandbox && can("sandbox:write") && <OfPaid verb="contest" />}
      curl={
        isSandbox
          ? { method: "POST", path: "/v1/sandbox/payments/pay_…/dispute", body: { reason: "product_not_received" } }
          : undefined
      }
    >
      A payer contests a payment at their bank. It appears here, the amount is held, and you have until its deadline to
      answer with a statement and files.
      {isSandbox && " In the sandbox you contest a payment and decide the dispute yourself."}
    </Empty>
  );
}
