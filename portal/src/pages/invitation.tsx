// Accepting an invitation: whose it is, and joining by it as a new person or with the account one has.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useGo } from "../address.ts";
import { useAction } from "../api/action.ts";
import { beginSession, personApi } from "../api/session.ts";
import type { Schema } from "../api/types.ts";
import { paths } from "../paths.ts";
import { Guest, useFragment } from "../shell/guest.tsx";
import { PageSkeleton } from "../shell/states.tsx";
import { Button, ButtonLink } from "../ui/button.tsx";
import { ErrorNote } from "../ui/face.tsx";
import { TimeFromNow } from "../ui/time.tsx";
import { Accept } from "./invitation/accept.tsx";

export function Page() {
  const go = useGo();
  const queries = useQueryClient();
  const [token, setToken] = useState<string | undefined>(undefined);
  const look = useAction((text: string) => personApi.write("POST", "/v1/invitations/look", { body: { token: text } }), {
    refresh: [],
  });
  useFragment((text) => {
    setToken((before) => text || (before ?? ""));
    if (text !== "") void look.run(text);
  });
  if (token === "") return <NoToken />;
  if (look.error) {
    return (
      <Guest title="Invitation">
        {look.error.status === 404 ? <p role="alert">{look.error.message}</p> : <ErrorNote error={look.error} />}
        {look.error.status !== 404 && token !== undefined && <Button onClick={() => look.run(token)}>Try again</Button>}
        <ButtonLink to={paths.signIn()}>To the sign-in</ButtonLink>
      </Guest>
    );
  }
  if (!look.result || token === undefined) return <PageSkeleton />;
  return (
    <Guest title={`Join ${look.result.merchant_name}`} lead={<Lead of={look.result} />}>
      <Accept
        token={token}
        email={look.result.email}
        onJoined={async (session) => {
          beginSession(queries, session);
          await go(paths.start(), { replace: true });
        }}
      />
    </Guest>
  );
}

function Lead({ of: { role, expires_at } }: { of: Schema<"SeenInvitation"> }) {
  return (
    <>
      You are invited as <strong className="font-semibold text-ink">{role}</strong>. The invitation ends{" "}
      <TimeFromNow at={expires_at} />.
    </>
  );
}

function NoToken() {
  return (
    <Guest title="Invitation">
      <p role="alert">
        There is no invitation in this address. Open the whole link that you were sent, including everything after the
        #.
      </p>
      <ButtonLink to={paths.signIn()}>To the sign-in</ButtonLink>
    </Guest>
  );
}
