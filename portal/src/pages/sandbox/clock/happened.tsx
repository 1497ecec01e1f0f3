// What happened while the clock moved: the events of it, in their order.
import { usePlace } from "../../../api/place.ts";
import type { Schema } from "../../../api/types.ts";
import { paths } from "../../../paths.ts";
import { To } from "../../../ui/link.tsx";
import { Section } from "../../../ui/page.tsx";
import { Time } from "../../../ui/time.tsx";
import { spanOf } from "./span.ts";

interface Props {
  seconds: number;
  /** Undefined where the person may not see events. */
  events: Schema<"Event">[] | undefined;
  /** True where there were more. */
  isCut: boolean;
}

export function Happened({ seconds, events, isCut }: Props) {
  const place = usePlace();
  return (
    <Section title="What fell due">
      <div role="status" className="rounded-md border border-line bg-panel p-4">
        <p>
          The clock moved by {spanOf(seconds)}.{" "}
          {events === undefined
            ? "Your role does not see events."
            : events.length === 0
              ? "It caused no events."
              : `${isCut ? "The newest " : ""}${events.length} ${events.length === 1 ? "event" : "events"} happened:`}
        </p>
        {events !== undefined && events.length > 0 && (
          <ol className="mt-2 max-h-80 overflow-auto">
            {events.map((event) => (
              <li key={event.id} className="flex flex-wrap gap-x-4 border-t border-line py-1.5">
                <To to={paths.event(place, event.id)} className="link min-w-44 font-medium">
                  {event.type}
                </To>
                <span className="min-w-0 flex-1 truncate font-mono text-xs leading-5">{identityOf(event.data)}</span>
                <Time at={event.created_at} />
              </li>
            ))}
          </ol>
        )}
      </div>
    </Section>
  );
}

function identityOf(data: object): string {
  const { reference, uuid } = data as { reference?: string; uuid?: string };
  return reference ?? uuid ?? "";
}
