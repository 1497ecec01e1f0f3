// The form of an invitation. Who has an account proves it by its password; the service says so when it meets one.
import { useState } from "react";
import { useAction } from "../../api/action.ts";
import { type SessionView, personApi } from "../../api/session.ts";
import { Form, Submit, TextField, needed } from "../../ui/form.tsx";

interface Props {
  token: string;
  /** The only address that may accept it; null: any. */
  email: string | null;
  onJoined: (session: SessionView) => Promise<void>;
}

export function Accept({ token, email: invited, onJoined }: Props) {
  const [needs, setNeeds] = useState(false);
  const accept = useAction(
    ({ email = "", name = "", password = "", code = "" }: Record<string, string>) =>
      personApi.write("POST", "/v1/invitations/accept", {
        body: { token, email, name, password, ...(code === "" ? {} : { code }) },
      }),
    {
      refresh: [],
      async done(answer) {
        if ("needs" in answer) setNeeds(true);
        else await onJoined(answer);
      },
    },
  );
  return (
    <Form
      values={{ email: invited ?? "", name: "", password: "", code: "" }}
      action={accept}
      onSubmit={(values) => accept.run(values)}
    >
      <TextField
        name="email"
        label="E-mail address"
        type="email"
        autoComplete="username"
        hint={invited === null ? "You will sign in with it." : "The invitation is for this address."}
        check={needed("Your e-mail address")}
        autoFocus={invited === null}
      />
      <TextField
        name="name"
        label="Your name"
        autoComplete="name"
        check={needed("Your name")}
        autoFocus={invited !== null}
      />
      <TextField
        name="password"
        label="Password"
        type="password"
        autoComplete="new-password"
        hint="At least 12 characters; a few words work well. If you already have an account with this address, enter its password."
        check={needed("A password")}
      />
      {needs && (
        <TextField
          name="code"
          label="Code"
          hint="Your account requires it: six digits from your authenticator app, or one of your recovery codes."
          autoComplete="one-time-code"
          check={needed("A code")}
          autoFocus
          mono
        />
      )}
      <Submit>Join</Submit>
    </Form>
  );
}
