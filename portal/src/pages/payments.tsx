// Payments: find one by anything one knows of it, newest first.
import { useApi, useCan, usePlace } from "../api/place.ts";
import type { Schema } from "../api/types.ts";
import { paths, withSearch } from "../paths.ts";
import { ButtonLink } from "../ui/button.tsx";
import { type CsvColumn, amounts, fields } from "../ui/csv.ts";
import { CsvButton, CsvNote, useCsvDownload } from "../ui/download-csv.tsx";
import { Empty } from "../ui/empty.tsx";
import { Filters, choice, day, text, useFilters } from "../ui/filters.tsx";
import { useCursor, useList } from "../ui/list.ts";
import { Money, writtenAmount } from "../ui/money.tsx";
import { Page as Frame } from "../ui/page.tsx";
import { Status } from "../ui/status.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { useLanguage } from "../words.ts";
import { SearchedTo } from "./payments/searched-to.tsx";

type Payment = Schema<"Payment">;

// The names are those of the API's query.
const spec = {
  status: choice("Status", [
    "pending",
    "processing",
    "succeeded",
    "failed",
    "expired",
    "canceled",
    "partially_refunded",
    "refunded",
  ]),
  payment_method: choice("Method", ["qris", "va", "card", "ewallet", "bank_transfer"]),
  reference: text("Payment", "pay_…"),
  reference_id: text("Your reference", "order-1042"),
  payer: text("Payer", "e-mail or telephone"),
  amount: text("Amount", "150000"),
  metadata: text("Metadata", "order:1042"),
  created_from: day("From", "begin"),
  created_to: day("To", "end"),
};

/** What the books need of a payment. Payers' names are left out: a file stays when a payer is forgotten here. */
const csvColumns: CsvColumn<Payment>[] = [
  ...fields<Payment>("reference", "reference_id", "status", "payment_method", "gateway_code", "currency"),
  ...amounts<Payment>("amount_minor", "fee_minor", "net_minor", "refunded_minor"),
  ...fields<Payment>("created_at", "paid_at", "expires_at", "payment_link", "settlement_uuid"),
  ["settlement_status", ({ settlement }) => settlement?.status],
  ["settlement_estimated_date", ({ settlement }) => settlement?.estimated_date],
];

export function Page() {
  const place = usePlace();
  const api = useApi();
  const can = useCan();
  const language = useLanguage();
  const filters = useFilters(spec);
  const cursor = useCursor();
  const { amount, ...rest } = filters.value;
  const value = { ...rest, amount: amount && writtenAmount(amount, language) };
  const list = useList(api.read("/v1/payments/search", { query: { ...value, ...cursor.query } }));
  const csv = useCsvDownload({
    what: "payments",
    columns: csvColumns,
    times: ["created_at", "paid_at"],
    read: (page, signal) => api.readOnce(signal, "/v1/payments/search", { query: { ...value, ...page } }),
    days: [filters.chosen.created_from, filters.chosen.created_to],
  });
  const { reference, status, payment_method, reference_id, created_from, created_to } = value;
  const known = { status, payment_method, reference_id, created_from, created_to };

  const columns: Column<Payment>[] = [
    {
      head: "Your reference",
      cell: (payment) => (
        <span className="max-w-40 min-w-24">
          <span className="line-clamp-1 break-all">{payment.reference_id}</span>
          {/* A narrow table has no room for the column beside an amount. */}
          <span className="block text-xs roomy:hidden">
            <Status status={payment.status} />
            <span className="block font-normal text-muted">
              <Time at={payment.created_at} shape="minute" />
            </span>
          </span>
        </span>
      ),
    },
    { head: "Status", from: "wide", cell: (payment) => <Status status={payment.status} /> },
    { head: "Amount", align: "right", cell: (payment) => <Money of={payment} /> },
    { head: "Method", from: "wide", cell: (payment) => payment.payment_method.replaceAll("_", " ") },
    { head: "Acquirer", from: "full", cell: (payment) => payment.gateway_code ?? "" },
    {
      head: "Payment",
      from: "full",
      cell: (payment) => <code className="font-mono text-xs text-muted">{payment.reference}</code>,
    },
    {
      head: "Created",
      align: "right",
      from: "wide",
      cell: (payment) => <Time at={payment.created_at} shape="minute" />,
    },
  ];

  return (
    <Frame
      title="Payments"
      lead="Everything that payers were asked to pay, newest first."
      actions={
        <>
          {list.data && list.data.data.length > 0 && <CsvButton of={csv} />}
          {can("payments:write") && <ButtonLink to={paths.paymentNew(place)}>New payment</ButtonLink>}
        </>
      }
      curl={{ path: reference ? `/v1/payments/${encodeURIComponent(reference)}` : withSearch("/v1/payments", known) }}
    >
      <div>
        <CsvNote of={csv} />
        <Filters of={filters} />
        <Table
          label="Payments"
          list={list}
          cursor={cursor}
          columns={columns}
          id={(payment) => payment.reference}
          to={(payment) => paths.payment(place, payment.reference)}
          empty={filters.isSet ? <NoneMatch of={list.data} amount={value.amount} /> : <NoneYet />}
        />
        {list.data && list.data.data.length > 0 && <SearchedTo of={list.data} />}
      </div>
    </Frame>
  );
}

function NoneMatch({ of: found, amount }: { of: Schema<"FoundPayments"> | undefined; amount: string | undefined }) {
  return (
    <Empty title="No payment matches">
      {/* "150.000" is a hundred and fifty on an English page. */}
      {amount !== undefined && `The amount was read as ${Number(amount)}. `}
      {found?.searched_to ? <SearchedTo of={found} /> : "Change the filters, or clear them."}
    </Empty>
  );
}

function NoneYet() {
  const place = usePlace();
  const can = useCan();
  return (
    <Empty
      title="No payments yet"
      action={can("payments:write") && <ButtonLink to={paths.paymentNew(place)}>Create the first one</ButtonLink>}
      curl={{
        method: "POST",
        path: "/v1/payments",
        body: { amount_minor: 15_000_000, currency: "IDR", payment_method: "qris", reference_id: "order-1042" },
      }}
    >
      A payment begins when your system asks for it. It comes back with the instructions for the payer, and appears
      here.
    </Empty>
  );
}
