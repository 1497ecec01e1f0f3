// Signing in from a command line: the code that a terminal shows is compared, what asks for a key is looked at, and it is confirmed or refused.
import { useEffect } from "react";
import { useQueryText, useSetQuery } from "../address.ts";
import { type Action, useAction } from "../api/action.ts";
import { type SessionView, personApi } from "../api/session.ts";
import type { Schema } from "../api/types.ts";
import { Guest } from "../shell/guest.tsx";
import { SessionGate } from "../shell/session-gate.tsx";
import { PageSkeleton } from "../shell/states.tsx";
import { Form, Submit, TextField, needed } from "../ui/form.tsx";
import { Answer } from "./device/answer.tsx";

type SeenDevice = Schema<"SeenDevice">;

export function Page() {
  return <SessionGate>{(session) => <Device session={session} />}</SessionGate>;
}

function Device({ session }: { session: SessionView }) {
  const { code } = useQueryText();
  const setQuery = useSetQuery();
  const look = useAction(
    (user_code: string) => personApi.write("POST", "/v1/device-codes/look", { body: { user_code } }),
    // What is looked at stays after a reload, and Back leads to the field again.
    {
      refresh: [],
      done({ user_code }) {
        if (user_code !== code) setQuery({ code: user_code });
      },
    },
  );
  useEffect(() => {
    if (code === undefined) look.reset();
    else void look.run(code);
    // Once for each code: what the action is changes with every render.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [code]);
  if (look.result) return <Answer key={look.result.user_code} device={look.result} session={session} />;
  if (code !== undefined && !look.error) return <PageSkeleton />;
  return <AskForCode look={look} first={code ?? ""} />;
}

function AskForCode({ look, first }: { look: Action<string, SeenDevice>; first: string }) {
  return (
    <Guest title="Sign in a terminal" lead="Type the code that gerbang login shows you.">
      <Form values={{ user_code: first }} action={look} onSubmit={({ user_code = "" }) => look.run(user_code)}>
        <TextField
          name="user_code"
          label="Code"
          placeholder="XXXX-XXXX"
          autoComplete="off"
          hint="Eight letters. Dashes and small letters do not matter."
          check={needed("The code")}
          autoFocus
          mono
        />
        <Submit>Continue</Submit>
      </Form>
    </Guest>
  );
}
