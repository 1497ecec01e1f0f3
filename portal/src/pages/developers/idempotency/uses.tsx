// The requests of one idempotency key, oldest first, and what became of each.
import { usePlace } from "../../../api/place.ts";
import type { Schema } from "../../../api/types.ts";
import { paths } from "../../../paths.ts";
import { To } from "../../../ui/link.tsx";
import { Section } from "../../../ui/page.tsx";
import { Status } from "../../../ui/status.tsx";
import { Time } from "../../../ui/time.tsx";
import { AnswerStatus } from "../requests/answer-status.tsx";

type Use = Schema<"IdempotencyKeyUse">;

const outcomes: Record<Use["outcome"], { text: string; tone: "good" | "warn" | "bad" | "calm" }> = {
  answered: { text: "ran, its answer is stored", tone: "good" },
  replayed: { text: "replayed, nothing ran again", tone: "calm" },
  conflict: { text: "conflict: another request", tone: "bad" },
  in_progress: { text: "still running", tone: "warn" },
  refused: { text: "refused, nothing stored", tone: "calm" },
};

export function Uses({ of, all }: { of: readonly Use[]; all: number }) {
  return (
    <Section title="Requests">
      {of.length === 0 ? (
        <p className="text-muted">
          None is in the log. In production only refused requests are logged, and the log keeps requests for a week.
        </p>
      ) : (
        <ol className="divide-y divide-line rounded-md border border-line bg-panel">
          {of.map((use) => (
            <Line key={use.request_id} use={use} />
          ))}
        </ol>
      )}
      {all > of.length && (
        <p className="mt-2 text-xs text-muted">
          The first 10 and the newest 40 of {all} are shown. All of them are in the request log.
        </p>
      )}
    </Section>
  );
}

function Line({ use }: { use: Use }) {
  const place = usePlace();
  const { text, tone } = outcomes[use.outcome];
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2">
      <Time at={use.at} />
      <To to={paths.request(place, use.request_id)} className="link font-mono text-xs break-all">
        {use.method} {use.path}
      </To>
      <AnswerStatus of={use} />
      <span className="ml-auto flex flex-wrap items-center gap-x-4">
        {use.same_bytes !== null && (
          <span className="text-xs text-muted">{use.same_bytes ? "same bytes" : "other bytes"}</span>
        )}
        <Status status={text} tone={tone} />
      </span>
    </li>
  );
}
