// One exchange with an acquirer: a line that unfolds to the request and the answer, or to the message that the acquirer sent.
import type { ReactNode } from "react";
import { Code } from "../../../ui/code.tsx";
import { Status } from "../../../ui/status.tsx";
import { Time } from "../../../ui/time.tsx";
import { partsOf } from "./exchanged-parts.ts";

interface Props {
  /** When, as the API writes it. */
  at: string;
  /** What it was for: "Inquiry". */
  what: ReactNode;
  /** Which request or kind of message it was. */
  about: string;
  /** Of the answer; null where there was none. */
  status: number | null;
  /** True where an answer was to come. */
  awaited: boolean;
  text: string;
}

export function Exchanged({ at, what, about, status, awaited, text }: Props) {
  return (
    <details className="rounded-md border border-line bg-panel">
      <summary className="flex min-h-9 flex-wrap items-center gap-x-4 gap-y-0.5 px-4 py-1.5 hover:bg-hover">
        <span className="font-medium">{what}</span>
        <code className="min-w-0 font-mono text-xs break-all">{about}</code>
        {status !== null && <Status status={String(status)} tone={status < 400 ? "calm" : "bad"} />}
        {status === null && awaited && <Status status="no answer" tone="warn" />}
        <span className="text-xs text-muted sm:ml-auto">
          <Time at={at} />
        </span>
      </summary>
      <div className="grid min-w-0 gap-4 border-t border-line px-4 py-3 lg:grid-cols-2">
        {partsOf(text).map(({ title, text: part }) => (
          <div key={title} className="min-w-0">
            <p className="mb-1.5 text-xs text-muted">{title}</p>
            <Code text={part} what={`${title.toLowerCase()} in ${about}`} />
          </div>
        ))}
      </div>
    </details>
  );
}
