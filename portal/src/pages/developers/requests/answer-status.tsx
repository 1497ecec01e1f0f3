// The answer to a request in a few words: its status, its error, and what is special about it.
import type { Schema } from "../../../api/types.ts";
import { Status } from "../../../ui/status.tsx";

type Shown = Pick<Schema<"LoggedRequest">, "status" | "error_code" | "replayed" | "proven">;

export function AnswerStatus({ of: { status, error_code: code, replayed, proven } }: { of: Shown }) {
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2">
      <Status status={String(status)} tone={status >= 500 ? "bad" : status >= 400 ? "warn" : "good"} />
      {code !== null && <code className="font-mono text-xs">{code}</code>}
      {replayed && <span className="text-xs text-muted">replay</span>}
      {!proven && (
        <span className="text-xs text-muted" title="No right and new signature proves who sent it.">
          unproven
        </span>
      )}
    </span>
  );
}
