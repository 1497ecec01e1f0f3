// Letting the first owner into a merchant, who invites everybody else.
import { useState } from "react";
import { useAction } from "../../../api/action.ts";
import { type Role, meaningOf, roles } from "../../../pages/settings/team/roles.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Form, SelectField, Submit, TextField, useFormValues } from "../../../ui/form.tsx";
import { Section } from "../../../ui/page.tsx";
import { TimeFromNow } from "../../../ui/time.tsx";
import { write } from "../../api/client.ts";
import { useMay } from "../../api/rights.ts";
import { Secret } from "./secret.tsx";

export function Invite({ id }: { id: string }) {
  const isAdmin = useMay()("admin");
  const [open, setOpen] = useState(false);
  if (!isAdmin) return null;
  return (
    <Section title="People">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2 rounded-md border border-line bg-panel px-4 py-3">
        <p className="min-w-0 flex-1 basis-60 text-muted">
          Its first owner comes in by a link of yours, and invites everybody else in the portal.
        </p>
        <Button onClick={() => setOpen(true)}>Invite an owner…</Button>
      </div>
      {open && <InviteDialog id={id} close={() => setOpen(false)} />}
    </Section>
  );
}

function InviteDialog({ id, close }: { id: string; close: () => void }) {
  const action = useAction(
    (body: { role: Role; email?: string }) => write("POST", "/v1/merchants/{id}/invitations", { path: { id }, body }),
    { refresh: ["/v1/audit"] },
  );
  const made = action.result;
  return (
    <Dialog open onClose={close} title={made ? "The invitation is made" : "Invite somebody to the merchant"}>
      {made ? (
        <div className="space-y-4">
          <p>
            Hand this link over yourself. It makes {made.email ?? "one person"} {made.role} of the merchant, once, and
            ends <TimeFromNow at={made.expires_at} />. <strong>It is shown this once.</strong>
          </p>
          <Secret label="Link" text={made.url} />
          <Button onClick={close}>Done</Button>
        </div>
      ) : (
        <Form
          values={{ role: "owner", email: "" }}
          action={action}
          onSubmit={({ role, email = "" }) =>
            action.run({ role: role as Role, ...(email.trim() === "" ? {} : { email: email.trim() }) })
          }
        >
          <RoleField />
          <TextField
            name="email"
            type="email"
            label="E-mail"
            autoComplete="off"
            hint="Where given, only this person may accept. Without it, whoever has the link may."
          />
          <Submit>Make the link</Submit>
        </Form>
      )}
    </Dialog>
  );
}

function RoleField() {
  const role = useFormValues().role as Role;
  return <SelectField name="role" label="Role" options={roles} hint={meaningOf[role]} />;
}
