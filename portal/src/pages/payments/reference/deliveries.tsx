// How telling an event went: where its delivery stands, and its last attempts.
import type { Schema } from "../../../api/types.ts";
import { To } from "../../../ui/link.tsx";
import { Status } from "../../../ui/status.tsx";
import { Time } from "../../../ui/time.tsx";

interface Props {
  of: Schema<"StoryTold">;
  /** Where its deliveries are read. */
  page: string | undefined;
}

export function Deliveries({ of: { event, attempts }, page }: Props) {
  const { delivery } = event;
  if (!delivery) return <p className="text-muted">Not sent: no address is registered.</p>;
  return (
    <>
      <p className="flex flex-wrap items-center gap-x-3">
        <Status status={delivery.state} />
        <span className="min-w-0 truncate text-muted">{delivery.url}</span>
        {page !== undefined && <To to={page}>Deliveries</To>}
      </p>
      {attempts.length > 0 && (
        <ul aria-label={`Attempts of ${event.type}`} className="space-y-0.5 text-xs text-muted">
          {attempts.map((one) => (
            <li key={one.attempt}>
              Attempt {one.attempt}: {one.status ?? "no answer"}, {one.duration_ms} ms, <Time at={one.started_at} />
              {!one.succeeded && one.reason !== null && <span className="text-bad"> {one.reason}</span>}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
