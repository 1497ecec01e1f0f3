// The wall's plots: payments, requests, lanes, deliveries and processes over the period, as high as there is room.
import { Suspense, lazy, useEffect, useMemo, useRef, useState } from "react";
import { useTheme } from "../../../shell/theme.ts";
import { type PlotSeries, strokeOf } from "../../../ui/plot.tsx";
import type { WallPicture } from "./live.ts";
import { count, milliseconds } from "./words.ts";

const Canvas = lazy(() => import("../../../ui/plot-canvas.tsx"));

const rates = (value: number): string => `${count(value)}/s`;

/** Commands that go together; null where nothing was written. */
const perBatch = (commands: readonly (number | null)[], batches: readonly (number | null)[]): (number | null)[] =>
  commands.map((value, at) => {
    const all = batches[at] ?? 0;
    return value === null || all === 0 ? null : value / all;
  });

export function Plots({ of }: { of: WallPicture }) {
  const { at, payments, measured, acquirers } = of;
  const { points } = payments;
  // The span that still runs has less in it than it will have: a line would seem to fall.
  const over = useMemo(() => at.slice(0, -1), [at]);
  const plots = useMemo(() => {
    const done = (values: readonly (number | null)[]) => values.slice(0, -1);
    const sum = (name: "calls" | "failed") =>
      done(at.map((_, span) => acquirers.reduce((total, one) => total + (one[name][span] ?? 0), 0)));
    const line = (label: string, values: readonly (number | null)[]): PlotSeries => ({ label, values: done(values) });
    return [
      {
        label: "Payments",
        format: count,
        series: [
          line("asked", points.asked),
          line("succeeded", points.succeeded),
          line(
            "failed, rejected",
            points.failed.map((value, span) => value + (points.rejected[span] ?? 0)),
          ),
        ],
      },
      {
        label: "Succeeded, by method",
        format: count,
        stacked: true,
        series: payments.by_method.slice(0, 5).map(({ key, succeeded }) => line(key.replaceAll("_", " "), succeeded)),
      },
      {
        label: "Requests a second",
        format: rates,
        series: [
          line("all", measured.requests_per_second),
          line("rejected", measured.rejected_per_second),
          line("failed", measured.failed_per_second),
        ],
      },
      {
        label: "Time, 95th percentile",
        format: milliseconds,
        series: [line("request", measured.request_p95_ms), line("commit", measured.commit_p95_ms)],
      },
      {
        label: "Lanes",
        format: count,
        series: [
          line("queue", measured.lane_queue),
          line("batch size", perBatch(measured.commands_per_second, measured.batches_per_second)),
        ],
      },
      {
        label: "Acquirers",
        format: count,
        series: [
          { label: "calls", values: sum("calls") },
          { label: "failed", values: sum("failed") },
        ],
      },
      {
        label: "Deliveries",
        format: milliseconds,
        series: [line("first try, 95th percentile", measured.delivery_lag_p95_ms)],
      },
      {
        label: "Processes",
        format: milliseconds,
        series: [line("event loop", measured.loop_lag_ms), line("clock skew", measured.clock_skew_ms)],
      },
    ];
  }, [at, points, payments, measured, acquirers]);
  return (
    <div className="grid min-h-0 flex-1 auto-rows-[minmax(11rem,1fr)] gap-3 md:grid-cols-2 2xl:grid-cols-4">
      {plots.map((plot) => (
        <WallPlot key={plot.label} at={over} {...plot} />
      ))}
    </div>
  );
}

interface WallPlotProps {
  label: string;
  at: readonly string[];
  series: readonly PlotSeries[];
  format: (value: number) => string;
  stacked?: boolean;
}

function WallPlot({ label, at, series, format, stacked = false }: WallPlotProps) {
  const { shown: theme } = useTheme();
  const { place, height } = useHeight();
  return (
    <figure className="flex min-h-0 min-w-0 flex-col rounded-md border border-line bg-panel px-3 pt-2 pb-1">
      <figcaption className="flex flex-wrap items-baseline gap-x-3">
        <span className="text-[clamp(0.8125rem,0.85vw,1.125rem)] font-medium">{label}</span>
        <span className="ml-auto flex flex-wrap gap-x-3">
          {series.map((one, index) => (
            <span key={one.label} className="inline-flex items-center gap-1 text-xs text-muted">
              <i
                aria-hidden="true"
                className={stacked ? "size-2.5 rounded-xs" : "h-0.5 w-3"}
                style={{ background: strokeOf(index, stacked) }}
              />
              {one.label}
            </span>
          ))}
        </span>
      </figcaption>
      <p className="sr-only">{series.map((one) => inWords(one, format)).join(". ")}</p>
      <div ref={place} aria-hidden="true" className="min-h-0 flex-1 overflow-hidden">
        {height > 0 && (
          <Suspense fallback={null}>
            <Canvas
              key={theme}
              label={label}
              at={at}
              series={series}
              format={format}
              height={height}
              kind={stacked ? "bars" : "lines"}
              stacked={stacked}
            />
          </Suspense>
        )}
      </div>
    </figure>
  );
}

/** For who cannot see the drawing: the latest value, and the highest. */
function inWords({ label, values }: PlotSeries, format: (value: number) => string): string {
  const known = values.filter((value) => value !== null);
  const last = known.at(-1);
  if (last === undefined) return `${label}: no measurements`;
  return `${label}: ${format(last)}, at most ${format(Math.max(...known))}`;
}

/** How high an element is, as it grows and shrinks. */
function useHeight() {
  const place = useRef<HTMLDivElement>(null);
  const [height, setHeight] = useState(0);
  useEffect(() => {
    const element = place.current;
    if (!element) return undefined;
    const watcher = new ResizeObserver(() => setHeight(Math.floor(element.clientHeight)));
    watcher.observe(element);
    return () => watcher.disconnect();
  }, []);
  return { place, height };
}
