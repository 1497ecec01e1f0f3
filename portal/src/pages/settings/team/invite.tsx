// Inviting somebody to the merchant's team.
import { useApi } from "../../../api/place.ts";
import { InviteDialog } from "../../../shell/invite-dialog.tsx";
import { RoleField } from "./members.tsx";
import type { Role } from "./roles.ts";

export function Invite({ close }: { close: () => void }) {
  const api = useApi();
  return (
    <InviteDialog<Role>
      title="Invite somebody"
      role="viewer"
      roleField={<RoleField />}
      invite={(body) => api.write("POST", "/v1/team/invitations", { body })}
      refresh={["/v1/team", "/v1/audit"]}
      does={(somebody, role) => `lets ${somebody} in as ${role}`}
      close={close}
    />
  );
}
