// Operators: who may sign in here, as what, and who is invited.
import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Page as Frame, Section } from "../../ui/page.tsx";
import { useMay } from "../api/rights.ts";
import { Invitations } from "./operators/invitations.tsx";
import { Invite } from "./operators/invite.tsx";
import { People } from "./operators/people.tsx";
import { meaningOf, roles } from "./operators/roles.tsx";

export function Page() {
  const isAdmin = useMay()("admin");
  const [inviting, setInviting] = useState(false);
  return (
    <Frame
      title="Operators"
      lead="Who may sign in to this console, and what they may do."
      curl={{ path: "/v1/operators" }}
      actions={
        isAdmin && (
          <Button look="primary" onClick={() => setInviting(true)}>
            Invite somebody
          </Button>
        )
      }
    >
      <Section title="People">
        <People />
      </Section>
      {isAdmin && (
        <Section title="Invitations">
          <Invitations />
        </Section>
      )}
      <Section title="What each role may do">
        <dl className="grid gap-x-4 gap-y-2 rounded-md border border-line bg-panel p-4 sm:grid-cols-[7rem_1fr]">
          {roles.map((role) => (
            <div key={role} className="contents">
              <dt className="font-medium">{role}</dt>
              <dd className="text-muted">{meaningOf[role]}</dd>
            </div>
          ))}
        </dl>
      </Section>
      {inviting && <Invite close={() => setInviting(false)} />}
    </Frame>
  );
}
