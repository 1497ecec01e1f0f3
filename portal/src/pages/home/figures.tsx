// The figures of one currency: today, the week, and what is yours.
import type { ReactNode } from "react";
import { usePlace } from "../../api/place.ts";
import type { Schema } from "../../api/types.ts";
import { paths } from "../../paths.ts";
import { To } from "../../ui/link.tsx";
import { Money, digitsOf } from "../../ui/money.tsx";
import { useLanguage } from "../../words.ts";

type Currency = Schema<"CurrencyFigures">;
type Period = Schema<"PeriodFigures">;

interface SumProps {
  of: { amount_minor: number | null; currency: string; exponent: number };
  className?: string | undefined;
}

/** A sum of amounts, which may be more than a number can hold exactly. */
export function Sum({ of: { amount_minor, ...money }, className }: SumProps) {
  return amount_minor === null ? (
    "beyond what can be shown"
  ) : (
    <Money of={{ amount_minor, ...money }} className={className} />
  );
}

export function Figures({ of }: { of: Currency }) {
  const place = usePlace();
  const { currency, exponent, balance, today, yesterday, week } = of;
  const sum = (amount_minor: number | null, className?: string): ReactNode => (
    <Sum of={{ amount_minor, currency, exponent }} className={className} />
  );
  return (
    <section aria-label={`${currency} at a glance`}>
      <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-md border border-line bg-line lg:auto-cols-fr lg:grid-flow-col lg:grid-cols-none">
        <Figure name="Today" note={<Ended of={today} />}>
          {sum(today.amount_minor, BIG)}
        </Figure>
        <Figure name="Yesterday" note={<Ended of={yesterday} />}>
          {sum(yesterday.amount_minor, BIG)}
        </Figure>
        <Figure name="Seven days" note={<Ended of={week} />}>
          {sum(week.amount_minor, BIG)}
        </Figure>
        {balance && (
          <Figure
            name={
              <To to={paths.balance(place, currency)} className="hover:underline">
                Available
              </To>
            }
            note={
              <>
                {balance.pending_settlement_minor !== 0 && (
                  <div>{sum(balance.pending_settlement_minor)} on its way</div>
                )}
                <div>{balance.held_minor === 0 ? "nothing held" : <>{sum(balance.held_minor)} held</>}</div>
              </>
            }
          >
            {sum(balance.available_minor, BIG)}
          </Figure>
        )}
      </dl>
    </section>
  );
}

// A long amount goes below its currency where both have no room beside each other.
const BIG = "inline-flex flex-wrap items-baseline text-lg font-semibold max-sm:text-base";

function Figure({ name, note, children }: { name: ReactNode; note: ReactNode; children: ReactNode }) {
  return (
    <div className="bg-panel px-4 py-3 last:odd:max-lg:col-span-2 max-sm:px-3">
      <dt className="text-xs text-muted">{name}</dt>
      <dd className="mt-0.5">{children}</dd>
      <dd className="text-xs text-muted">{note}</dd>
    </div>
  );
}

function Ended({ of: { payments, succeeded } }: { of: Period }) {
  const language = useLanguage();
  if (payments === 0) return <>no payments</>;
  return (
    <>
      {digitsOf(succeeded, 0, language)} paid of {digitsOf(payments, 0, language)} ·{" "}
      {shareOf(succeeded, payments, language)}
    </>
  );
}

/** "87.5 %": never 100 where one is missing, nor 0 where there is one. */
export function shareOf(part: number, whole: number, language: "en" | "id"): string {
  if (whole === 0) return "–";
  const tenths = Math.round((part / whole) * 1_000);
  if (tenths === 1_000 && part < whole) return `> ${digitsOf(999, 1, language)} %`;
  if (tenths === 0 && part > 0) return `< ${digitsOf(1, 1, language)} %`;
  return `${digitsOf(tenths, 1, language).replace(/[.,]0$/, "")} %`;
}
