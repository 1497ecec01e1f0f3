// The first columns of what belongs to an order: its own identity and the merchant's reference, which a narrow table shows below it.
import { ShortId } from "../../ui/copy.tsx";
import type { Column } from "../../ui/table.tsx";

export function orderColumns<Row extends { uuid: string; reference_id: string }>(head: string): Column<Row>[] {
  return [
    {
      head,
      cell: (row) => (
        <span>
          <ShortId id={row.uuid} />
          {/* A narrow table has no room for the column. */}
          <span className="line-clamp-1 max-w-40 text-xs font-normal break-all text-muted roomy:hidden">
            {row.reference_id}
          </span>
        </span>
      ),
    },
    {
      head: "Your reference",
      from: "wide",
      cell: (row) => <span className="line-clamp-1 max-w-40 min-w-24 break-all">{row.reference_id}</span>,
    },
  ];
}
