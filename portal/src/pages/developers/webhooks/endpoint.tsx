// The registered address, and how it does.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { refresh } from "../../../api/action.ts";
import { useCan, usePlace } from "../../../api/place.ts";
import type { Schema } from "../../../api/types.ts";
import { paths, withSearch } from "../../../paths.ts";
import { Button } from "../../../ui/button.tsx";
import { Identity } from "../../../ui/copy.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Fact, Facts } from "../../../ui/facts.tsx";
import { To } from "../../../ui/link.tsx";
import { Section } from "../../../ui/page.tsx";
import { Status } from "../../../ui/status.tsx";
import { TimeFromNow } from "../../../ui/time.tsx";
import { AddressForm } from "./address-form.tsx";

const tones = { untried: "calm", healthy: "good", degraded: "warn", failing: "bad" } as const;
/** The API counts no further. */
const COUNTED_MAX = 1_000;

export function Endpoint({ of: { url, health } }: { of: Schema<"WebhookSettings"> }) {
  const can = useCan();
  const place = usePlace();
  const queries = useQueryClient();
  const [changing, setChanging] = useState(false);
  const done = (): void => {
    setChanging(false);
    void refresh(queries);
  };
  const accepted = `${health.accepted} of the last ${health.attempts}`;
  return (
    <Section
      title="Endpoint"
      actions={can("webhooks:write") && <Button onClick={() => setChanging(true)}>Change the address</Button>}
    >
      <Facts>
        <Fact name="Address">
          <Identity id={url ?? ""} what="the address" />
        </Fact>
        <Fact name="Health">
          <Status status={health.state} tone={tones[health.state]} />
        </Fact>
        <Fact name="Accepted">
          {health.attempts === 0 ? "nothing was sent there yet" : accepted}
          {health.median_ms !== null && <span className="text-muted"> · median {health.median_ms} ms</span>}
        </Fact>
        <Fact name="Last accepted">
          {health.last_accepted_at ? <TimeFromNow at={health.last_accepted_at} /> : "never"}
        </Fact>
        <Fact name="Waiting for an attempt">
          <Count of={health.pending} to={withSearch(paths.events(place), { delivery: "pending" })} />
        </Fact>
        <Fact name="Given up">
          <Count of={health.undelivered} to={withSearch(paths.events(place), { delivery: "undelivered" })} />
        </Fact>
      </Facts>
      {health.state === "failing" && health.last_failure !== null && (
        <p className="mt-2 text-bad">
          The last one failed
          {health.last_failed_at && (
            <>
              {" "}
              <TimeFromNow at={health.last_failed_at} />
            </>
          )}
          : {health.last_failure}
        </p>
      )}
      <Dialog open={changing} onClose={() => setChanging(false)} title="Change the address">
        <p className="mb-3 text-muted">
          Pending events are sent to the new address. The signing secret stays the same.
        </p>
        <AddressForm url={url ?? ""} verb="Change the address" onDone={done} />
      </Dialog>
    </Section>
  );
}

function Count({ of, to }: { of: number; to: string }) {
  if (of === 0) return <>none</>;
  return <To to={to}>{of >= COUNTED_MAX ? `${COUNTED_MAX} or more` : of}</To>;
}
