// The statement of a month in one currency: what was there, what came and went, what is there. To read, to print, and as CSV.
import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import { usePart, useQueryText, useSetQuery } from "../../../address.ts";
import { useApi, useMembership, usePlace } from "../../../api/place.ts";
import type { Schema } from "../../../api/types.ts";
import { paths } from "../../../paths.ts";
import { Answer } from "../../../ui/answer.tsx";
import { Button } from "../../../ui/button.tsx";
import { classes } from "../../../ui/classes.ts";
import { dayBegin, dayEnd } from "../../../ui/days.ts";
import { save } from "../../../ui/download.ts";
import { ErrorFace, useErrorShown } from "../../../ui/face.tsx";
import { digitsOf } from "../../../ui/money.tsx";
import { Page as Frame } from "../../../ui/page.tsx";
import { Time } from "../../../ui/time.tsx";
import { useLanguage } from "../../../words.ts";
import { type Line, lastDayOf, linesOf, monthsUpTo, statementCsv } from "./statement-lines.ts";

type Statement = Schema<"OwnedStatement">;

/** Three years back; the address takes any month. */
const MONTHS_SHOWN = 36;

export function Page() {
  const place = usePlace();
  const currency = usePart("currency");
  // The merchant's days rather than the reader's: whoever closes a month and whoever checks it see the same figures.
  const timeZone = useMembership()?.statement_time_zone;
  // The sandbox's clock may be ahead: the present month is that of the book.
  const balances = useQuery(useApi().read("/v1/balances"));
  const error = useErrorShown(balances);
  if (timeZone === undefined) return null;
  if (error && !balances.data)
    return (
      <Frame title={`Statement in ${currency}`} above={{ to: paths.balances(place), label: "Balances" }}>
        <ErrorFace error={error} retry={() => balances.refetch()} />
      </Frame>
    );
  return (
    <Answer of={balances}>
      {({ as_of: now }) => (
        <OfMonth key={`${place.merchant} ${currency}`} now={now} currency={currency} timeZone={timeZone} />
      )}
    </Answer>
  );
}

function OfMonth({ now, currency, timeZone }: { now: string; currency: string; timeZone: string }) {
  const place = usePlace();
  const api = useApi();
  const setQuery = useSetQuery();
  const months = monthsUpTo(now, timeZone, MONTHS_SHOWN);
  const { month: asked = "" } = useQueryText();
  const [current = ""] = months;
  // What is no month, as of a mistyped address, is the current one.
  const month = /^\d{4}-(0[1-9]|1[0-2])$/.test(asked) ? asked : current;
  const isOver = month < current;
  const query = { from: dayBegin(`${month}-01`, timeZone), to: dayEnd(lastDayOf(month), timeZone) };
  const statement = useQuery(api.read("/v1/statements/{currency}", { path: { currency }, query }));
  const name = useMonthName();
  const shown = statement.data;
  return (
    <Frame
      title={`Statement of ${name(month)} in ${currency}`}
      above={{ to: paths.balances(place), label: "Balances" }}
      lead={
        <>
          What was yours at the start of the month, what came in and went out, and what was yours at the end. Days are
          in {timeZone}.
          {!isOver && (
            <>
              {" "}
              The month is not over: these are the figures so far, as of{" "}
              <Time at={now} shape="minute" timeZone={timeZone} />.
            </>
          )}
        </>
      }
      actions={
        <>
          <MonthField months={months.includes(month) ? months : [month, ...months]} month={month} set={setQuery} />
          {shown && <Button onClick={() => window.print()}>Print</Button>}
          {shown && (
            <Button
              onClick={() => {
                const file = new Blob([statementCsv(shown, timeZone)], { type: "text/csv" });
                const of = isOver ? month : `${month}-so-far`;
                save(file, `statement-${place.environment}-${currency}-${of}-${timeZone.replaceAll("/", "-")}.csv`);
              }}
            >
              Download CSV
            </Button>
          )}
        </>
      }
    >
      <Answer of={statement}>{(statement) => <Equation of={statement} timeZone={timeZone} />}</Answer>
    </Frame>
  );
}

