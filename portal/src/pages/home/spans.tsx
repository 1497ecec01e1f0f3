// The choice of a span of time: a row of words, of which one is chosen.
import { classes } from "../../ui/classes.ts";

const spans = { day: "24 hours", "": "7 days", month: "30 days", quarter: "91 days" } as const;
type Chosen = Exclude<keyof typeof spans, "">;

interface Props {
  /** The week when undefined. */
  value: Chosen | undefined;
  choose: (value: Chosen | undefined) => void;
}

export function Spans({ value, choose }: Props) {
  return (
    <div role="group" aria-label="Span" className="flex rounded border border-line bg-panel">
      {Object.entries(spans).map(([name, label]) => (
        <button
          key={name}
          type="button"
          aria-pressed={(value ?? "") === name}
          onClick={() => choose(name === "" ? undefined : (name as Chosen))}
          className={classes(
            "min-h-7 px-2.5 text-xs first:rounded-l last:rounded-r",
            (value ?? "") === name ? "bg-chosen font-medium text-ink" : "text-muted hover:text-ink",
          )}
        >
          {label}
        </button>
      ))}
    </div>
  );
}
