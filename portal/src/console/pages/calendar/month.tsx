// The calendar itself: weeks below each other on a screen, and days below each other on a phone. A day with payouts leads to its batches.
import { useMemo } from "react";
import { classes } from "../../../ui/classes.ts";
import { To } from "../../../ui/link.tsx";
import { Day } from "../../../ui/time.tsx";
import type { Schema } from "../../api/client.ts";
import { at } from "../../paths.ts";
import { Lines, linesOf } from "./lines.tsx";

interface Props {
  of: Schema<"SettlementCalendar">;
  weeks: readonly (readonly string[])[];
  today: string;
}

const weekdays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"] as const;
const ofMonth = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
const whole = new Intl.DateTimeFormat("en-GB", { weekday: "long", day: "numeric", month: "long", timeZone: "UTC" });
const dateOf = (day: string): Date => new Date(`${day}T00:00:00Z`);
const LINES_MAX = 4;

export function Month({ of, weeks, today }: Props) {
  const days = useMemo(() => new Map(of.days.map((day) => [day.day, linesOf(day, today)])), [of, today]);
  return (
    <>
      <table className="-mx-1 hidden w-[calc(100%+0.5rem)] table-fixed border-separate border-spacing-1 md:table">
        <caption className="sr-only">Payouts by day</caption>
        <thead>
          <tr>
            {weekdays.map((weekday) => (
              <th key={weekday} scope="col" className="px-2 text-left text-xs font-medium text-muted">
                <abbr title={weekday} className="no-underline">
                  {weekday.slice(0, 3)}
                </abbr>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeks.map((week) => (
            <tr key={week[0]}>
              {week.map((day) => (
                <td key={day} aria-current={day === today ? "date" : undefined} className="h-20 p-0 align-top">
                  <Cell day={day} today={today} environment={of.environment} lines={days.get(day) ?? []} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <ul aria-label="Payouts by day" className="divide-y divide-line rounded-md border border-line bg-panel md:hidden">
        {weeks
          .flat()
          .filter((day) => days.has(day) || day === today)
          .toReversed()
          .map((day) => (
            <li key={day} className={classes("px-4 py-2", day === today && "bg-chosen")}>
              <To
                to={at.payouts(day, of.environment)}
                className="inline-flex min-h-8 items-center font-medium hover:underline"
              >
                <Day on={day} />
                {day === today && <span className="ml-2 text-muted">today</span>}
              </To>
              <Lines of={days.get(day) ?? []} most={Infinity} isWide />
            </li>
          ))}
      </ul>
    </>
  );
}

interface CellProps {
  day: string;
  today: string;
  environment: Schema<"Environment">;
  lines: ReturnType<typeof linesOf>;
}

function Cell({ day, today, environment, lines }: CellProps) {
  const isFirst = day.endsWith("-01");
  const number = (
    <span className={classes("text-xs", day === today ? "font-semibold text-accent" : "text-muted")}>
      {isFirst || day === today ? ofMonth.format(dateOf(day)) : Number(day.slice(8))}
      {day === today && " · today"}
    </span>
  );
  const shape = classes(
    "flex h-full min-h-20 flex-col gap-0.5 rounded border px-2 py-1.5",
    day === today ? "border-accent" : "border-line",
    lines.length > 0 ? "bg-panel" : "bg-transparent",
  );
  if (lines.length === 0) return <div className={shape}>{number}</div>;
  return (
    <To to={at.payouts(day, environment)} className={classes(shape, "text-ink no-underline hover:bg-hover")}>
      <span className="sr-only">
        {whole.format(dateOf(day))}
        {day === today && ", today"}:{" "}
      </span>
      <span aria-hidden="true">{number}</span>
      <Lines of={lines} most={LINES_MAX} isWide={false} />
    </To>
  );
}
