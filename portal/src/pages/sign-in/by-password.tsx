// The form of the sign-in: e-mail address and password, then whatever else the account asks for; or a passkey alone.
import { useState } from "react";
import { useAction } from "../../api/action.ts";
import { knowsPasskeys, signInByPasskey } from "../../api/passkey.ts";
import { type SessionView, personApi } from "../../api/session.ts";
import { pagesRoot } from "../../face.ts";
import { Or } from "../../shell/guest.tsx";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/face.tsx";
import { Form, Submit, TextField, needed } from "../../ui/form.tsx";

type Needs = "code" | "passkey";

export function ByPassword({ onBegun }: { onBegun: (session: SessionView) => void }) {
  const [needs, setNeeds] = useState<Needs | undefined>(undefined);
  const signIn = useAction(
    ({ email = "", password = "", code = "" }: Record<string, string>) =>
      personApi.write("POST", "/v1/session", { body: { email, password, ...(code === "" ? {} : { code }) } }),
    {
      refresh: [],
      done(answer) {
        if ("needs" in answer) setNeeds(answer.needs);
        else onBegun(answer);
      },
    },
  );
  return (
    <>
      <Form values={{ email: "", password: "", code: "" }} action={signIn} onSubmit={(values) => signIn.run(values)}>
        <TextField
          name="email"
          label="E-mail address"
          type="email"
          autoComplete="username"
          check={needed("Your e-mail address")}
          autoFocus
        />
        <TextField
          name="password"
          label="Password"
          type="password"
          autoComplete="current-password"
          check={needed("Your password")}
        />
        {needs && (
          <TextField
            key={needs}
            name="code"
            label={needs === "code" ? "Code of your authenticator app" : "Recovery code"}
            hint={
              needs === "code"
                ? "Six digits, or one of your recovery codes."
                : "Your passkey below is quicker. Each recovery code works once."
            }
            autoComplete="one-time-code"
            check={needed("A code")}
            autoFocus
            mono
          />
        )}
        <Submit>Sign in</Submit>
      </Form>
      {knowsPasskeys() && (
        <>
          <Or />
          <ByPasskey onBegun={onBegun} />
        </>
      )}
      <p className="text-xs text-muted">
        {pagesRoot === "/console" ? (
          <>
            No account? Ask an admin of the console for an invitation. Cannot sign in? Somebody at the machine of the
            service prints a new link: <code>gerbang people reset-link --console --email …</code>
          </>
        ) : (
          "No account? Ask an owner of the merchant for an invitation. Cannot sign in? Ask whoever runs this service for a new link."
        )}
      </p>
    </>
  );
}

function ByPasskey({ onBegun }: { onBegun: (session: SessionView) => void }) {
  const signIn = useAction(signInByPasskey, { refresh: [], done: onBegun });
  return (
    <div className="space-y-3">
      <Button className="w-full" pending={signIn.pending} onClick={() => signIn.run(undefined)}>
        Sign in with a passkey
      </Button>
      {signIn.error && <ErrorNote error={signIn.error} />}
    </div>
  );
}
