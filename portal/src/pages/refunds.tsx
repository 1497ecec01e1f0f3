// Refunds: what was given back, to which payment, and whether it arrived.
import { useApi, useCan, usePlace } from "../api/place.ts";
import type { Schema } from "../api/types.ts";
import { paths, withSearch } from "../paths.ts";
import { orderColumns } from "./payments/of-order.tsx";
import { OfPaid } from "./payments/of-paid.tsx";
import { ShortId } from "../ui/copy.tsx";
import { type CsvColumn, amounts, fields } from "../ui/csv.ts";
import { CsvButton, CsvNote, useCsvDownload } from "../ui/download-csv.tsx";
import { Empty } from "../ui/empty.tsx";
import { Filters, choice, day, text, useFilters } from "../ui/filters.tsx";
import { useCursor, useList } from "../ui/list.ts";
import { Money } from "../ui/money.tsx";
import { To } from "../ui/link.tsx";
import { Page as Frame } from "../ui/page.tsx";
import { Status } from "../ui/status.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";

type Refund = Schema<"Refund">;

// The names are those of the API's query.
const spec = {
  status: choice("Status", ["pending", "succeeded", "failed"]),
  payment_reference: text("Payment", "pay_…"),
  created_from: day("From", "begin"),
  created_to: day("To", "end"),
};

const csvColumns: CsvColumn<Refund>[] = [
  ...fields<Refund>("uuid", "payment_reference", "reference_id", "status", "currency"),
  ...amounts<Refund>("amount_minor"),
  ...fields<Refund>("created_at", "completed_at", "settlement_uuid"),
];

export function Page() {
  const place = usePlace();
  const api = useApi();
  const filters = useFilters(spec);
  const cursor = useCursor();
  const list = useList(api.read("/v1/refunds", { query: { ...filters.value, ...cursor.query } }));
  const csv = useCsvDownload({
    what: "refunds",
    columns: csvColumns,
    times: ["created_at", "completed_at"],
    read: (page, signal) => api.readOnce(signal, "/v1/refunds", { query: { ...filters.value, ...page } }),
    days: [filters.chosen.created_from, filters.chosen.created_to],
  });

  const columns: Column<Refund>[] = [
    ...orderColumns<Refund>("Refund"),
    { head: "Status", cell: (refund) => <Status status={refund.status} /> },
    { head: "Amount", align: "right", cell: (refund) => <Money of={refund} /> },
    {
      head: "Payment",
      from: "full",
      cell: ({ payment_reference: reference }) => (
        <To to={paths.payment(place, reference)} className="link">
          <ShortId id={reference} brief />
        </To>
      ),
    },
    { head: "Created", align: "right", from: "wide", cell: (refund) => <Time at={refund.created_at} shape="minute" /> },
  ];

  return (
    <Frame
      title="Refunds"
      lead="Money that went back to payers, newest first."
      actions={list.data && list.data.data.length > 0 && <CsvButton of={csv} />}
      curl={{ path: withSearch("/v1/refunds", filters.value) }}
    >
      <div>
        <CsvNote of={csv} />
        <Filters of={filters} />
        <Table
          label="Refunds"
          list={list}
          cursor={cursor}
          columns={columns}
          id={(refund) => refund.uuid}
          to={(refund) => paths.refund(place, refund.uuid)}
          empty={filters.isSet ? <NoneMatch /> : <NoneYet />}
        />
      </div>
    </Frame>
  );
}

function NoneMatch() {
  return <Empty title="No refund matches">Change the filters, or clear them.</Empty>;
}

function NoneYet() {
  const can = useCan();
  return (
    <Empty
      title="No refunds yet"
      action={can("refunds:write") && <OfPaid verb="refund" />}
      curl={{ method: "POST", path: "/v1/refunds", body: { payment_reference: "pay_…", amount_minor: 5000000 } }}
    >
      A refund gives back all or a part of a payment that succeeded. Open the payment and refund it there, or call the
      API.
    </Empty>
  );
}
