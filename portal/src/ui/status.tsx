// A state, in the API's word and in a colour that means the same everywhere.
import { classes } from "./classes.ts";

// By word, whatever object has it: good is money where it should be, warn waits for somebody, bad needs somebody.
const tones: Record<string, "good" | "warn" | "bad" | "calm"> = {
  succeeded: "good",
  paid: "good",
  delivered: "good",
  won: "good",
  done: "good",
  healthy: "good",
  pending: "warn",
  processing: "warn",
  needs_response: "warn",
  under_review: "warn",
  in_progress: "warn",
  slow: "warn",
  failed: "bad",
  lost: "bad",
  undelivered: "bad",
  exhausted: "bad",
  failing: "bad",
  conflict: "bad",
  rejected: "bad",
};

const looks = {
  good: "text-good before:bg-good",
  warn: "text-warn before:bg-warn",
  bad: "text-bad before:bg-bad",
  calm: "text-muted before:bg-muted",
};

interface Props {
  /** The word of the API: `partially_refunded`. */
  status: string;
  /** Where the word alone does not say it. */
  tone?: keyof typeof looks | undefined;
}

export function Status({ status, tone = tones[status] ?? "calm" }: Props) {
  return (
    <span
      className={classes(
        "inline-flex items-center gap-1.5 font-medium sm:whitespace-nowrap before:size-2 before:shrink-0 before:rounded-full",
        looks[tone],
      )}
    >
      {status.replaceAll("_", " ")}
    </span>
  );
}
