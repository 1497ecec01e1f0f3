// Shows whether the page's data is kept fresh.
import type { LiveState } from "../api/live.ts";
import { classes } from "../ui/classes.ts";
import { useWords } from "../words.ts";

const looks: Record<LiveState, string> = {
  live: "before:bg-good",
  asking: "before:bg-muted",
  offline: "before:bg-bad",
};

export function LiveMark({ state }: { state: LiveState }) {
  const words = useWords();
  const hint = { live: words.liveHint, asking: words.askingHint, offline: words.offlineHint }[state];
  return (
    <p
      title={hint}
      className={classes(
        "inline-flex items-center gap-1.5 px-2 text-xs text-muted before:size-2 before:rounded-full before:forced-color-adjust-none",
        looks[state],
      )}
    >
      {words[state]}
    </p>
  );
}
