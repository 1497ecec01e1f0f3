// Values over time, drawn by uPlot in the theme's colours, and as a table for screen readers.
import { Suspense, lazy } from "react";
import { useTheme } from "../shell/theme.ts";
import { classes } from "./classes.ts";
import { Skeleton } from "./skeleton.tsx";
import { Time } from "./time.tsx";

export interface PlotSeries {
  label: string;
  values: readonly (number | null)[];
}

export interface PlotProps {
  /** The subject of the plot, in a sentence. */
  label: string;
  /** Instants in the API's form, oldest first. */
  at: readonly string[];
  series: readonly PlotSeries[];
  /** Formats a value in full, such as with its currency or as a percentage. */
  format: (value: number) => string;
  /** `bars` for counts in each step, `lines` for measurements at an instant. */
  kind?: "bars" | "lines";
  /** Stacks the bars of several series, which together are the whole. */
  stacked?: boolean;
  /** Formats a value for the axis, in a shorter form. */
  axis?: (value: number) => string;
  height?: number;
}

const Canvas = lazy(() => import("./plot-canvas.tsx"));

/** Percentages of the accent colour for parts of a whole: status colours would wrongly suggest good and bad. */
const shares = [100, 72, 50, 34, 22] as const;

/** The colour of a series, by its index. */
export function strokeOf(index: number, stacked = false): string {
  if (!stacked) return strokes[index % strokes.length] ?? strokes[0];
  return `color-mix(in srgb, var(--accent) ${shares[Math.min(index, shares.length - 1)]}%, var(--panel))`;
}

/** The colours of series that are not stacked. */
const strokes = ["var(--accent)", "var(--muted)", "var(--stripe)", "var(--good)", "var(--bad)"] as const;

export function Plot(props: PlotProps) {
  const { label, at, series, format, stacked = false, height = 220 } = props;
  // A new theme redraws the plot in other colours.
  const { shown: theme } = useTheme();
  return (
    <figure className="rounded-md border border-line bg-panel p-4">
      <figcaption className="mb-2 flex flex-wrap items-center gap-x-4 gap-y-1">
        <span className="font-medium">{label}</span>
        {series.length > 1 && (
          <span className="ml-auto flex flex-wrap gap-x-4">
            {series.map((one, index) => (
              <span key={one.label} className="inline-flex items-center gap-1.5 text-xs text-muted">
                <i
                  aria-hidden="true"
                  className={classes("forced-color-adjust-none", stacked ? "size-2.5 rounded-xs" : "h-0.5 w-4")}
                  style={{ background: strokeOf(index, stacked) }}
                />
                {one.label}
              </span>
            ))}
          </span>
        )}
      </figcaption>
      <div aria-hidden="true" style={{ height }}>
        <Suspense fallback={<Skeleton className="h-full w-full" />}>
          <Canvas key={theme} {...props} height={height} />
        </Suspense>
      </div>
      <details className="mt-2">
        <summary className="inline-flex min-h-6 items-center text-xs text-muted hover:text-ink">As a table</summary>
        <div tabIndex={0} role="region" aria-label={`${label}, as a table`} className="mt-2 max-h-64 overflow-auto">
          <table className="w-full text-left text-xs">
            <thead>
              <tr>
                <th scope="col" className="py-1 font-medium">
                  Time
                </th>
                {series.map((one) => (
                  <th key={one.label} scope="col" className="py-1 pl-4 text-right font-medium">
                    {one.label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {at.map((instant, row) => (
                <tr key={instant} className="border-t border-line">
                  <td className="py-1">
                    <Time at={instant} shape="minute" />
                  </td>
                  {series.map((one) => {
                    const value = one.values[row] ?? null;
                    return (
                      <td key={one.label} className="py-1 pl-4 text-right">
                        {value === null ? "" : format(value)}
                      </td>
                    );
                  })}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}
