// Accepting an invitation to become an operator.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useGo } from "../../address.ts";
import { useAction } from "../../api/action.ts";
import { beginSession } from "../../api/session.ts";
import { Accept } from "../../pages/invitation/accept.tsx";
import { paths } from "../../paths.ts";
import { Guest, useFragment } from "../../shell/guest.tsx";
import { PageSkeleton } from "../../shell/states.tsx";
import { ButtonLink } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/face.tsx";
import { TimeFromNow } from "../../ui/time.tsx";
import { write } from "../api/client.ts";
import { at } from "../paths.ts";

export function Page() {
  const go = useGo();
  const queries = useQueryClient();
  const [token, setToken] = useState<string | undefined>(undefined);
  const look = useAction((text: string) => write("POST", "/v1/invitations/look", { body: { token: text } }), {
    refresh: [],
  });
  useFragment((text) => {
    setToken((before) => text || (before ?? ""));
    if (text !== "") void look.run(text);
  });
  const seen = look.result;
  if (token === "" || look.error) {
    return (
      <Guest title="Invitation">
        {look.error ? (
          <ErrorNote error={look.error} />
        ) : (
          <p role="alert">
            There is no invitation in this address. Open the whole link that you were sent, including everything after
            the #.
          </p>
        )}
        <ButtonLink to={paths.signIn()}>To the sign-in</ButtonLink>
      </Guest>
    );
  }
  if (!seen || token === undefined) return <PageSkeleton />;
  return (
    <Guest
      title={`Run ${seen.service_name}`}
      lead={
        <>
          You are invited as <strong className="font-semibold text-ink">{seen.role}</strong>. The invitation ends{" "}
          <TimeFromNow at={seen.expires_at} />.
        </>
      }
    >
      <Accept
        token={token}
        email={seen.email}
        onJoined={async (session) => {
          beginSession(queries, session);
          await go(at.home(), { replace: true });
        }}
      />
    </Guest>
  );
}
