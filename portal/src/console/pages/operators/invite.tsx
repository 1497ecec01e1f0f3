// Inviting somebody to become an operator: their role, and the link that is shown this once.
import { useAction } from "../../../api/action.ts";
import { Button } from "../../../ui/button.tsx";
import { Code } from "../../../ui/code.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Form, Submit, TextField } from "../../../ui/form.tsx";
import { TimeFromNow } from "../../../ui/time.tsx";
import { write } from "../../api/client.ts";
import type { Role } from "../../api/rights.ts";
import { RoleField } from "./roles.tsx";

export function Invite({ close }: { close: () => void }) {
  const action = useAction(
    (body: { role: Role; email?: string }) => write("POST", "/v1/operators/invitations", { body }),
    { refresh: ["/v1/operators", "/v1/audit"] },
  );
  const made = action.result;
  return (
    <Dialog open onClose={close} title={made ? "The invitation is made" : "Invite an operator"}>
      {made ? (
        <div className="space-y-4">
          <p>
            Hand this link over yourself. It makes {made.email ?? "one person"} an operator with the role {made.role},
            once, and ends <TimeFromNow at={made.expires_at} />. <strong>It is shown this once.</strong>
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
