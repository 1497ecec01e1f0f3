// Copy buttons beside values that people paste elsewhere.
import { Check, Copy as CopyIcon } from "lucide-react";
import { useEffect, useState } from "react";
import { classes } from "./classes.ts";
import { say } from "./toast.tsx";

interface Props {
  text: string;
  /** The name of the value for screen readers: "the reference". */
  what: string;
  className?: string | undefined;
}

export function Copy({ text, what, className }: Props) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return undefined;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => {
        setCopied(true);
        say(`Copied ${what}.`, "quiet");
      },
      () => say("The browser did not allow copying. Select the text and copy it yourself.", "bad"),
    );
  };
  const Icon = copied ? Check : CopyIcon;
  return (
    <button
      type="button"
      aria-label={`Copy ${what}`}
      title={`Copy ${what}`}
      onClick={copy}
      className={classes(
        "inline-grid print:hidden size-6 shrink-0 place-items-center rounded text-muted hover:bg-hover hover:text-ink",
        className,
      )}
    >
      <Icon size={13} aria-hidden="true" />
    </button>
  );
}

/** A full id of the API with its copy button. */
export function Identity({ id, what = "the identity" }: { id: string; what?: string }) {
  return (
    <span className="inline-flex max-w-full items-center gap-1">
      <code className="truncate font-mono text-xs">{id}</code>
      <Copy text={id} what={what} />
    </span>
  );
}

/** An id in a row of a list. A narrow table shows only its end, which tells two ids apart; `brief`: every table does. */
export function ShortId({ id, brief = false }: { id: string; brief?: boolean }) {
  return (
    <code title={id} className="font-mono text-xs whitespace-nowrap">
      <span className={brief ? "sr-only" : "sr-only ample:not-sr-only"}>{id}</span>
      <span aria-hidden="true" className={brief ? undefined : "ample:hidden"}>
        …{id.slice(-8)}
      </span>
    </code>
  );
}
