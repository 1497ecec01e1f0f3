// Which period a page of acquirers shows, as its address says, and the buttons that choose another one.
import { useQueryText, useSetQuery } from "../../../address.ts";
import { classes } from "../../../ui/classes.ts";
import { type Period, periods } from "../wall/live.ts";

const names = Object.keys(periods) as Period[];

/** `?period=day`; the last hour when it names none. */
export function usePeriod(): Period {
  const { period } = useQueryText();
  return names.find((name) => name === period) ?? "hour";
}

export function PeriodChoice({ of }: { of: Period }) {
  const search = useQueryText();
  const setQuery = useSetQuery();
  return (
    <div role="group" aria-label="Period" className="flex rounded border border-line bg-panel">
      {names.map((name) => (
        <button
          key={name}
          type="button"
          aria-pressed={name === of}
          onClick={() => setQuery({ ...search, period: name === "hour" ? undefined : name }, { replace: true })}
          className={classes(
            "min-h-8 px-2.5 text-xs first:rounded-l last:rounded-r",
            name === of ? "bg-chosen font-medium text-ink" : "text-muted hover:text-ink",
          )}
        >
          {periods[name]}
        </button>
      ))}
    </div>
  );
}
