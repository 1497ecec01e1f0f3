// Invitations that can still be accepted, and how an admin takes one back.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { refresh } from "../../../api/action.ts";
import { Button } from "../../../ui/button.tsx";
import { Confirm } from "../../../ui/dialog.tsx";
import { Empty } from "../../../ui/empty.tsx";
import { type Column, Table } from "../../../ui/table.tsx";
import { TimeFromNow } from "../../../ui/time.tsx";
import { say } from "../../../ui/toast.tsx";
import { type Schema, read, write } from "../../api/client.ts";

type Invitation = Schema<"OperatorInvitation">;

export function Invitations() {
  const list = useQuery(read("/v1/operators/invitations"));
  const [ending, setEnding] = useState<Invitation | undefined>(undefined);
  const columns: Column<Invitation>[] = [
    { head: "For", cell: ({ email }) => email ?? <span className="text-muted">whoever has the link</span> },
    { head: "Role", cell: ({ role }) => role },
    { head: "By", from: "wide", cell: ({ created_by: by }) => by },
    { head: "Ends", from: "wide", cell: ({ expires_at: at }) => <TimeFromNow at={at} /> },
    {
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
    },
  ];
  return (
    <>
      <Table
        label="Invitations"
        list={list}
        columns={columns}
        id={(one) => one.invitation_id}
        empty={
          <Empty title="No open invitations">
            An invitation is a link that makes one person an operator, once, within three days. It is shown only once,
            when it is created.
          </Empty>
        }
      />
      {ending && <TakeBack invitation={ending} close={() => setEnding(undefined)} />}
    </>
  );
}

function TakeBack({ invitation: { invitation_id }, close }: { invitation: Invitation; close: () => void }) {
  const queries = useQueryClient();
  const takeBack = async (): Promise<void> => {
    await write("DELETE", "/v1/operators/invitations/{invitation_id}", { path: { invitation_id } });
    await refresh(queries, ["/v1/operators", "/v1/audit"]);
    say("The invitation is taken back.");
  };
  return (
    <Confirm open onClose={close} title="Take the invitation back?" verb="Take it back" onConfirm={takeBack}>
      <p>Its link stops working. You can invite the same person again.</p>
    </Confirm>
  );
}
