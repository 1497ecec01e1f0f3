// Inviting somebody to become an operator.
import { InviteDialog } from "../../../shell/invite-dialog.tsx";
import { write } from "../../api/client.ts";
import type { Role } from "../../api/rights.ts";
import { RoleField } from "./roles.tsx";

export function Invite({ close }: { close: () => void }) {
  return (
    <InviteDialog<Role>
      title="Invite an operator"
      role="viewer"
      roleField={
        <>
          <RoleField />
          <p className="text-xs text-muted">
            Where a change needs two operators, whoever you invite counts as one with you. Invite the second pair of
            eyes with <code>npx gerbang people invite-operator</code>.
          </p>
        </>
      }
      invite={(body) => write("POST", "/v1/operators/invitations", { body })}
      refresh={["/v1/operators", "/v1/audit"]}
      does={(somebody, role) => `makes ${somebody} an operator with the role ${role}`}
      close={close}
    />
  );
}
