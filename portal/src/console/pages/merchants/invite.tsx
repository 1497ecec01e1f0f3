// Letting the first owner into a merchant, who invites everybody else.
import { useState } from "react";
import { type Role, meaningOf, roles } from "../../../pages/settings/team/roles.ts";
import { InviteDialog } from "../../../shell/invite-dialog.tsx";
import { Button } from "../../../ui/button.tsx";
import { SelectField, useFormValues } from "../../../ui/form.tsx";
import { Section } from "../../../ui/page.tsx";
import { write } from "../../api/client.ts";
import { useMay } from "../../api/rights.ts";

export function Invite({ id }: { id: string }) {
  const isAdmin = useMay()("admin");
  const [open, setOpen] = useState(false);
  if (!isAdmin) return null;
  return (
    <Section title="People">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2 rounded-md border border-line bg-panel px-4 py-3">
        <p className="min-w-0 flex-1 basis-60 text-muted">
          Send its first owner an invitation link. They then invite everybody else in the portal.
        </p>
        <Button onClick={() => setOpen(true)}>Invite an owner…</Button>
      </div>
      {open && (
        <InviteDialog<Role>
          title="Invite somebody to the merchant"
          role="owner"
          roleField={<RoleField />}
          invite={(body) => write("POST", "/v1/merchants/{id}/invitations", { path: { id }, body })}
          refresh={["/v1/audit"]}
          does={(somebody, role) => `makes ${somebody} ${role} of the merchant`}
          close={() => setOpen(false)}
        />
      )}
    </Section>
  );
}

function RoleField() {
  const role = useFormValues().role as Role;
  return <SelectField name="role" label="Role" options={roles} hint={meaningOf[role]} />;
}
