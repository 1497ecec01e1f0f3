// The signing secret: rotated with an overlap, and retired when the receiver needs the one before no more.
import { useState } from "react";
import { useQueryClient } from "@tanstack/react-query";
import { refresh, useAction } from "../../../api/action.ts";
import { useApi, useCan } from "../../../api/place.ts";
import type { Schema } from "../../../api/types.ts";
import { Button } from "../../../ui/button.tsx";
import { Confirm, Dialog } from "../../../ui/dialog.tsx";
import { Form, SelectField, Submit } from "../../../ui/form.tsx";
import { Section } from "../../../ui/page.tsx";
import { Status } from "../../../ui/status.tsx";
import { Time, TimeFromNow } from "../../../ui/time.tsx";
import { say } from "../../../ui/toast.tsx";
import { overlaps } from "../keys/roll.tsx";
import { WebhookSecret } from "./webhook-secret.tsx";

type WebhookSettings = Schema<"WebhookSettings">;
type Previous = NonNullable<WebhookSettings["previous"]>;

export function SigningSecret({ of: { rotated_at: rotatedAt, previous } }: { of: WebhookSettings }) {
  const can = useCan();
  const [doing, setDoing] = useState<"rotate" | "retire" | undefined>(undefined);
  const close = (): void => setDoing(undefined);
  return (
    <Section
      title="Signing secret"
      actions={
        can("webhooks:write") && (
          <>
            {previous && <Button onClick={() => setDoing("retire")}>Retire the old one now</Button>}
            <Button onClick={() => setDoing("rotate")}>Rotate</Button>
          </>
        )
      }
    >
      <div className="rounded-md border border-line bg-panel px-4 py-2.5">
        {previous ? (
          <Overlap of={previous} />
        ) : (
          <p className="text-muted">
            {rotatedAt === null ? (
              "Never rotated."
            ) : (
              <>
                Rotated <TimeFromNow at={rotatedAt} />.
              </>
            )}{" "}
            One secret signs.
          </p>
        )}
      </div>
      {doing === "rotate" && (
        <Rotate onClose={close} until={previous && !isSafe(previous) ? previous.until : undefined} />
      )}
      {doing === "retire" && <Retire onClose={close} isSafe={previous !== null && isSafe(previous)} />}
    </Section>
  );
}

/** The new secret alone was accepted, and after the old one was last needed. */
function isSafe({ last_needed_at: needed, last_not_needed_at: notNeeded }: Previous): boolean {
  return notNeeded !== null && (needed === null || needed < notNeeded);
}

function Overlap({ of }: { of: Previous }) {
  return (
    <div className="space-y-1">
      <p className="flex flex-wrap items-center gap-x-3">
        {isSafe(of) ? <Status status="safe to retire" tone="good" /> : <Status status="both sign" tone="warn" />}
        <span>
          The old secret also signs until <Time at={of.until} shape="minute" />.
        </span>
      </p>
      <p className="text-muted">
        {of.last_not_needed_at !== null && (
          <>
            A delivery signed with the new secret alone was accepted <TimeFromNow at={of.last_not_needed_at} />.{" "}
          </>
        )}
        {of.last_needed_at !== null && (
          <>
            One signed with the new secret alone was refused <TimeFromNow at={of.last_needed_at} />: your receiver was
            still verifying with the old one.{" "}
          </>
        )}
        {of.last_not_needed_at === null && of.last_needed_at === null && (
          <>
            {of.last_accepted_at === null ? (
              "No delivery has been accepted since the rotation."
            ) : (
              <>
                One with both signatures was accepted <TimeFromNow at={of.last_accepted_at} />, which does not show
                which secret your receiver uses.
              </>
            )}{" "}
            From time to time a delivery is signed with the new one alone, to find out.
          </>
        )}
      </p>
    </div>
  );
}

function Rotate({ onClose, until }: { onClose: () => void; until: string | undefined }) {
  const api = useApi();
  const rotate = useAction(
    (overlap_seconds: number) => api.write("POST", "/v1/webhook/rotate", { body: { overlap_seconds } }),
    { refresh: ["/v1/webhook"] },
  );
  const { result } = rotate;
  return (
    <Dialog open onClose={onClose} title={result ? "The new signing secret" : "Rotate the signing secret"}>
      {result ? (
        <WebhookSecret secret={result.webhook_secret} onClose={onClose} />
      ) : (
        <Form
          values={{ overlap_seconds: "86400" }}
          action={rotate}
          onSubmit={({ overlap_seconds: seconds }) => rotate.run(Number(seconds))}
        >
          <p>
            While both sign, a receiver with either secret verifies every delivery by <code>webhook-signature</code>.
          </p>
          {until !== undefined && <EndsOldest until={until} />}
          <SelectField name="overlap_seconds" label="The old secret signs as well" options={overlaps} />
          <Submit look={until === undefined ? "primary" : "danger"}>Rotate the secret</Submit>
        </Form>
      )}
    </Dialog>
  );
}

/** Before a rotation during the overlap of another, such as one whose answer was lost. */
export function EndsOldest({ until }: { until: string }) {
  return (
    <p role="status" className="rounded border border-warn/50 px-3 py-2">
      The secret was rotated already, and the one before signs as well until <Time at={until} shape="minute" />. Rotated
      again, that oldest one ends at once: a receiver that verifies with it refuses everything from then on.
    </p>
  );
}

function Retire({ onClose, isSafe: safe }: { onClose: () => void; isSafe: boolean }) {
  const api = useApi();
  const queries = useQueryClient();
  const retire = async (): Promise<void> => {
    await api.write("DELETE", "/v1/webhook/previous");
    say("The old secret no longer signs.");
    void refresh(queries, ["/v1/webhook"]);
  };
  return (
    <Confirm open onClose={onClose} title="Retire the old secret?" verb="Retire the old secret" onConfirm={retire}>
      <p>From now on, deliveries are signed with the new secret alone.</p>
      {!safe && <p className="text-warn">There is no sign yet that your receiver verifies with the new one.</p>}
    </Confirm>
  );
}
