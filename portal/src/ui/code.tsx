// Code and JSON objects, unchanged.
import { classes } from "./classes.ts";
import { Copy } from "./copy.tsx";

interface Props {
  /** The text; without it `value` is shown as JSON. */
  text?: string;
  value?: unknown;
  /** The name of the content, for the region and the copy button. */
  what: string;
  /** Wraps long lines, so that a secret is visible in full. */
  wrap?: boolean;
}

export function Code({ text, value, what, wrap = false }: Props) {
  const shown = text ?? JSON.stringify(value, null, 2) ?? "";
  return (
    <div className="relative rounded-md border border-line bg-panel">
      {/* The box scrolls, so the keyboard must be able to focus it. */}
      <pre
        tabIndex={0}
        role="region"
        aria-label={what}
        className={classes(
          "max-h-96 overflow-auto py-2.5 pr-10 pl-3 font-mono text-xs leading-5 [tab-size:2]",
          wrap && "break-all whitespace-pre-wrap",
        )}
      >
        {shown}
      </pre>
      {/* As wide as the room beside it: a long line ends at it, and is not seen again on its other side. */}
      <div className="absolute top-0 right-0 rounded-md bg-panel px-1.5 pt-1.5">
        <Copy text={shown} what={what} />
      </div>
    </div>
  );
}
