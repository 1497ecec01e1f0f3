// The delivery of one event: where it stands, every attempt with all that was sent and answered, and sending it again.
import { useQuery } from "@tanstack/react-query";
import { usePart } from "../../../address.ts";
import { useAheadMs } from "../../../api/book-clock.ts";
import { useApi, useCan, usePlace } from "../../../api/place.ts";
import type { Schema } from "../../../api/types.ts";
import { paths } from "../../../paths.ts";
import { Answer } from "../../../ui/answer.tsx";
import { Button } from "../../../ui/button.tsx";
import { Identity } from "../../../ui/copy.tsx";
import { Empty } from "../../../ui/empty.tsx";
import { type Cursor, useCursor, useList } from "../../../ui/list.ts";
import { To } from "../../../ui/link.tsx";
import { Page as Frame, Section } from "../../../ui/page.tsx";
import { DeliveryFacts, Resend } from "../events/delivery.tsx";
import { AttemptDetails } from "./attempt.tsx";

/** While an attempt is due. */
const ASK_EVERY_MS = 1_000;

export function Page() {
  const place = usePlace();
  const api = useApi();
  const can = useCan();
  const aheadMs = useAheadMs();
  const id = usePart("event_id");
  const event = useQuery({
    ...api.read("/v1/events/{id}", { path: { id } }),
    refetchInterval: ({ state }) => (state.data?.delivery?.state === "pending" ? ASK_EVERY_MS : false),
  });
  return (
    <Frame
      title={event.data ? `Delivery of ${event.data.type}` : "Delivery"}
      above={{ to: paths.webhooks(place), label: "Webhooks" }}
      beside={<Identity id={id} what="the event's id" />}
      actions={can("events:write") && event.data && <Resend id={id} />}
      curl={{ path: `/v1/events/${id}/deliveries` }}
    >
      <Answer of={event}>
        {(event) => (
          <>
            <DeliveryFacts of={event} aheadMs={aheadMs} />
            <Section title="Attempts" actions={<To to={paths.event(place, id)}>The event itself</To>}>
              <Attempts id={id} delivery={event.delivery} />
            </Section>
          </>
        )}
      </Answer>
    </Frame>
  );
}

function Attempts({ id, delivery }: { id: string; delivery: Schema<"Event">["delivery"] }) {
  const api = useApi();
  const cursor = useCursor();
  const list = useList({
    ...api.read("/v1/events/{id}/deliveries", { path: { id }, query: cursor.query }),
    // The event may have said first that there is another attempt.
    refetchInterval: ({ state }) => {
      const isBehind = cursor.isFirst && (state.data?.data[0]?.attempt ?? 0) < (delivery?.attempts ?? 0);
      return delivery?.state === "pending" || isBehind ? ASK_EVERY_MS : false;
    },
  });
  return (
    <Answer of={list}>
      {(list) =>
        list.data.length === 0 ? (
          <Empty title="No attempt yet">
            {delivery ? "The first one is due now." : "There was no address to send it to when it happened."}
          </Empty>
        ) : (
          <div className="space-y-3">
            {list.data.map((attempt, at) => (
              <AttemptDetails key={attempt.attempt} of={attempt} open={at === 0} />
            ))}
            <Pages cursor={cursor} next={list.next_cursor} />
          </div>
        )
      }
    </Answer>
  );
}

function Pages({ cursor, next }: { cursor: Cursor; next: string | null }) {
  if (cursor.isFirst && next === null) return null;
  return (
    <nav aria-label="Pages" className="flex justify-end gap-2">
      <Button disabled={cursor.isFirst} onClick={() => cursor.newer()}>
        ← Newer
      </Button>
      <Button disabled={next === null} onClick={() => next !== null && cursor.older(next)}>
        Older →
      </Button>
    </nav>
  );
}
