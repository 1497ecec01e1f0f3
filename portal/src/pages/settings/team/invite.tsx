// Inviting somebody: their role, and the link that is shown this once.
import { useAction } from "../../../api/action.ts";
import { useApi } from "../../../api/place.ts";
import { Button } from "../../../ui/button.tsx";
import { Code } from "../../../ui/code.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Form, Submit, TextField } from "../../../ui/form.tsx";
import { TimeFromNow } from "../../../ui/time.tsx";
import { RoleField } from "./members.tsx";
import type { Role } from "./roles.ts";

interface Invited {
  role: Role;
  email?: string;
}

export function Invite({ close }: { close: () => void }) {
  const api = useApi();
  const action = useAction((body: Invited) => api.write("POST", "/v1/team/invitations", { body }), {
    refresh: ["/v1/team", "/v1/audit"],
  });
  const made = action.result;
  return (
    <Dialog open onClose={close} title={made ? "The invitation is made" : "Invite somebody"}>
      {made ? (
        <div className="space-y-4">
          <p>
            Hand this link over yourself. It lets {made.email ?? "one person"} in as {made.role}, once, and ends{" "}
            <TimeFromNow at={made.expires_at} />. <strong>It is shown this once.</strong>
          </p>
          <Code text={made.url} what="the link" />
          <Button onClick={close}>Done</Button>
        </div>
      ) : (
        <Form
          values={{ role: "viewer", email: "" }}
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
