// The drawing of a plot. Apart from it, because uPlot is fetched only by pages that plot something.
import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useTimeZone } from "./time.tsx";
import { type PlotProps, strokes } from "./plot.tsx";

export default function PlotCanvas({ at, series, format, kind = "lines", height = 220 }: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const timeZone = useTimeZone();
  useEffect(() => {
    const element = place.current;
    if (!element) return undefined;
    const colour = (name: string): string =>
      getComputedStyle(document.documentElement)
        .getPropertyValue(/--\w+/.exec(name)?.[0] ?? name)
        .trim();
    const axis = {
      stroke: colour("--muted"),
      font: "12px Plex",
      grid: { stroke: colour("--line"), width: 1 },
      ticks: { show: false },
    };
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height,
        tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), timeZone),
        legend: { show: false },
        cursor: { drag: { x: false, y: false }, points: { size: 6 } },
        scales: { y: { range: (_plot, low, high) => [Math.min(0, low ?? 0), high > 0 ? high * 1.1 : 1] } },
        axes: [
          { ...axis, grid: { show: false } },
          { ...axis, size: 72, values: (_plot, ticks) => ticks.map((value) => format(value)) },
        ],
        series: [
          {},
          ...series.map((one, index) => ({
            label: one.label,
            stroke: colour(strokes[index % strokes.length] ?? strokes[0]),
            width: 1.5,
            points: { show: false },
            ...(kind === "bars" && uPlot.paths.bars
              ? {
                  paths: uPlot.paths.bars({ size: [0.7, 40] }),
                  fill: colour(strokes[index % strokes.length] ?? strokes[0]),
                  width: 0,
                }
              : {}),
          })),
        ],
        plugins: [tooltip(series, format)],
      },
      [at.map((instant) => Date.parse(instant) / 1000), ...series.map((one) => [...one.values])] as uPlot.AlignedData,
      element,
    );
    const watcher = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    watcher.observe(element);
    return () => {
      watcher.disconnect();
      plot.destroy();
    };
  }, [at, series, format, kind, height, timeZone]);
  return <div ref={place} className="h-full" />;
}

/** The values under the pointer. */
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
        const lines = series.flatMap((_one, at) => {
          const value = plot.data[at + 1]?.[idx];
          return value === null || value === undefined ? [] : [`${series[at]?.label ?? ""}  ${format(value)}`];
        });
        box.textContent = lines.join("\n");
        box.style.left = `${Math.min(left + 12, plot.over.clientWidth - box.clientWidth)}px`;
        box.style.top = "4px";
      },
    },
  };
}
