// Where the delivery of an event stands, and sending it again.
import { useAction } from "../../../api/action.ts";
import { useApi } from "../../../api/place.ts";
import type { Schema } from "../../../api/types.ts";
import { Button } from "../../../ui/button.tsx";
import { Identity } from "../../../ui/copy.tsx";
import { ErrorNote } from "../../../ui/face.tsx";
import { Fact, Facts } from "../../../ui/facts.tsx";
import { Status } from "../../../ui/status.tsx";
import { Time, TimeFromNow } from "../../../ui/time.tsx";
import { say } from "../../../ui/toast.tsx";

type Event = Schema<"Event">;

interface FactsProps {
  of: Event;
  /** Milliseconds by which the book's clock, which the next attempt follows, is ahead of this machine's; undefined when that is not known. */
  aheadMs: number | undefined;
}

export function DeliveryFacts({ of: { type, created_at: at, delivery }, aheadMs }: FactsProps) {
  return (
    <Facts>
      <Fact name="Type">
        <code className="font-mono text-xs">{type}</code>
      </Fact>
      <Fact name="Happened">
        <Time at={at} />
      </Fact>
      <Fact name="Delivery">
        <DeliveryState of={delivery} />
      </Fact>
      <Fact name="Attempts">{delivery?.attempts ?? 0}</Fact>
      {delivery && (
        <Fact name="Address">
          <Identity id={delivery.url} what="the address" />
        </Fact>
      )}
      {delivery?.next_attempt_at && (
        <Fact name="Next attempt">
          {aheadMs === undefined ? (
            <Time at={delivery.next_attempt_at} />
          ) : (
            <TimeFromNow at={delivery.next_attempt_at} ticking aheadMs={aheadMs} />
          )}
        </Fact>
      )}
    </Facts>
  );
}

export function DeliveryState({ of }: { of: Event["delivery"] }) {
  return of ? <Status status={of.state} /> : <span className="text-muted">no address then</span>;
}

export function Resend({ id }: { id: string }) {
  const api = useApi();
  const resend = useAction(
    (_: undefined, intent) => api.write("POST", "/v1/events/{id}/resend", { path: { id }, body: {} }, intent),
    { refresh: ["/v1/events", "/v1/deliveries"], done: () => say("One more attempt is under way.") },
  );
  return (
    <>
      {resend.error && <ErrorNote error={resend.error} />}
      <Button pending={resend.pending} onClick={() => resend.run(undefined)}>
        Send it again
      </Button>
    </>
  );
}
