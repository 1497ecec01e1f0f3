// What moved an account of a book over a period, with the balance at both ends, to read or to take along as CSV.
import { useQuery } from "@tanstack/react-query";
import { usePart, useQueryText } from "../../../address.ts";
import { useAction } from "../../../api/action.ts";
import { Digits } from "../../../pages/balances/digits.tsx";
import { withSearch } from "../../../paths.ts";
import { Button } from "../../../ui/button.tsx";
import { dayBegin, dayEnd } from "../../../ui/days.ts";
import { save } from "../../../ui/download.ts";
import { Empty } from "../../../ui/empty.tsx";
import { ErrorNote } from "../../../ui/face.tsx";
import { Fact, Facts } from "../../../ui/facts.tsx";
import { Filters, day, useFilters } from "../../../ui/filters.tsx";
import { useCursor } from "../../../ui/list.ts";
import { Page as Frame } from "../../../ui/page.tsx";
import { Table } from "../../../ui/table.tsx";
import { Day, useTimeZone } from "../../../ui/time.tsx";
import { download, read } from "../../api/client.ts";
import { at } from "../../paths.ts";
import { monthSoFar, todayIn } from "../calendar/days.ts";
import { useBook } from "../merchants/book.tsx";
import { entryColumns } from "./columns.tsx";

const spec = { from: day("From", "begin"), to: day("To", "end") };

export function Page() {
  const { id, environment } = useBook();
  const currency = usePart("currency");
  const { account = "merchant:available" } = useQueryText();
  const filters = useFilters(spec);
  const cursor = useCursor();
  const timeZone = useTimeZone();
  const thisMonth = monthSoFar(todayIn(timeZone));
  const { from = thisMonth.from, to = thisMonth.to } = filters.chosen;
  const period = { account, from: dayBegin(from, timeZone), to: dayEnd(to, timeZone) };
  const address = `/v1/merchants/${id}/books/${environment}/balances/${encodeURIComponent(currency)}/statement`;
  const statement = useQuery({
    ...read("/v1/merchants/{id}/books/{environment}/balances/{currency}/statement", {
      path: { id, environment, currency },
      query: { ...period, ...cursor.query },
    }),
    select: (shown) => ({ ...shown, data: shown.movements }),
  });
  const csv = useAction(
    async () => {
      const file = await download(withSearch(`${address}.csv`, period));
      save(file, `statement-${id}-${environment}-${account.replaceAll(":", "-")}-${currency}-${from}-${to}.csv`);
      return true;
    },
    { refresh: ["nothing"] },
  );
  const shown = statement.data;
  return (
    <Frame
      title={`Statement of ${account} in ${currency}`}
      above={{ to: at.entries(id, environment, currency, account), label: `${account} in ${currency}` }}
      lead={
        <>
          What moved the account from <Day on={from} /> to <Day on={to} />, whole days in {timeZone}, oldest first.
          Debits are positive.
        </>
      }
      actions={<Button onClick={() => csv.run(undefined)}>Download CSV</Button>}
      curl={{ path: withSearch(address, period) }}
    >
      <div>
        <Filters of={{ ...filters, chosen: { from, to } }} />
        {csv.error && <ErrorNote error={csv.error} />}
        {shown && (
          <div className="mb-4">
            <Facts>
              <Fact name="When it begins">
                <span className="mr-1 text-xs text-muted">{currency}</span>
                <Digits minor={shown.opening_minor} exponent={shown.exponent} />
              </Fact>
              <Fact name="When it ends">
                <span className="mr-1 text-xs text-muted">{currency}</span>
                <Digits minor={shown.closing_minor} exponent={shown.exponent} />
              </Fact>
            </Facts>
          </div>
        )}
        <Table
          label="Movements"
          list={statement}
          cursor={cursor}
          oldestFirst
          columns={entryColumns(currency, shown?.exponent ?? 2)}
          id={(entry) => entry.id}
          empty={<Empty title="No movements in this period">Choose another period above.</Empty>}
        />
      </div>
    </Frame>
  );
}
