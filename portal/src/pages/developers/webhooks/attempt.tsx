// One attempt to deliver: what was sent, what was answered, and how long it took. All of it is text.
import type { Schema } from "../../../api/types.ts";
import { Code } from "../../../ui/code.tsx";
import { Identity } from "../../../ui/copy.tsx";
import { Time } from "../../../ui/time.tsx";
import { Outcome } from "./deliveries.tsx";

type Attempt = Schema<"DeliveryAttempt">;

export function AttemptDetails({ of, open }: { of: Attempt; open: boolean }) {
  const { request, response } = of;
  return (
    <details open={open} className="rounded-md border border-line bg-panel">
      <summary className="flex min-h-10 flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2 hover:bg-hover">
        <span className="font-medium">Attempt {of.attempt}</span>
        <Outcome of={of} />
        <span className="text-muted">{of.duration_ms} ms</span>
        <span className="ml-auto text-muted">
          <Time at={of.started_at} />
        </span>
      </summary>
      <div className="space-y-4 border-t border-line px-4 py-3">
        {of.reason !== null && <p className="text-bad">{of.reason}</p>}
        {of.note !== null && <p className="text-warn">{of.note}</p>}
        <p className="flex flex-wrap items-center gap-x-3 text-muted">
          <span>POST</span>
          <Identity id={request.url} what="the address" />
          {of.address !== null && <span>connected to {of.address}</span>}
        </p>
        <div className="grid min-w-0 gap-4 lg:grid-cols-2">
          <Side title="Sent" headers={request.headers} body={pretty(request.body)} what="request" />
          {response ? (
            <Side
              title="Answered"
              headers={response.headers}
              body={response.body}
              what="answer"
              note={response.base64 ? "The body is not text; it is shown as base64." : undefined}
            />
          ) : (
            <div>
              <h3 className="mb-1.5 font-medium">Answered</h3>
              <p className="text-muted">No answer came.</p>
            </div>
          )}
        </div>
      </div>
    </details>
  );
}

interface SideProps {
  title: string;
  what: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  note?: string | undefined;
}

function Side({ title, what, headers, body, note }: SideProps) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return (
    <div className="min-w-0 space-y-2">
      <h3 className="font-medium">{title}</h3>
      <Code text={lines.join("\n")} what={`the headers of the ${what}`} />
      {note !== undefined && <p className="text-xs text-muted">{note}</p>}
      {body === "" ? <p className="text-muted">No body.</p> : <Code text={body} what={`the body of the ${what}`} />}
    </div>
  );
}

/** Easier to read than the bytes that were sent; where it is no JSON, those. */
function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
