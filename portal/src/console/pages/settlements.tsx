// Settlements of a merchant's book: what was and will be paid out, batch by batch.
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

type Settlement = Schema<"Settlement">;

// The names are those of the API's query.
const spec = {
  status: choice("Status", ["processing", "paid", "failed"]),
  currency: text("Currency", "IDR"),
  date_from: day("Period ends from", "begin"),
  date_to: day("to", "end"),
};

const columns: Column<Settlement>[] = [
  { head: "Batch", cell: ({ uuid }) => <ShortId id={uuid} /> },
  { head: "Status", cell: ({ status }) => <Status status={status} /> },
  { head: "Net", align: "right", cell: (batch) => <Money of={{ ...batch, amount_minor: batch.net_minor }} /> },
  { head: "Payments", align: "right", from: "full", cell: (batch) => batch.payment_count },
  {
    head: "Period ends",
    align: "right",
    from: "wide",
    cell: (batch) => <Time at={batch.period_end} shape="minute" />,
  },
  {
    head: "Paid",
    align: "right",
    from: "full",
    cell: ({ paid_at: paid }) => paid !== null && <Time at={paid} shape="minute" />,
  },
];

export function Page() {
  const book = useBook();
  const { id, environment } = book;
  const name = useMerchantName(id);
  const filters = useFilters(spec);
  const cursor = useCursor();
  const value = { ...filters.value, currency: filters.value.currency?.toUpperCase() };
  const path = { id, environment };
  const list = useList(
    read("/v1/merchants/{id}/books/{environment}/settlements", { path, query: { ...value, ...cursor.query } }),
  );
  return (
    <Frame
      title="Settlements"
      above={{ to: at.merchant(id), label: name }}
      lead={`Payouts to ${name} from its ${environment} book, newest first. A processing batch waits for the bank.`}
      actions={<BookSwitch of={book} to={at.settlements} />}
      curl={{ path: withSearch(`/v1/merchants/${id}/books/${environment}/settlements`, value) }}
    >
      <div>
        <Filters of={filters} />
        <Table
          label="Settlements"
          list={list}
          cursor={cursor}
          columns={columns}
          id={(batch) => batch.uuid}
          to={(batch) => at.settlement(id, environment, batch.uuid)}
          empty={
            filters.isSet ? (
              <Empty title="No settlement matches">Change the filters, or clear them.</Empty>
            ) : (
              <Empty title="No settlements yet">
                Payments that succeeded are gathered into batches by the merchant's calendar, each paid out as one
                transfer.
              </Empty>
            )
          }
        />
      </div>
    </Frame>
  );
}
