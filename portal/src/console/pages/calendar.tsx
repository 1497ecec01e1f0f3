// Payouts of all merchants as a calendar: what was paid in the past month, what the bank has to pay, and what is to come.
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { Answer } from "../../ui/answer.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Page as Frame } from "../../ui/page.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { useTimeZone } from "../../ui/time.tsx";
import { withSearch } from "../../paths.ts";
import { read } from "../api/client.ts";
import { at } from "../paths.ts";
import { EnvironmentSwitch, useEnvironment } from "./calendar/environment.tsx";
import { todayIn, weeksAround } from "./calendar/days.ts";
import { Month } from "./calendar/month.tsx";
import { Totals } from "./calendar/totals.tsx";

export function Page() {
  const environment = useEnvironment();
  const today = todayIn(useTimeZone());
  const weeks = useMemo(() => weeksAround(today), [today]);
  const query = { environment, from: weeks[0]?.[0] ?? today, to: weeks.at(-1)?.at(-1) ?? today };
  const calendar = useQuery({ ...read("/v1/settlements/calendar", { query }), refetchInterval: 60_000 });
  return (
    <Frame
      title="Settlements"
      lead="What was and will be paid out on each day, for all merchants. Days follow each merchant's own calendar."
      actions={<EnvironmentSwitch of={environment} to={at.calendar} />}
      curl={{ path: withSearch("/v1/settlements/calendar", query) }}
    >
      <Answer of={calendar} skeleton={<Skeleton className="h-[40rem] w-full" />}>
        {(calendar) => (
          <>
            {calendar.days.length === 0 && (
              <Empty title="No payouts in these weeks">
                Payments that succeeded are gathered into batches by each merchant's calendar; a batch appears on the
                day when the bank is due to pay it.
              </Empty>
            )}
            <Totals days={calendar.days} today={today} />
            <Month of={calendar} weeks={weeks} today={today} />
          </>
        )}
      </Answer>
    </Frame>
  );
}
