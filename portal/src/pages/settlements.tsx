// Settlements: what was and will be paid out, batch by batch.
import { useAction } from "../api/action.ts";
import { useApi, useCan, usePlace } from "../api/place.ts";
import type { Schema } from "../api/types.ts";
import { paths, withSearch } from "../paths.ts";
import { Button } from "../ui/button.tsx";
import { type CsvColumn, amounts, fields } from "../ui/csv.ts";
import { CsvButton, CsvNote, useCsvDownload } from "../ui/download-csv.tsx";
import { Empty } from "../ui/empty.tsx";
import { ErrorNote } from "../ui/face.tsx";
import { Filters, choice, day, text, useFilters } from "../ui/filters.tsx";
import { useCursor, useList } from "../ui/list.ts";
import { Money } from "../ui/money.tsx";
import { Page as Frame } from "../ui/page.tsx";
import { ShortId } from "../ui/copy.tsx";
import { Status } from "../ui/status.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { say } from "../ui/toast.tsx";

type Settlement = Schema<"Settlement">;

// The names are those of the API's query.
const spec = {
  status: choice("Status", ["processing", "paid", "failed"]),
  currency: text("Currency", "IDR"),
  date_from: day("Period ends from", "begin"),
  date_to: day("to", "end"),
};

const csvColumns: CsvColumn<Settlement>[] = [
  ...fields<Settlement>("uuid", "status", "period_start", "period_end", "paid_at", "bank_reference", "payment_count"),
  ...fields<Settlement>("currency"),
  ...amounts<Settlement>("gross_minor", "fee_minor", "refund_minor", "net_minor"),
];

export function Page() {
  const place = usePlace();
  const api = useApi();
  const can = useCan();
  const filters = useFilters(spec);
  const cursor = useCursor();
  const { currency, ...rest } = filters.value;
  const value = { ...rest, currency: currency?.toUpperCase() };
  const list = useList(api.read("/v1/settlements", { query: { ...value, ...cursor.query } }));
  const csv = useCsvDownload({
    what: "settlements",
    columns: csvColumns,
    times: ["period_end", "paid_at"],
    read: (page, signal) => api.readOnce(signal, "/v1/settlements", { query: { ...value, ...page } }),
    days: [filters.chosen.date_from, filters.chosen.date_to],
  });
  const run = useAction(
    (_: undefined, intent) => api.write("POST", "/v1/sandbox/settlements/run", { body: {} }, intent),
    {
      done: ({ data }) =>
        say(
          data.length === 0
            ? "Nothing is due, or less than the smallest payout."
            : `${data.length} ${data.length === 1 ? "batch" : "batches"} formed.`,
        ),
    },
  );
  const runs = place.environment === "sandbox" && can("sandbox:write") && can("settlements:read");
  const columns: Column<Settlement>[] = [
    { head: "Batch", cell: (batch) => <ShortId id={batch.uuid} /> },
    {
      head: "Status",
      cell: (batch) => (
        <>
          <Status status={batch.status} />
          {/* A narrow table has no room for the column. */}
          <p className="text-xs text-muted roomy:hidden">
            to <Time at={batch.period_end} shape="day" />
          </p>
        </>
      ),
    },
    {
      head: "Sales",
      align: "right",
      from: "full",
      cell: (batch) => (
        <>
          <Money of={amountOf(batch, batch.gross_minor)} />
          <span className="block text-xs text-muted">
            {batch.payment_count} {batch.payment_count === 1 ? "payment" : "payments"}
          </span>
        </>
      ),
    },
    { head: "Payout", align: "right", cell: (batch) => <Money of={amountOf(batch, batch.net_minor)} /> },
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
      cell: ({ paid_at: at, bank_reference: reference }) =>
        at !== null && (
          <>
            <Time at={at} shape="minute" />
            <span className="block font-mono text-xs text-muted">{reference}</span>
          </>
        ),
    },
  ];
  return (
    <Frame
      title="Settlements"
      lead="Payouts to your bank, newest first. Each batch adds up, down to its payments."
      actions={
        <>
          {list.data && list.data.data.length > 0 && <CsvButton of={csv} />}
          {runs && <Button onClick={() => run.run(undefined)}>Form batches now</Button>}
        </>
      }
      curl={{ path: withSearch("/v1/settlements", value) }}
    >
      <div>
        {run.error && <ErrorNote error={run.error} />}
        <CsvNote of={csv} />
        <Filters of={filters} />
        <Table
          label="Settlements"
          list={list}
          cursor={cursor}
          columns={columns}
          id={(batch) => batch.uuid}
          to={(batch) => paths.settlement(place, batch.uuid)}
          empty={
            filters.isSet ? (
              <Empty title="No settlement matches">Change the filters, or clear them.</Empty>
            ) : (
              <Empty
                title="No settlements yet"
                curl={runs ? { method: "POST", path: "/v1/sandbox/settlements/run", body: {} } : undefined}
              >
                Payments that succeeded are gathered into batches by your schedule, and paid out as one transfer.
                {runs && " In the sandbox you need not wait: form the batches now, or advance the clock."}
              </Empty>
            )
          }
        />
      </div>
    </Frame>
  );
}

function amountOf({ currency, exponent }: Settlement, minor: number) {
  return { amount_minor: minor, currency, exponent };
}
