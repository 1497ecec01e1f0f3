// Draws a plot with uPlot. A separate file, so that only pages with plots load uPlot.
import { useEffect, useRef } from "react";
import "./browser-language.ts"; // before uPlot
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useTimeZone } from "./time.tsx";
import { useLanguage } from "../words.ts";
import { loneValues } from "./lone-values.ts";
import { type PlotProps, strokeOf } from "./plot.tsx";

export default function PlotCanvas(props: PlotProps) {
  const { at, series, format, axis: short = format, kind = "lines", stacked = false, height = 220 } = props;
  const language = useLanguage();
  const place = useRef<HTMLDivElement>(null);
  const timeZone = useTimeZone();
  useEffect(() => {
    const element = place.current;
    if (!element) return undefined;
    const styles = getComputedStyle(document.documentElement);
    // A canvas cannot use CSS variables, so they are resolved here.
    const colour = (text: string): string =>
      text.replaceAll(/var\((--\w+)\)/g, (_, name: string) => styles.getPropertyValue(name).trim());
    const times = at.map((instant) => Date.parse(instant) / 1000);
    const step = (times[1] ?? 0) - (times[0] ?? 0);
    const clock = new Intl.DateTimeFormat(language === "id" ? "id-ID" : "en-GB", {
      timeZone,
      ...(step >= 20 * 3600 ? { day: "numeric", month: "short" } : { hour: "2-digit", minute: "2-digit" }),
    });
    const axis = {
      stroke: colour("var(--muted)"),
      font: "12px Plex",
      grid: { stroke: colour("var(--line)"), width: 1 },
      ticks: { show: false },
    };
    const drawn = stacked ? onTop(series) : series.map((one, index) => ({ ...one, values: [...one.values], index }));
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height,
        tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), timeZone),
        legend: { show: false },
        cursor: { drag: { x: false, y: false }, points: { size: 6 } },
        scales: {
          // Half a step of space at both ends, so that no bar is cut.
          x: { range: (_plot, low, high) => (kind === "bars" ? [low - step / 2, high + step / 2] : [low, high]) },
          y: { range: (_plot, low, high) => [Math.min(0, low ?? 0), high > 0 ? high * 1.1 : 1] },
        },
        axes: [
          {
            ...axis,
            grid: { show: false },
            size: 30,
            splits: (plot) => marks(times, plot.width),
            values: (_plot, ticks) => ticks.map((seconds) => clock.format(seconds * 1000)),
          },
          { ...axis, size: 72, values: (_plot, ticks) => ticks.map((value) => short(value)) },
        ],
        series: [
          {},
          ...drawn.map(({ label, values, index }) => ({
            label,
            stroke: colour(strokeOf(index, stacked)),
            width: 1.5,
            points: {
              show: false,
              filter: kind === "lines" ? () => loneValues(values) : null,
              size: 4,
              fill: colour(strokeOf(index, stacked)),
            },
            ...(kind === "bars" && uPlot.paths.bars
              ? {
                  paths: uPlot.paths.bars({ size: [0.7, 40] }),
                  fill: colour(strokeOf(index, stacked)),
                  width: 0,
                }
              : {}),
          })),
        ],
        plugins: [tooltip(series, format)],
      },
      [times, ...drawn.map(({ values }) => values)] as uPlot.AlignedData,
      element,
    );
    const watcher = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    watcher.observe(element);
    return () => {
      watcher.disconnect();
      plot.destroy();
    };
  }, [at, series, format, short, kind, stacked, height, timeZone, language]);
  return <div ref={place} className="h-full" />;
}

/** Stacks each series on the ones before it. The topmost comes first, so that the others are drawn over it. */
function onTop(series: PlotProps["series"]): { label: string; values: number[]; index: number }[] {
  let below: number[] = [];
  return series
    .map(({ label, values }, index) => {
      below = values.map((value, at) => (value ?? 0) + (below[at] ?? 0));
      return { label, values: below, index };
    })
    .toReversed();
}

/** Pixels for each label of the time axis. */
const MARK_WIDTH = 72;

/** The instants that the axis labels: as many as fit, at equal distances, including the last one. */
function marks(times: readonly number[], width: number): number[] {
  const every = Math.ceil((times.length * MARK_WIDTH) / Math.max(width - MARK_WIDTH, MARK_WIDTH));
  return times.filter((_, at) => (times.length - 1 - at) % every === 0);
}

/** A box with the values under the pointer. */
function tooltip(series: PlotProps["series"], format: (value: number) => string): uPlot.Plugin {
  const box = document.createElement("div");
  box.className = "popup pointer-events-none absolute z-10 hidden px-2 py-1 text-xs whitespace-pre";
  return {
    hooks: {
      init: (plot) => plot.over.append(box),
      setCursor(plot) {
        const { idx, left = 0 } = plot.cursor;
        box.classList.toggle("hidden", idx === null || idx === undefined || left < 0);
        if (idx === null || idx === undefined) return;
        const lines = series.flatMap(({ label, values }) => {
          const value = values[idx];
          return value === null || value === undefined ? [] : [`${label}  ${format(value)}`];
        });
        box.textContent = lines.join("\n");
        box.style.left = `${Math.min(left + 12, plot.over.clientWidth - box.clientWidth)}px`;
        box.style.top = "4px";
      },
    },
  };
}
