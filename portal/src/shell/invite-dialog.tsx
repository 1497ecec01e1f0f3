// Invites a person to a merchant or as an operator: a role, an optional address, and a link that is shown only once.
import type { ReactNode } from "react";
import { useAction } from "../api/action.ts";
import { Button } from "../ui/button.tsx";
import { Code } from "../ui/code.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Form, Submit, TextField } from "../ui/form.tsx";
import { Once } from "../ui/once.tsx";
import { TimeFromNow } from "../ui/time.tsx";

interface Invited<Role extends string> {
  role: Role;
  email?: string;
}

interface Made<Role extends string> {
  role: Role;
  email: string | null;
  url: string;
  expires_at: string;
  /** True when the mail server has taken a letter with the link. */
  mailed?: boolean;
}

interface Props<Role extends string> {
  title: string;
  /** The preselected role. */
  role: Role;
  /** The role's field, with the name `role`. */
  roleField: ReactNode;
  invite: (invited: Invited<Role>) => Promise<Made<Role>>;
  /** Prefixes of the API paths to refetch afterwards. */
  refresh: readonly string[];
  /** What the link does, in words that follow "It": "makes somebody an operator". */
  does: (somebody: string, role: Role) => string;
  close: () => void;
}

export function InviteDialog<Role extends string>(props: Props<Role>) {
  const { title, role: first, roleField, invite, refresh, does, close } = props;
  const action = useAction(invite, { refresh });
  const made = action.result;
  return (
    <Dialog open onClose={close} title={made ? "The invitation is made" : title}>
      {made ? (
        <Once>
          <p>
            {made.mailed === true
              ? `An e-mail with this link is on its way to ${made.email}. If it does not arrive, send the link yourself. `
              : "Send this link to them yourself. "}
            It {does(made.email ?? "one person", made.role)}, once, and expires <TimeFromNow at={made.expires_at} />.{" "}
            <strong>It is shown only once.</strong>
          </p>
          <Code text={made.url} what="the link" wrap />
          <Button onClick={close}>Done</Button>
        </Once>
      ) : (
        <Form
          values={{ role: first, email: "" }}
          action={action}
          onSubmit={({ role, email = "" }) =>
            action.run({ role: role as Role, ...(email.trim() === "" ? {} : { email: email.trim() }) })
          }
        >
          {roleField}
          <TextField
            name="email"
            type="email"
            label="E-mail"
            autoComplete="off"
            hint="If given, only this person can accept. Otherwise anyone with the link can."
          />
          <Submit>Make the link</Submit>
        </Form>
      )}
    </Dialog>
  );
}
