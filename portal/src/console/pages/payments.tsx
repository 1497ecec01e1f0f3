// Payments of all merchants: find one by what somebody holds in their hands, newest first.
import { withSearch } from "../../paths.ts";
import { SearchedTo } from "../../pages/payments/searched-to.tsx";
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

type Payment = Schema<"PaymentSummary">;

// The names are those of the API's query.
const spec = {
  reference: text("Payment", "pay_…"),
  reference_id: text("Merchant's reference", "order-1042"),
  merchant_id: text("Merchant", "mer_…"),
  environment: choice("Environment", ["production", "sandbox"]),
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
  amount_minor: text("Amount in minor units", "15000000"),
  created_from: day("From", "begin"),
  created_to: day("To", "end"),
};

const columns: Column<Payment>[] = [
  {
    head: "Merchant's reference",
    cell: (payment) => (
      <span className="max-w-20 roomy:max-w-40 ample:max-w-52 ample:min-w-24">
        <span className="line-clamp-1 break-all">{payment.reference_id}</span>
        {/* A narrow table has no room for the column. */}
        <span className="line-clamp-1 text-xs font-normal break-all text-muted ample:hidden">
          {payment.merchant_name}
        </span>
      </span>
    ),
  },
  { head: "Status", cell: (payment) => <Status status={payment.status} /> },
  { head: "Amount", align: "right", cell: (payment) => <Money of={payment} /> },
  {
    head: "Merchant",
    from: "full",
    cell: (payment) => (
      <span title={payment.merchant_id} className="line-clamp-1 max-w-44 min-w-24 break-all">
        {payment.merchant_name}
      </span>
    ),
  },
  {
    head: "Environment",
    from: "full",
    cell: ({ environment }) => <span className={environment === "sandbox" ? "text-muted" : ""}>{environment}</span>,
  },
  {
    head: "Method",
    from: "full",
    cell: ({ payment_method: method, gateway_code: code }) => (
      <>
        {method.replaceAll("_", " ")}
        {code !== null && <span className="text-muted"> by {code}</span>}
      </>
    ),
  },
  {
    head: "Created",
    align: "right",
    from: "wide",
    cell: (payment) => <Time at={payment.created_at} shape="minute" />,
  },
];

export function Page() {
  const filters = useFilters(spec);
  const cursor = useCursor();
  const { amount_minor: amount, ...rest } = filters.value;
  const value = { ...rest, amount_minor: amount?.replaceAll(/[\s,]/g, "") };
  const list = useList(read("/v1/payments", { query: { ...value, ...cursor.query } }));
  return (
    <Frame
      title="Payments"
      lead="Everything that payers were asked to pay, for all merchants, newest first."
      curl={{ path: withSearch("/v1/payments", value) }}
    >
      <div>
        <Filters of={filters} />
        <Table
          label="Payments"
          list={list}
          cursor={cursor}
          columns={columns}
          id={(payment) => payment.reference}
          to={(payment) => at.payment(payment.reference)}
          empty={filters.isSet ? <NoneMatch of={list.data} /> : <NoneYet />}
        />
        {list.data && list.data.data.length > 0 && <SearchedTo of={list.data} />}
      </div>
    </Frame>
  );
}

function NoneMatch({ of: found }: { of: Schema<"SearchedPayments"> | undefined }) {
  return (
    <Empty title="No payment matches">
      {found?.searched_to ? <SearchedTo of={found} /> : "Change the filters, or clear them."}
    </Empty>
  );
}

function NoneYet() {
  return (
    <Empty title="No payments yet" curl={{ method: "POST", path: "/v1/merchants", body: { name: "Kopi Melati" } }}>
      A payment begins when a merchant's system asks for it. To get there, create a merchant and its first keys.
    </Empty>
  );
}
