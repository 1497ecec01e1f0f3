// The authenticator app: setting it up by a QR code, and the recovery codes for the day it is lost.
import { useState } from "react";
import { useAction } from "../../api/action.ts";
import { type Person, personApi, useSession } from "../../api/session.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/dialog.tsx";
import { ErrorNote } from "../../ui/face.tsx";
import { Page as Frame, Section } from "../../ui/page.tsx";
import { Status } from "../../ui/status.tsx";
import { say } from "../../ui/toast.tsx";
import { Recovery, RecoveryCodes } from "./recovery.tsx";
import { SetUp } from "./authenticator/set-up.tsx";

export function Page() {
  const person = useSession()?.person;
  // Shown once, and only as long as the page is open.
  const [codes, setCodes] = useState<readonly string[] | undefined>(undefined);
  const [hadNone] = useState(person?.has_authenticator === false);
  if (!person) return null;
  return (
    <Frame
      title="Authenticator app"
      lead="A code from your phone in addition to your password, so that the password alone is not enough."
      beside={person.has_authenticator && <Status status="set up" tone="good" />}
    >
      {codes && <RecoveryCodes codes={codes} />}
      {/* The answer with the codes was lost, or another tab has them. */}
      {hadNone && person.has_authenticator && !codes && (
        <p role="status" className="max-w-xl rounded border border-warn/50 px-3 py-2">
          The authenticator is set up. Its recovery codes were in the answer that said so, and are shown only once: if
          nobody has kept them, make new ones.
        </p>
      )}
      {person.has_authenticator ? <There person={person} onCodes={setCodes} /> : <SetUp onConfirmed={setCodes} />}
    </Frame>
  );
}

function There({ person, onCodes }: { person: Person; onCodes: (codes: readonly string[] | undefined) => void }) {
  const [isRemoving, setRemoving] = useState(false);
  const hasPasskey = person.passkeys > 0;
  const remove = useAction(() => personApi.write("DELETE", "/v1/person/authenticator", {}), {
    refresh: ["/v1/session"],
    done() {
      onCodes(undefined);
      say(hasPasskey ? "The authenticator is removed." : "The authenticator and its recovery codes are removed.");
    },
  });
  return (
    <>
      <Recovery person={person} onCodes={onCodes} />
      <Section title="Remove it">
        <p className="mb-3 max-w-xl">To change phones, remove it here, then set up the new one.</p>
        <Button look="danger" onClick={() => setRemoving(true)}>
          Remove the authenticator
        </Button>
        {remove.error && <ErrorNote error={remove.error} />}
      </Section>
      <Confirm
        open={isRemoving}
        onClose={() => setRemoving(false)}
        title="Remove the authenticator?"
        verb="Remove it"
        onConfirm={async () => {
          // The proof that may be asked for has a dialog of its own: this one makes room for it.
          setRemoving(false);
          await remove.run(undefined);
        }}
      >
        <p>
          {hasPasskey
            ? "After that, you sign in with a passkey, or with your password and a recovery code."
            : "After that, your password alone signs you in, and your recovery codes stop working."}
        </p>
      </Confirm>
    </>
  );
}
