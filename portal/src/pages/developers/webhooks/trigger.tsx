// Triggering each type of event with sample data, and seeing it arrive.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useAction } from "../../../api/action.ts";
import { useApi, usePlace } from "../../../api/place.ts";
import { paths } from "../../../paths.ts";
import { Button } from "../../../ui/button.tsx";
import { ErrorNote } from "../../../ui/face.tsx";
import { To } from "../../../ui/link.tsx";
import { Section } from "../../../ui/page.tsx";
import { Status } from "../../../ui/status.tsx";
import { type EventType, eventTypes } from "../events/types.ts";

export function Trigger() {
  const api = useApi();
  /** The last event of each type that was triggered here. */
  const [sent, setSent] = useState<Partial<Record<EventType, string>>>({});
  const trigger = useAction(
    async (type: EventType, intent) => {
      const answer = await api.write("POST", "/v1/sandbox/events/trigger", { body: { type } }, intent);
      setSent((before) => ({ ...before, [type]: answer.event_id }));
    },
    { refresh: ["/v1/deliveries", "/v1/events", "/v1/webhook"] },
  );
  const all = async (): Promise<void> => {
    for (const type of eventTypes) await trigger.run(type);
  };
  return (
    <Section title="Trigger an event" actions={<Button onClick={all}>Trigger all {eventTypes.length}</Button>}>
      <p className="mb-3 max-w-2xl text-muted">
        Each event is sent to your registered address, signed like a real one. Its data is marked as a sample:{" "}
        <code className="font-mono text-xs">data.sample</code> is true.
      </p>
      {trigger.error && <ErrorNote error={trigger.error} />}
      <ul className="rounded-md border border-line bg-panel">
        {eventTypes.map((type) => (
          <li
            key={type}
            className="flex min-h-10 flex-wrap items-center justify-between gap-x-4 border-b border-line px-4 py-1 last:border-b-0"
          >
            <code className="w-44 font-mono text-xs">{type}</code>
            <span className="flex-1 empty:max-sm:hidden sm:min-w-24">
              {sent[type] && <Arrival eventId={sent[type]} />}
            </span>
            <Button label={`Trigger ${type}`} onClick={() => trigger.run(type)}>
              Trigger
            </Button>
          </li>
        ))}
      </ul>
    </Section>
  );
}

const ASK_EVERY_MS = 700;

/** Where the delivery stands; asks again until there was an attempt. */
function Arrival({ eventId }: { eventId: string }) {
  const place = usePlace();
  const api = useApi();
  const event = useQuery({
    ...api.read("/v1/events/{id}", { path: { id: eventId } }),
    refetchInterval: ({ state }) => (state.data?.delivery?.state === "delivered" ? false : ASK_EVERY_MS),
  });
  const delivery = event.data?.delivery;
  const failed = delivery?.state === "pending" && delivery.attempts > 0;
  return (
    <span className="inline-flex flex-wrap items-center gap-x-3">
      {delivery && <Status status={failed ? "failed" : delivery.state} />}
      <To to={paths.delivery(place, eventId)} className="link text-xs">
        {failed ? "see its attempts" : "what was sent"}
      </To>
    </span>
  );
}