function useMonthName(): (month: string) => string {
  const format = new Intl.DateTimeFormat(useLanguage() === "id" ? "id-ID" : "en-GB", {
    month: "long",
    year: "numeric",
    timeZone: "UTC",
  });
  return (month) => {
    const begins = new Date(`${month}-01T00:00:00Z`);
    return Number.isNaN(begins.getTime()) ? month : format.format(begins);
  };
}

interface MonthFieldProps {
  months: readonly string[];
  month: string;
  set: (query: { month: string }) => void;
}

function MonthField({ months, month, set }: MonthFieldProps) {
  const id = useId();
  const name = useMonthName();
  return (
    <span>
      <label htmlFor={id} className="sr-only">
        Month
      </label>
      <select id={id} className="field" value={month} onChange={(event) => set({ month: event.target.value })}>
        {months.map((one) => (
          <option key={one} value={one}>
            {name(one)}
          </option>
        ))}
      </select>
    </span>
  );
}

const columns = [
  ["available", "Available"],
  ["held", "Held"],
  ["onItsWay", "On its way"],
  ["total", "In all"],
] as const;

function Equation({ of: statement, timeZone }: { of: Statement; timeZone: string }) {
  const language = useLanguage();
  const { currency, exponent } = statement;
  const digits = (minor: bigint | undefined): string =>
    minor === undefined ? "beyond 2^53 − 1" : digitsOf(minor, exponent, language);
  const lines = linesOf(statement);
  const closing = lines.at(-1);
  const wide = "hidden roomy:table-cell";
  return (
    <div className="@container">
      <div className="overflow-x-auto rounded-md border border-line bg-panel px-4 py-2">
        <table aria-label="The statement" className="w-full">
          <thead className="text-xs text-muted">
            <tr>
              <th scope="col" className="py-1.5 text-left font-medium">
                {currency}
              </th>
              <th scope="col" className={`py-1.5 pl-4 text-right font-medium ${wide}`}>
                How often
              </th>
              {columns.map(([key, label]) => (
                <th
                  key={key}
                  scope="col"
                  className={`py-1.5 pl-4 text-right font-medium ${key === "total" ? "" : wide}`}
                >
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {lines.map((line) => (
              <tr
                key={line.name}
                className={classes("border-t border-line", isEnd(line) && "font-semibold", roomOf(line))}
              >
                <th scope="row" className={classes("py-1.5 text-left", !isEnd(line) && "font-normal")}>
                  {line.label}
                  {line.count !== undefined && (
                    <span className="ml-1.5 text-muted roomy:hidden">{digitsOf(line.count, 0, language)}</span>
                  )}
                </th>
                <td className={`py-1.5 pl-4 text-right text-muted ${wide}`}>
                  {line.count !== undefined && digitsOf(line.count, 0, language)}
                </td>
                {columns.map(([key]) => (
                  <td
                    key={key}
                    className={classes(
                      "py-1.5 pl-4 text-right whitespace-nowrap",
                      key !== "total" && wide,
                      line[key] === 0n && !isEnd(line) && "text-muted",
                    )}
                  >
                    {digits(line[key])}
                  </td>
                ))}
              </tr>
            ))}
            {/* A narrow table has no room for the columns: of the end it says what they have. */}
            {columns.slice(0, -1).map(([key, label]) => (
              <tr key={key} className="text-muted roomy:hidden">
                <th scope="row" className="py-1 pl-4 text-left font-normal">
                  of it {label.toLowerCase()}
                </th>
                <td className="py-1 pl-4 text-right whitespace-nowrap">{digits(closing?.[key])}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="mt-2 text-xs text-muted">
        From <Time at={statement.from} shape="minute" timeZone={timeZone} /> until{" "}
        <Time at={statement.before} shape="minute" timeZone={timeZone} />. Every column adds up: the figures come
        straight from the ledger.
      </p>
    </div>
  );
}

const isEnd = ({ name }: Line): boolean => name === "opening" || name === "closing";

/** Lines that move money from one figure to another add nothing in all: a narrow table leaves them out. */
const roomOf = (line: Line): string => (line.total === 0n && !isEnd(line) ? "hidden roomy:table-row" : "");
