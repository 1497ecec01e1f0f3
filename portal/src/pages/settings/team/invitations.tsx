// Invitations that can still be accepted, and how an owner takes one back.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { refresh } from "../../../api/action.ts";
import { useApi, useCan } from "../../../api/place.ts";
import type { Schema } from "../../../api/types.ts";
import { Button } from "../../../ui/button.tsx";
import { Confirm } from "../../../ui/dialog.tsx";
import { Empty } from "../../../ui/empty.tsx";
import { type Column, Table } from "../../../ui/table.tsx";
import { TimeFromNow } from "../../../ui/time.tsx";
import { say } from "../../../ui/toast.tsx";

type Invitation = Schema<"TeamInvitation">;

export function Invitations() {
  const api = useApi();
  const can = useCan();
  const list = useQuery(api.read("/v1/team/invitations"));
  const [ending, setEnding] = useState<Invitation | undefined>(undefined);

  const columns: Column<Invitation>[] = [
    { head: "For", cell: ({ email }) => email ?? <span className="text-muted">whoever has the link</span> },
    { head: "Role", cell: ({ role }) => role },
    { head: "Ends", from: "wide", cell: ({ expires_at: at }) => <TimeFromNow at={at} /> },
  ];
  if (can("team:write")) {
    columns.push({
      head: "Change",
      align: "right",
      cell: (invitation) => (
        <Button
          look="quiet"
          label={`Take back the invitation for ${invitation.email ?? invitation.role}`}
          onClick={() => setEnding(invitation)}
        >
          Take back…
        </Button>
      ),
    });
  }
  return (
    <>
      <Table label="Invitations" list={list} columns={columns} id={(one) => one.invitation_id} empty={<NoneOpen />} />
      {ending && <TakeBack invitation={ending} close={() => setEnding(undefined)} />}
    </>
  );
}

function TakeBack({ invitation, close }: { invitation: Invitation; close: () => void }) {
  const api = useApi();
  const queries = useQueryClient();
  const takeBack = async (): Promise<void> => {
    const { invitation_id } = invitation;
    await api.write("DELETE", "/v1/team/invitations/{invitation_id}", { path: { invitation_id } });
    await refresh(queries, ["/v1/team", "/v1/audit"]);
    say("The invitation is taken back.");
  };
  return (
    <Confirm open onClose={close} title="Take the invitation back?" verb="Take it back" onConfirm={takeBack}>
      <p>Its link stops working. You can invite the same person again.</p>
    </Confirm>
  );
}

function NoneOpen() {
  return (
    <Empty title="No open invitations">
      An invitation is a link that lets one person in, once, within seven days. It is shown when it is made, and never
      again.
    </Empty>
  );
}
