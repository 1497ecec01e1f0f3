// Webhooks: where events go, whether they arrive, what signs them, and in the sandbox everything to try a receiver with.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useQueryText } from "../../address.ts";
import { useApi, useCan, usePlace } from "../../api/place.ts";
import { paths } from "../../paths.ts";
import { Answer } from "../../ui/answer.tsx";
import { ButtonLink } from "../../ui/button.tsx";
import type { Call } from "../../ui/curl.tsx";
import { Page as Frame, Section } from "../../ui/page.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { Deliveries } from "./webhooks/deliveries.tsx";
import { Doctor } from "./webhooks/doctor.tsx";
import { Endpoint } from "./webhooks/endpoint.tsx";
import { FirstAddress } from "./webhooks/first-address.tsx";
import { Misbehave } from "./webhooks/misbehave.tsx";
import { ResendOwn } from "./webhooks/resend-own.tsx";
import { SigningSecret } from "./webhooks/signing-secret.tsx";
import { Trigger } from "./webhooks/trigger.tsx";

/** Of the tools. */
const calls: Record<string, Call> = {
  trigger: { method: "POST", path: "/v1/sandbox/events/trigger", body: { type: "payment.succeeded" } },
  misbehave: { method: "PUT", path: "/v1/sandbox/webhook/misbehave", body: { mode: "duplicate", for_next: 3 } },
  doctor: {
    method: "POST",
    path: "/v1/sandbox/webhook/doctor",
    body: { headers: { "webhook-id": "evt_…" }, body: "{}" },
  },
};

export function Page() {
  const place = usePlace();
  const api = useApi();
  const can = useCan();
  const settings = useQuery(api.read("/v1/webhook"));
  const { tab } = useQueryText();
  // Its secret is shown once: nothing that is fetched meanwhile may take the form away with it.
  const [isRegistering, setRegistering] = useState(false);
  const isSandbox = place.environment === "sandbox" && can("sandbox:write");
  const deliveries = (
    <Section title="Every attempt, newest first" actions={can("events:write") && <ResendOwn />}>
      <Deliveries />
    </Section>
  );
  return (
    <Frame
      title="Webhooks"
      lead={`Whether your ${place.environment} events reach your receiver, and if not, why.`}
      actions={isSandbox && settings.data?.url && <ButtonLink to={paths.exam(place)}>Test the receiver</ButtonLink>}
      curl={calls[isSandbox ? (tab ?? "") : ""] ?? { path: "/v1/events?delivery=undelivered" }}
    >
      <Answer of={settings}>
        {(settings) =>
          settings.url === null || isRegistering ? (
            <FirstAddress onBegin={() => setRegistering(true)} onDone={() => setRegistering(false)} />
          ) : (
            <>
              <Endpoint of={settings} />
              <SigningSecret of={settings} />
              {isSandbox ? (
                <Tabs
                  label="Deliveries and tools"
                  tabs={{
                    deliveries: { label: "Deliveries", content: () => deliveries },
                    trigger: { label: "Trigger", content: () => <Trigger /> },
                    misbehave: { label: "Misbehave", content: () => <Misbehave /> },
                    doctor: { label: "Doctor", content: () => <Doctor /> },
                  }}
                />
              ) : (
                deliveries
              )}
            </>
          )
        }
      </Answer>
    </Frame>
  );
}
