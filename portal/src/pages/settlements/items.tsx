// The items of a settlement: each payment, credited receipt, refund and lost dispute.
import { useApi, usePlace } from "../../api/place.ts";
import type { Place } from "../../api/client.ts";
import type { Schema } from "../../api/types.ts";
import { paths } from "../../paths.ts";
import { Empty } from "../../ui/empty.tsx";
import { useCursor, useList } from "../../ui/list.ts";
import { Money } from "../../ui/money.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";

type Item = Schema<"SettlementItem">;

function pageOf(place: Place, { kind, id, payment_reference: reference }: Item): string {
  if (kind === "refund") return paths.refund(place, id);
  return kind === "dispute" ? paths.dispute(place, id) : paths.payment(place, reference);
}

export function Items({ of: { uuid } }: { of: Schema<"Settlement"> }) {
  const place = usePlace();
  const api = useApi();
  const cursor = useCursor();
  const list = useList(api.read("/v1/settlements/{uuid}/items", { path: { uuid }, query: cursor.query }));
  const columns: Column<Item>[] = [
    {
      head: "Your reference",
      cell: (item) => <span className="inline-block max-w-32 truncate roomy:max-w-56">{item.reference_id}</span>,
    },
    { head: "Kind", from: "wide", cell: (item) => item.kind },
    { head: "Method", from: "full", cell: (item) => item.payment_method.replaceAll("_", " ") },
    { head: "Amount", align: "right", cell: (item) => <Money of={signed(item, item.amount_minor)} signed /> },
    {
      head: "Fee",
      align: "right",
      from: "wide",
      cell: (item) => item.fee_minor > 0 && <Money of={{ ...item, amount_minor: -item.fee_minor }} />,
    },
    { head: "When", align: "right", from: "wide", cell: (item) => <Time at={item.occurred_at} shape="minute" /> },
  ];
  return (
    <Table
      label="Items of the batch"
      list={list}
      cursor={cursor}
      columns={columns}
      id={(item) => item.id}
      to={(item) => pageOf(place, item)}
      empty={<Empty title="Nothing is in it" />}
    />
  );
}

/** Refunds and lost disputes take away. */
function signed({ kind, currency, exponent }: Item, minor: number) {
  return { currency, exponent, amount_minor: kind === "payment" || kind === "receipt" ? minor : -minor };
}
