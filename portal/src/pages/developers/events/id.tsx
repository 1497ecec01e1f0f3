// One event: what it says, what it is about, and where its delivery stands.
import { useQuery } from "@tanstack/react-query";
import { usePart } from "../../../address.ts";
import { useAheadMs } from "../../../api/book-clock.ts";
import { useApi, useCan, usePlace } from "../../../api/place.ts";
import type { Place } from "../../../api/client.ts";
import type { Schema } from "../../../api/types.ts";
import { paths } from "../../../paths.ts";
import { Answer } from "../../../ui/answer.tsx";
import { Code } from "../../../ui/code.tsx";
import { Identity } from "../../../ui/copy.tsx";
import { To } from "../../../ui/link.tsx";
import { Page as Frame, Section } from "../../../ui/page.tsx";
import { DeliveryFacts, Resend } from "./delivery.tsx";

type Event = Schema<"Event">;

export function Page() {
  const place = usePlace();
  const api = useApi();
  const can = useCan();
  const aheadMs = useAheadMs();
  const id = usePart("id");
  const event = useQuery(api.read("/v1/events/{id}", { path: { id } }));
  return (
    <Frame
      title={event.data?.type ?? "Event"}
      above={{ to: paths.events(place), label: "Events" }}
      beside={<Identity id={id} what="the event's id" />}
      actions={
        event.data &&
        (can("events:write") ? (
          <Resend id={id} />
        ) : (
          <span className="text-muted">An owner or a developer can send it again.</span>
        ))
      }
      curl={{ path: `/v1/events/${id}` }}
    >
      <Answer of={event}>
        {(event) => {
          const { delivery, ...envelope } = event;
          return (
            <>
              <DeliveryFacts of={event} aheadMs={aheadMs} />
              <p className="flex flex-wrap gap-x-5">
                {delivery && <To to={paths.delivery(place, id)}>Every attempt, with what was sent and answered</To>}
                <Subject of={event} place={place} />
              </p>
              <Section title="What your receiver is told">
                <Code value={envelope} what="the event" />
              </Section>
            </>
          );
        }}
      </Answer>
    </Frame>
  );
}

/** The page of what the event is about. A sample is about nothing. */
function Subject({ of: { type, data }, place }: { of: Event; place: Place }) {
  const { reference, uuid, sample } = data as { reference?: string; uuid?: string; sample?: boolean };
  const [kind = ""] = type.split(".");
  if (sample === true) return <span className="text-muted">Its data is a sample.</span>;
  if (kind === "payment" && reference !== undefined) return <To to={paths.payment(place, reference)}>The payment</To>;
  const pages: Partial<Record<string, (place: Place, uuid: string) => string>> = {
    refund: paths.refund,
    settlement: paths.settlement,
    dispute: paths.dispute,
  };
  const page = pages[kind];
  return page && uuid !== undefined ? <To to={page(place, uuid)}>The {kind}</To> : null;
}
