// The batches of all merchants that are or were paid out on one day.
import { usePart } from "../../../address.ts";
import { withSearch } from "../../../paths.ts";
import { Empty } from "../../../ui/empty.tsx";
import { Filters, choice, text, useFilters } from "../../../ui/filters.tsx";
import { ButtonLink } from "../../../ui/button.tsx";
import { useCursor, useList } from "../../../ui/list.ts";
import { Money } from "../../../ui/money.tsx";
import { Page as Frame } from "../../../ui/page.tsx";
import { Status } from "../../../ui/status.tsx";
import { type Column, Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { type Schema, read } from "../../api/client.ts";
import { at } from "../../paths.ts";
import { EnvironmentSwitch, useEnvironment } from "./environment.tsx";
import { plusDays } from "./days.ts";

type Payout = Schema<"Payout">;

// The names are those of the API's query.
const spec = { status: choice("Status", ["processing", "paid", "failed"]), currency: text("Currency", "IDR") };

const columns: Column<Payout>[] = [
  { head: "Merchant", cell: ({ merchant_name: name }) => <span className="wrap-anywhere">{name}</span> },
  { head: "Status", cell: ({ status }) => <Status status={status} /> },
  { head: "Net", align: "right", cell: (batch) => <Money of={{ ...batch, amount_minor: batch.net_minor }} /> },
  { head: "Payments", align: "right", from: "full", cell: ({ payment_count: count }) => count },
  { head: "Bank reference", from: "full", cell: ({ bank_reference: reference }) => reference },
  {
    head: "Paid",
    align: "right",
    from: "wide",
    cell: ({ paid_at: paid }) => paid !== null && <Time at={paid} shape="minute" />,
  },
];

const isDay = (text: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text));
const titles = new Intl.DateTimeFormat("en-GB", {
  weekday: "long",
  day: "numeric",
  month: "long",
  year: "numeric",
  timeZone: "UTC",
});

export function Page() {
  const day = usePart("day");
  const environment = useEnvironment();
  const filters = useFilters(spec);
  const cursor = useCursor();
  const value = { environment, payout_date: day, ...filters.value, currency: filters.value.currency?.toUpperCase() };
  const list = useList(read("/v1/settlements", { query: { ...value, ...cursor.query } }));
  return (
    <Frame
      title={isDay(day) ? titles.format(new Date(`${day}T00:00:00Z`)) : "Payouts of a day"}
      above={{ to: at.calendar(environment), label: "Settlements" }}
      lead={`Batches of all merchants in ${environment} with payouts on this day, newest first.`}
      actions={
        <>
          {isDay(day) && (
            <>
              <ButtonLink to={at.payouts(plusDays(day, -1), environment)}>← Day before</ButtonLink>
              <ButtonLink to={at.payouts(plusDays(day, 1), environment)}>Day after →</ButtonLink>
            </>
          )}
          <EnvironmentSwitch of={environment} to={(other) => at.payouts(day, other)} />
        </>
      }
      curl={{ path: withSearch("/v1/settlements", value) }}
    >
      <div>
        <Filters of={filters} />
        <Table
          label="Batches"
          list={list}
          cursor={cursor}
          columns={columns}
          id={(batch) => batch.uuid}
          to={(batch) => at.settlement(batch.merchant_id, batch.environment, batch.uuid)}
          empty={
            filters.isSet ? (
              <Empty title="No batch matches">Change the filters, or clear them.</Empty>
            ) : (
              <Empty title="No batches on this day">
                A batch appears here once it is formed. The calendar shows what is still to come.
              </Empty>
            )
          }
        />
      </div>
    </Frame>
  );
}
