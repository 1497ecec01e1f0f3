// Where a merchant's events go, in each environment, and the secret that signs them.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useAction } from "../../../api/action.ts";
import { Answer } from "../../../ui/answer.tsx";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Form, SelectField, Submit, TextField, needed } from "../../../ui/form.tsx";
import { Once } from "../../../ui/once.tsx";
import { Section } from "../../../ui/page.tsx";
import { Skeleton } from "../../../ui/skeleton.tsx";
import { TimeFromNow } from "../../../ui/time.tsx";
import { type Schema, read, write } from "../../api/client.ts";
import { useMay } from "../../api/rights.ts";
import { EndsOldest } from "../../../pages/developers/webhooks/signing-secret.tsx";
import { environments } from "./book-links.tsx";
import { Secret } from "./secret.tsx";

type Environment = Schema<"Environment">;

const DAY = 86_400;
const overlaps = [
  { value: "0", label: "At once" },
  { value: "3600", label: "In an hour" },
  { value: String(DAY), label: "In a day" },
  { value: String(7 * DAY), label: "In a week" },
];
const refreshed = ["/v1/merchants/{id}/webhook", "/v1/audit"];
const urlNeeded = needed("An address");

export function Webhooks({ id }: { id: string }) {
  return (
    <Section title="Webhooks">
      <ul className="divide-y divide-line rounded-md border border-line bg-panel">
        {environments.map((environment) => (
          <Webhook key={environment} id={id} environment={environment} />
        ))}
      </ul>
    </Section>
  );
}

interface Props {
  id: string;
  environment: Environment;
}

function Webhook({ id, environment }: Props) {
  const isAdmin = useMay()("admin");
  const webhook = useQuery(read("/v1/merchants/{id}/webhook", { path: { id }, query: { environment } }));
  const [open, setOpen] = useState<"address" | "rotate" | undefined>(undefined);
  return (
    <li className="flex min-h-12 flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2">
      <span className="min-w-24 font-medium">{environment}</span>
      <div className="min-w-0 flex-1 basis-60">
        <Answer of={webhook} skeleton={<Skeleton className="h-5 w-60" />}>
          {({ url, previous }) => (
            <>
              {url === null ? (
                <span className="text-muted">
                  No address yet: only events of payments with a callback_url are sent.
                </span>
              ) : (
                <code className="font-mono text-xs break-all">{url}</code>
              )}
              {previous && (
                <p className="text-xs text-muted">
                  The previous secret also signs, and ends <TimeFromNow at={previous.until} />.
                </p>
              )}
            </>
          )}
        </Answer>
      </div>
      {isAdmin && webhook.data && (
        <span className="flex flex-wrap gap-1">
          <Button look="quiet" label={`Set the address of ${environment}`} onClick={() => setOpen("address")}>
            Set the address…
          </Button>
          <Button look="quiet" label={`A new secret for ${environment}`} onClick={() => setOpen("rotate")}>
            New secret…
          </Button>
        </span>
      )}
      {open === "address" && (
        <SetAddress id={id} environment={environment} url={webhook.data?.url ?? ""} close={() => setOpen(undefined)} />
      )}
      {open === "rotate" && (
        <Rotate
          id={id}
          environment={environment}
          until={webhook.data?.previous?.until}
          close={() => setOpen(undefined)}
        />
      )}
    </li>
  );
}

function SetAddress({ id, environment, url: before, close }: Props & { url: string; close: () => void }) {
  const action = useAction(
    (url: string) => write("PUT", "/v1/merchants/{id}/webhook", { path: { id }, body: { environment, url } }),
    { refresh: refreshed },
  );
  const { result } = action;
  return (
    <Dialog open onClose={close} title={`The webhook of ${environment}`}>
      {result ? (
        <Told secret={result.webhook_secret} close={close}>
          Events go to <code className="font-mono text-xs break-all">{result.url}</code>, including pending ones. They
          are signed with the current secret.
        </Told>
      ) : (
        <Form values={{ url: before }} action={action} onSubmit={({ url = "" }) => action.run(url.trim())}>
          <TextField
            name="url"
            label="Address"
            type="url"
            placeholder="https://shop.example/webhooks"
            hint="A public https address."
            check={urlNeeded}
            autoComplete="off"
            mono
          />
          <Submit>Set it</Submit>
        </Form>
      )}
    </Dialog>
  );
}

function Rotate({ id, environment, until, close }: Props & { until: string | undefined; close: () => void }) {
  const action = useAction(
    (overlap_seconds: number) =>
      write("POST", "/v1/merchants/{id}/webhook/rotate", { path: { id }, body: { environment, overlap_seconds } }),
    { refresh: refreshed },
  );
  const { result } = action;
  return (
    <Dialog open onClose={close} title={`A new signing secret for ${environment}`}>
      {result ? (
        <Told secret={result.webhook_secret} close={close}>
          It signs deliveries from now on.
        </Told>
      ) : (
        <Form values={{ overlap: String(DAY) }} action={action} onSubmit={({ overlap }) => action.run(Number(overlap))}>
          {until !== undefined && <EndsOldest until={until} />}
          <SelectField
            name="overlap"
            label="The one before ends"
            options={overlaps}
            hint="Until then both sign, so that the merchant can switch over without a gap."
          />
          <Submit look={until === undefined ? "primary" : "danger"}>Make it</Submit>
        </Form>
      )}
    </Dialog>
  );
}

function Told({ secret, close, children }: { secret: string; close: () => void; children: React.ReactNode }) {
  return (
    <Once>
      <p>
        {children} <strong>Give the secret to the merchant, and keep no copy.</strong>
      </p>
      <Secret label="Webhook secret" text={secret} />
      <Button onClick={close}>I have handed it over</Button>
    </Once>
  );
}
