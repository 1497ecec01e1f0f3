// Refunds of all merchants: what was given back, why, and whether it arrived.
import { withSearch } from "../../paths.ts";
import { ShortId } from "../../ui/copy.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Filters, choice, text, useFilters } from "../../ui/filters.tsx";
import { To } from "../../ui/link.tsx";
import { useCursor, useList } from "../../ui/list.ts";
import { Money } from "../../ui/money.tsx";
import { Page as Frame } from "../../ui/page.tsx";
import { Status } from "../../ui/status.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { type Schema, read } from "../api/client.ts";
import { at } from "../paths.ts";

type Refund = Schema<"AnyRefund">;

// The names are those of the API's query.
const spec = {
  status: choice("Status", ["pending", "succeeded", "failed"]),
  environment: choice("Environment", ["production", "sandbox"]),
  merchant_id: text("Merchant", "mer_…"),
  payment_reference: text("Payment", "pay_…"),
};

const columns: Column<Refund>[] = [
  { head: "Refund", cell: (refund) => <ShortId id={refund.uuid} /> },
  { head: "Status", cell: (refund) => <Status status={refund.status} /> },
  { head: "Amount", align: "right", cell: (refund) => <Money of={refund} /> },
  {
    head: "Payment",
    from: "full",
    cell: ({ payment_reference: reference }) => (
      <To to={at.payment(reference)} className="link">
        <ShortId id={reference} brief />
      </To>
    ),
  },
  {
    head: "Environment",
    from: "full",
    cell: ({ environment }) => <span className={environment === "sandbox" ? "text-muted" : ""}>{environment}</span>,
  },
  {
    head: "Reason",
    from: "full",
    cell: ({ reason }) =>
      reason !== null && (
        <span title={reason} className="inline-block max-w-56 truncate align-bottom">
          {reason}
        </span>
      ),
  },
  { head: "Created", align: "right", from: "wide", cell: (refund) => <Time at={refund.created_at} shape="minute" /> },
];

export function Page() {
  const filters = useFilters(spec);
  const cursor = useCursor();
  const list = useList(read("/v1/refunds", { query: { ...filters.value, ...cursor.query } }));
  return (
    <Frame
      title="Refunds"
      lead="Money that went back to payers, for all merchants, newest first."
      curl={{ path: withSearch("/v1/refunds", filters.value) }}
    >
      <div>
        <Filters of={filters} />
        <Table
          label="Refunds"
          list={list}
          cursor={cursor}
          columns={columns}
          id={(refund) => refund.uuid}
          to={(refund) => at.refund(refund.uuid)}
          empty={
            filters.isSet ? (
              <Empty title="No refund matches">Change the filters, or clear them.</Empty>
            ) : (
              <Empty
                title="No refunds yet"
                curl={{ method: "POST", path: "/v1/payments/pay_…/refunds", body: { reason: "Paid twice" } }}
              >
                Merchants refund their own payments. An admin can do it for them, on the payment's page and with a
                reason.
              </Empty>
            )
          }
        />
      </div>
    </Frame>
  );
}
