// What is paid out when: batches on their way, and the next one.
import { usePlace } from "../../api/place.ts";
import type { Schema } from "../../api/types.ts";
import { paths, withSearch } from "../../paths.ts";
import { To } from "../../ui/link.tsx";
import { Money, digitsOf } from "../../ui/money.tsx";
import { Section } from "../../ui/page.tsx";
import { Day, Time } from "../../ui/time.tsx";
import { useLanguage } from "../../words.ts";

type Paid = Schema<"Payouts">;

export function Payouts({
  of: { batches, has_more: hasMore, next, next_run_at: nextRun, next_payout_date: nextDay },
}: {
  of: Paid;
}) {
  const place = usePlace();
  const language = useLanguage();
  return (
    <Section title="Paid out next">
      <ul className="divide-y divide-line rounded-md border border-line bg-panel">
        {batches.map((batch) => (
          <li key={batch.uuid} className="flex flex-wrap items-center gap-x-3 px-4 py-2">
            <To
              to={paths.settlement(place, batch.uuid)}
              className="inline-flex min-h-6 items-center font-medium hover:underline"
            >
              <Day on={batch.payout_date} />
            </To>
            {batch.is_late ? (
              <span className="text-warn">late, not paid out yet</span>
            ) : (
              <span className="text-muted">on its way</span>
            )}
            <Money of={batch} className="ml-auto" />
          </li>
        ))}
        {hasMore && (
          <li className="px-4 py-2">
            <To to={withSearch(paths.settlements(place), { status: "processing" })} className="link">
              All that are on their way
            </To>
          </li>
        )}
        {nextDay !== null &&
          next.map((payout) => (
            <li key={payout.currency} className="flex flex-wrap items-center gap-x-3 px-4 py-2">
              <span className="inline-flex min-h-6 items-center font-medium">
                <Day on={nextDay} />
              </span>
              <span className="text-muted">
                the next batch,{" "}
                {payout.payments === 1 ? "1 payment" : `${digitsOf(payout.payments, 0, language)} payments`} so far
              </span>
              <span className="ml-auto">
                {payout.is_least && <span className="mr-1 text-muted">at least</span>}
                <Money of={payout} />
              </span>
            </li>
          ))}
        <li className="px-4 py-2 text-muted">
          {nextRun === null || nextDay === null ? (
            <>A batch is planned when there is something to pay out.</>
          ) : (
            <>
              The next batch is formed <Time at={nextRun} shape="minute" /> and paid out on <Day on={nextDay} />. It
              includes what is due by then.
            </>
          )}
        </li>
      </ul>
    </Section>
  );
}
