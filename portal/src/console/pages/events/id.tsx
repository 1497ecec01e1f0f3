// One event of a merchant's: where its delivery stands, every attempt with all that was sent and answered, and sending it again.
import { useQuery } from "@tanstack/react-query";
import { usePart } from "../../../address.ts";
import { useAction } from "../../../api/action.ts";
import { DeliveryFacts } from "../../../pages/developers/events/delivery.tsx";
import { AttemptDetails } from "../../../pages/developers/webhooks/attempt.tsx";
import { Answer } from "../../../ui/answer.tsx";
import { Button } from "../../../ui/button.tsx";
import { Code } from "../../../ui/code.tsx";
import { Identity } from "../../../ui/copy.tsx";
import { Empty } from "../../../ui/empty.tsx";
import { ErrorNote } from "../../../ui/face.tsx";
import { useCursor, useList } from "../../../ui/list.ts";
import { To } from "../../../ui/link.tsx";
import { Page as Frame, Section } from "../../../ui/page.tsx";
import { say } from "../../../ui/toast.tsx";
import { type Schema, read, write } from "../../api/client.ts";
import { useMay } from "../../api/rights.ts";
import { pageOf } from "../../found.ts";
import { at } from "../../paths.ts";
import { useBook } from "../merchants/book.tsx";

type Event = Schema<"Event">;

/** While an attempt is due. */
const ASK_EVERY_MS = 1_000;
const EVENTS = "/v1/merchants/{id}/books/{environment}/events";

export function Page() {
  const { id, environment } = useBook();
  const may = useMay();
  const path = { id, environment, event_id: usePart("event") };
  const event = useQuery({
    ...read(`${EVENTS}/{event_id}`, { path }),
    refetchInterval: ({ state }) => (state.data?.delivery?.state === "pending" ? ASK_EVERY_MS : false),
  });
  const resend = useAction(() => write("POST", `${EVENTS}/{event_id}/resend`, { path }), {
    refresh: [EVENTS, "/v1/waiting", "/v1/audit"],
    done: () => say("One more attempt is under way."),
  });
  return (
    <Frame
      title={event.data?.type ?? "Event"}
      above={{ to: at.events(id, environment), label: `Events of ${environment}` }}
      beside={<Identity id={path.event_id} what="the event's id" />}
      actions={
        may("support") &&
        event.data && (
          <Button pending={resend.pending} onClick={() => resend.run(undefined)}>
            Send it again
          </Button>
        )
      }
      curl={{ path: `/v1/merchants/${id}/books/${environment}/events/${path.event_id}/deliveries` }}
    >
      {resend.error && <ErrorNote error={resend.error} />}
      <Answer of={event}>
        {(event) => {
          const { delivery: _, ...sent } = event;
          return (
            <>
              <DeliveryFacts of={event} aheadMs={environment === "production" ? 0 : undefined} />
              <Subject of={event} merchant={{ merchant_id: id, environment }} />
              <Section title="Attempts">
                <Attempts path={path} of={event} />
              </Section>
              <Section title="What the receiver is told">
                <Code value={sent} what="the event" />
              </Section>
            </>
          );
        }}
      </Answer>
    </Frame>
  );
}

interface AttemptsProps {
  path: { id: string; environment: Schema<"Environment">; event_id: string };
  of: Event;
}

function Attempts({ path, of: { delivery } }: AttemptsProps) {
  const cursor = useCursor();
  const list = useList({
    ...read(`${EVENTS}/{event_id}/deliveries`, { path, query: cursor.query }),
    // The event may have said first that there is another attempt.
    refetchInterval: ({ state }) => {
      const isBehind = cursor.isFirst && (state.data?.data[0]?.attempt ?? 0) < (delivery?.attempts ?? 0);
      return delivery?.state === "pending" || isBehind ? ASK_EVERY_MS : false;
    },
  });
  return (
    <Answer of={list}>
      {({ data, next_cursor: next }) =>
        data.length === 0 ? (
          <Empty title="No attempt yet">
            {delivery ? "The first one is due now." : "There was no address to send it to when it happened."}
          </Empty>
        ) : (
          <div className="space-y-3">
            {data.map((attempt, place) => (
              <AttemptDetails key={attempt.attempt} of={attempt} open={place === 0} />
            ))}
            {!(cursor.isFirst && next === null) && (
              <nav aria-label="Pages" className="flex justify-end gap-2">
                <Button disabled={cursor.isFirst} onClick={() => cursor.newer()}>
                  ← Newer
                </Button>
                <Button disabled={next === null} onClick={() => next !== null && cursor.older(next)}>
                  Older →
                </Button>
              </nav>
            )}
          </div>
        )
      }
    </Answer>
  );
}

interface SubjectProps {
  of: Event;
  merchant: { merchant_id: string; environment: string };
}

/** The page of what the event is about. A sample is about nothing. */
function Subject({ of: { type, data }, merchant }: SubjectProps) {
  const { reference, uuid, sample } = data as { reference?: string; uuid?: string; sample?: boolean };
  const [kind = ""] = type.split(".");
  if (sample === true) return <p className="text-muted">Its data is a sample.</p>;
  const id = kind === "payment" ? reference : uuid;
  const page = id === undefined ? undefined : pageOf({ kind, id, merchant });
  return (
    page !== undefined && (
      <p>
        <To to={page} className="link">
          The {kind}
        </To>
      </p>
    )
  );
}
