// When an acquirer was left alone: a strip of the period, coloured where a circuit of it was open.
import { classes } from "../../../ui/classes.ts";

interface Run {
  isOpen: boolean;
  spans: number;
}

function runsOf(leftAlone: readonly boolean[]): Run[] {
  const runs: Run[] = [];
  for (const isOpen of leftAlone) {
    const last = runs.at(-1);
    if (last?.isOpen === isOpen) last.spans++;
    else runs.push({ isOpen, spans: 1 });
  }
  return runs;
}

/** `of`: the method or the acquirer whose circuit it is. `leftAlone`: whether it was open, for each span of the period. */
export function CircuitStrip({ of, leftAlone }: { of: string; leftAlone: readonly boolean[] }) {
  const open = leftAlone.filter((isOpen) => isOpen).length;
  const words = open === 0 ? "never open" : `open in ${open} of ${leftAlone.length} spans`;
  return (
    <div className="flex items-center gap-3 text-xs">
      <span className="shrink-0 text-muted">Circuit</span>
      <span
        role="img"
        aria-label={`${of}: ${words}`}
        className="flex h-2 min-w-0 flex-1 overflow-hidden rounded-full bg-line"
      >
        {runsOf(leftAlone).map((run, at) => (
          <i key={at} className={classes("h-full", run.isOpen && "bg-bad")} style={{ flexGrow: run.spans }} />
        ))}
      </span>
      <span aria-hidden="true" className={open === 0 ? "shrink-0 text-muted" : "shrink-0 font-medium text-bad"}>
        {words}
      </span>
    </div>
  );
}
