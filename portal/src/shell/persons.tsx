// Parts that the tables of merchants' members and of operators share: the name, the buttons of a row, and the dialog for another role.
import type { ReactNode } from "react";
import { useAction } from "../api/action.ts";
import { Button } from "../ui/button.tsx";
import { classes } from "../ui/classes.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Form, Submit } from "../ui/form.tsx";
import { say } from "../ui/toast.tsx";

interface Person {
  person_id: string;
  name: string;
  email: string;
}

/** A name with the email address below it, both whole: two people of one name differ by the end of it. */
export function PersonName({ of, self, className }: { of: Person; self: string | undefined; className: string }) {
  return (
    <div className={classes(className, "wrap-anywhere roomy:max-w-80")}>
      <span className="font-medium">{of.name}</span>
      {of.person_id === self && <span className="text-muted"> · you</span>}
      <div className="text-xs text-muted">{of.email}</div>
    </div>
  );
}

/** The buttons of a row, for people who may change it. */
export function PersonButtons({ name, role, remove }: { name: string; role: () => void; remove: () => void }) {
  return (
    <span className="inline-flex flex-wrap justify-end gap-1">
      <Button look="quiet" label={`Change the role of ${name}`} onClick={role}>
        Role…
      </Button>
      <Button look="quiet" label={`Remove ${name}`} onClick={remove}>
        Remove…
      </Button>
    </span>
  );
}

interface RoleDialogProps<Role extends string> {
  name: string;
  role: Role;
  isSelf: boolean;
  /** The role's field, with the name `role`. */
  roleField: ReactNode;
  change: (role: Role) => Promise<unknown>;
  /** Prefixes of the API paths to refetch afterwards. */
  refresh: readonly string[];
  close: () => void;
}

export function RoleDialog<Role extends string>(props: RoleDialogProps<Role>) {
  const { name, role: before, isSelf, roleField, change, refresh, close } = props;
  const action = useAction(change, {
    refresh,
    done: () => {
      say(`The role of ${name} is changed.`);
      close();
    },
  });
  return (
    <Dialog open onClose={close} title={`The role of ${name}`}>
      <Form values={{ role: before }} action={action} onSubmit={({ role }) => action.run(role as Role)}>
        {roleField}
        {isSelf && <p className="text-muted">This is your own role: you may lose the right to change it back.</p>}
        <Submit>Change the role</Submit>
      </Form>
    </Dialog>
  );
}
