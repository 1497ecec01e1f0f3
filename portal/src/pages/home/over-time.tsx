// Payments over time: what came in by method, and how they ended, by outcome and acquirer. The span is in the address.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useApi } from "../../api/place.ts";
import type { Schema } from "../../api/types.ts";
import { Answer } from "../../ui/answer.tsx";
import { choice, useFilters } from "../../ui/filters.tsx";
import { wholeDigitsOf } from "../../ui/money.tsx";
import { Section } from "../../ui/page.tsx";
import { Plot } from "../../ui/plot.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { useTimeZone } from "../../ui/time.tsx";
import { useLanguage } from "../../words.ts";
import { Division } from "./division.tsx";
import { Spans } from "./spans.tsx";

type Over = Schema<"PaymentsOverTime">;

const spec = { range: choice("Span", ["day", "month", "quarter"]) };
type By = "method" | "outcome" | "acquirer";

export function OverTime({ currencies }: { currencies: readonly string[] }) {
  const filters = useFilters(spec);
  return (
    <Section
      title="Payments over time"
      actions={<Spans value={filters.value.range} choose={(range) => filters.set({ range })} />}
    >
      <div className="space-y-6">
        {currencies.map((currency) => (
          <OfCurrency key={currency} currency={currency} range={filters.value.range ?? "week"} />
        ))}
      </div>
    </Section>
  );
}

type Range = "day" | "week" | "month" | "quarter";

function useOver(currency: string, range: Range, by: By) {
  const api = useApi();
  const timeZone = useTimeZone();
  return useQuery({
    ...api.read("/v1/insights/payments", { query: { range, by, currency, time_zone: timeZone } }),
    placeholderData: keepPreviousData,
  });
}

function OfCurrency({ currency, range }: { currency: string; range: Range }) {
  const methods = useOver(currency, range, "method");
  const outcomes = useOver(currency, range, "outcome");
  const acquirers = useOver(currency, range, "acquirer");
  return (
    <>
      <Answer of={methods} skeleton={<Skeleton className="h-80 w-full" />}>
        {(over) => <CameIn over={over} />}
      </Answer>
      <div className="grid gap-6 lg:grid-cols-2">
        <Answer of={outcomes} skeleton={<Skeleton className="h-48 w-full" />}>
          {(over) => <Division over={over} by="outcome" />}
        </Answer>
        <Answer of={acquirers} skeleton={<Skeleton className="h-48 w-full" />}>
          {(over) => <Division over={over} by="acquirer" />}
        </Answer>
      </div>
    </>
  );
}

function CameIn({ over: { at, data, currency, exponent } }: { over: Over }) {
  const language = useLanguage();
  // The plot is drawn anew when these change, and not at every look at the clock.
  const series = useMemo(
    () =>
      data
        .filter(({ total }) => total.succeeded > 0)
        .map(({ key, points }) => ({
          label: key.replaceAll("_", " "),
          values: points.map(({ amount_minor: minor }) => minor),
        })),
    [data],
  );
  const format = useMemo(
    () => (minor: number) => `${currency} ${wholeDigitsOf(Math.round(minor), exponent, language)}`,
    [currency, exponent, language],
  );
  const axis = useMemo(() => {
    const short = new Intl.NumberFormat(language, { notation: "compact", maximumFractionDigits: 1 });
    return (minor: number) => short.format(minor / 10 ** exponent);
  }, [language, exponent]);
  return (
    <Plot
      label={`What came in, ${currency}, by method`}
      at={at}
      series={series}
      format={format}
      axis={axis}
      kind="bars"
      stacked
    />
  );
}
