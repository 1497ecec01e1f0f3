// Making a token, or giving one a new secret: it is shown this once.
import { type Action, useAction } from "../../../api/action.ts";
import { Button } from "../../../ui/button.tsx";
import { Code } from "../../../ui/code.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Form, SelectField, Submit, TextField, needed } from "../../../ui/form.tsx";
import { Once } from "../../../ui/once.tsx";
import { type Schema, write } from "../../api/client.ts";
import type { Role } from "../../api/rights.ts";
import { RoleField } from "../operators/roles.tsx";

type Made = Schema<"MadeOperatorToken">;

const DAY = 86_400;
const lives = [
  { value: "", label: "Until it is revoked" },
  { value: String(30 * DAY), label: "30 days" },
  { value: String(90 * DAY), label: "90 days" },
  { value: String(365 * DAY), label: "a year" },
];
const overlaps = [
  { value: "0", label: "At once" },
  { value: "3600", label: "In an hour" },
  { value: String(DAY), label: "In a day" },
  { value: String(7 * DAY), label: "In a week" },
];

export function MakeToken({ close }: { close: () => void }) {
  const action = useAction(
    (body: { name: string; role: Role; expires_in?: number }) => write("POST", "/v1/tokens", { body }),
    { refresh: ["/v1/tokens", "/v1/audit"] },
  );
  return (
    <Told title="Make a token" action={action} close={close}>
      <Form
        values={{ name: "", role: "viewer", expires_in: String(90 * DAY) }}
        action={action}
        onSubmit={({ name = "", role, expires_in: seconds = "" }) =>
          action.run({ name, role: role as Role, ...(seconds === "" ? {} : { expires_in: Number(seconds) }) })
        }
      >
        <TextField
          name="name"
          label="Name"
          hint="The program that will use it: lower-case letters, digits, dots, dashes, underscores."
          check={needed("A name")}
          autoComplete="off"
          mono
        />
        <RoleField />
        <SelectField name="expires_in" label="Good for" options={lives} />
        <Submit>Make it</Submit>
      </Form>
    </Told>
  );
}

export function RotateToken({ name, close }: { name: string; close: () => void }) {
  const action = useAction(
    (overlap_seconds: number) =>
      write("POST", "/v1/tokens/{name}/rotate", { path: { name }, body: { overlap_seconds } }),
    { refresh: ["/v1/tokens", "/v1/audit"] },
  );
  return (
    <Told title={`A new secret for ${name}`} action={action} close={close}>
      <Form values={{ overlap: String(DAY) }} action={action} onSubmit={({ overlap }) => action.run(Number(overlap))}>
        <SelectField name="overlap" label="The one before ends" options={overlaps} />
        <Submit>Rotate it</Submit>
      </Form>
    </Told>
  );
}

interface ToldProps {
  title: string;
  action: Action<never, Made>;
  close: () => void;
  children: React.ReactNode;
}

/** The form, and afterwards the secret. */
function Told({ title, action: { result }, close, children }: ToldProps) {
  return (
    <Dialog open onClose={close} title={result ? `The token ${result.name}` : title}>
      {result ? (
        <Once>
          <p>
            <strong>It is shown only once.</strong> Keep it where your program can read it, and nowhere else.
          </p>
          <Code text={result.token} what="the token" />
          <Button onClick={close}>Done</Button>
        </Once>
      ) : (
        children
      )}
    </Dialog>
  );
}
