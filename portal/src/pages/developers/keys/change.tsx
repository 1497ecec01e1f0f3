// Changing the terms of a key: its secret stays as it is.
import { useAction } from "../../../api/action.ts";
import { useApi } from "../../../api/place.ts";
import type { Schema } from "../../../api/types.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { Form, Submit } from "../../../ui/form.tsx";
import { say } from "../../../ui/toast.tsx";
import { TermFields, type Terms, termsOf, valuesOf } from "./terms.tsx";

export function ChangeKey({ of, onClose }: { of: Schema<"Key">; onClose: () => void }) {
  const api = useApi();
  const change = useAction(
    (body: Partial<Terms>) =>
      api.write("PATCH", "/v1/credentials/{client_id}", { path: { client_id: of.client_id }, body }),
    {
      refresh: ["/v1/credentials"],
      done: () => {
        say("The key is changed. It takes effect within a second.");
        onClose();
      },
    },
  );
  const before = valuesOf(of);
  const submit = (values: Record<string, string>): unknown => {
    const { expires_at: expiry, ...terms } = termsOf(values);
    // The day is all that the form shows of the time: it is sent only when another day was chosen.
    return change.run(values.expires_at === before.expires_at ? terms : { ...terms, expires_at: expiry });
  };
  return (
    <Dialog open onClose={onClose} title={`Change ${of.name ?? of.client_id}`}>
      <Form values={before} action={change} onSubmit={submit}>
        <TermFields kept={of.scopes} />
        <Submit>Change the key</Submit>
      </Form>
    </Dialog>
  );
}
