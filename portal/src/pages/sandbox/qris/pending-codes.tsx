// QRIS payments that wait for their payer, each with its code to take to the workbench.
import { useQuery } from "@tanstack/react-query";
import { useApi, usePlace } from "../../../api/place.ts";
import type { Schema } from "../../../api/types.ts";
import { paths } from "../../../paths.ts";
import { Button, ButtonLink } from "../../../ui/button.tsx";
import { Empty } from "../../../ui/empty.tsx";
import { Money } from "../../../ui/money.tsx";
import { type Column, Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";

type Payment = Schema<"Payment">;

/** The query for the payments whose codes wait. */
export const waiting = { payment_method: "qris", status: "pending" } as const;

export function PendingCodes({ take }: { take: (code: string) => void }) {
  const api = useApi();
  const place = usePlace();
  const list = useQuery(api.read("/v1/payments", { query: { ...waiting, limit: 5 } }));
  const columns: Column<Payment>[] = [
    {
      head: "Your reference",
      cell: (payment) => <span className="block max-w-24 truncate roomy:max-w-72">{payment.reference_id}</span>,
    },
    { head: "Amount", align: "right", cell: (payment) => <Money of={payment} /> },
    { head: "Expires", from: "wide", cell: ({ expires_at: at }) => at !== undefined && <Time at={at} /> },
    {
      head: "Code",
      align: "right",
      cell: ({ instructions, reference_id: id }) =>
        instructions && (
          <Button look="quiet" label={`Read it: the code of ${id}`} onClick={() => take(instructions.value)}>
            Read it
          </Button>
        ),
    },
  ];
  return (
    <Table
      label="Codes of payments that wait"
      list={list}
      columns={columns}
      id={(payment) => payment.reference}
      empty={
        <Empty
          title="No QRIS payment waits"
          action={<ButtonLink to={paths.create(place)}>Create one</ButtonLink>}
          curl={{
            method: "POST",
            path: "/v1/payments",
            body: { amount_minor: 15_000_000, currency: "IDR", payment_method: "qris", reference_id: "order-1042" },
          }}
        >
          A QRIS payment has a code while it is waiting to be paid.
        </Empty>
      }
    />
  );
}
