// Team: who may act for the merchant, as what, and who is invited.
import { useState } from "react";
import { useCan } from "../../api/place.ts";
import { Button } from "../../ui/button.tsx";
import { Page as Frame, Section } from "../../ui/page.tsx";
import { Invitations } from "./team/invitations.tsx";
import { Invite } from "./team/invite.tsx";
import { Members } from "./team/members.tsx";
import { meaningOf, roles } from "./team/roles.ts";

export function Page() {
  const can = useCan();
  const [inviting, setInviting] = useState(false);
  return (
    <Frame
      title="Team"
      lead="Who may act for this merchant, in both environments."
      actions={
        can("team:write") && (
          <Button look="primary" onClick={() => setInviting(true)}>
            Invite somebody
          </Button>
        )
      }
    >
      <Section title="Members">
        <Members />
      </Section>
      <Section title="Invitations">
        <Invitations />
      </Section>
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
