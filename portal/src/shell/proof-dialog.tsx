// Asks the person to prove their identity again before money moves or a secret is shown; then the waiting call continues.
import { useState } from "react";
import { useAction } from "../api/action.ts";
import { proveByPasskey } from "../api/passkey.ts";
import { answerProof } from "../api/proof.ts";
import { type SessionView, personApi, useKeepSession, useSession } from "../api/session.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNote } from "../ui/face.tsx";
import { Form, Submit, TextField, needed } from "../ui/form.tsx";
import { Or } from "./guest.tsx";

export default function ProofDialog() {
  const keep = useKeepSession();
  const person = useSession()?.person;
  const proven = (session: SessionView): void => {
    keep(session);
    answerProof(true);
  };
  const byPassword = person?.has_password === true;
  const byPasskey = (person?.passkeys ?? 0) > 0;
  return (
    <Dialog open onClose={() => answerProof(false)} title="Is it still you?">
      <div className="space-y-4">
        <p className="text-muted">
          This moves money, shows a secret or changes who may do so. Confirm your identity again; this lasts ten
          minutes.
        </p>
        {byPasskey && <ByPasskey onProven={proven} primary={!byPassword} />}
        {byPasskey && byPassword && <Or />}
        {byPassword && <ByPassword onProven={proven} hasAuthenticator={person.has_authenticator} />}
        {person && !byPassword && !byPasskey && (
          <p>You have no password or passkey. Sign in with a new link, then do this within ten minutes.</p>
        )}
      </div>
    </Dialog>
  );
}

function ByPasskey({ onProven, primary }: { onProven: (session: SessionView) => void; primary: boolean }) {
  const prove = useAction(proveByPasskey, { refresh: [], done: onProven });
  return (
    <div className="space-y-3">
      <Button
        look={primary ? "primary" : "plain"}
        className="w-full"
        pending={prove.pending}
        onClick={() => prove.run(undefined)}
      >
        Use your passkey
      </Button>
      {prove.error && <ErrorNote error={prove.error} />}
    </div>
  );
}

interface ByPasswordProps {
  onProven: (session: SessionView) => void;
  hasAuthenticator: boolean;
}

function ByPassword({ onProven, hasAuthenticator }: ByPasswordProps) {
  // An authenticator may have been set up in another window meanwhile: then a code is needed, too.
  const [needsCode, setNeedsCode] = useState(hasAuthenticator);
  const prove = useAction(
    ({ password = "", code = "" }: Record<string, string>) =>
      personApi.write("POST", "/v1/session/proof", { body: { password, ...(code === "" ? {} : { code }) } }),
    {
      refresh: [],
      done(answer) {
        if ("needs" in answer) setNeedsCode(true);
        else onProven(answer);
      },
    },
  );
  return (
    <Form values={{ password: "", code: "" }} action={prove} onSubmit={(values) => prove.run(values)}>
      <TextField
        name="password"
        label="Password"
        type="password"
        autoComplete="current-password"
        check={needed("Your password")}
        autoFocus
      />
      {needsCode && (
        <TextField
          name="code"
          label="Code of your authenticator app"
          hint="Six digits, or one of your recovery codes."
          autoComplete="one-time-code"
          check={needed("A code")}
          mono
        />
      )}
      <Submit>Go on</Submit>
    </Form>
  );
}
