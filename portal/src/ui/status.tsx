// A status: the API's word, in a colour with the same meaning on all pages.
import { classes } from "./classes.ts";

// By status, whatever the object: good is final success, warn waits for somebody, bad needs attention.
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
  /** The API's status: `partially_refunded`. */
  status: string;
  /** The colour, where the status does not determine it. */
  tone?: keyof typeof looks | undefined;
}

export function Status({ status, tone = tones[status] ?? "calm" }: Props) {
  return (
    <span
      className={classes(
        "inline-flex items-center gap-1.5 font-medium sm:whitespace-nowrap before:size-2 before:shrink-0 before:rounded-full before:forced-color-adjust-none",
        looks[tone],
      )}
    >
      {status.replaceAll("_", " ")}
    </span>
  );
}
