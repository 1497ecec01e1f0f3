// Rolling a key: a new one on the same terms, while the one before stays good until your systems have changed over.
import { useAction } from "../../../api/action.ts";
import { useApi } from "../../../api/place.ts";
import type { Schema } from "../../../api/types.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { Form, SelectField, Submit } from "../../../ui/form.tsx";
import { KeySecret } from "./secret.tsx";

/** For a key and for the secret of webhooks alike. */
export const overlaps = [
  { value: "3600", label: "for an hour" },
  { value: "86400", label: "for a day" },
  { value: "604800", label: "for a week" },
  { value: "2592000", label: "for 30 days" },
  { value: "0", label: "not at all: end it now" },
];

export function RollKey({ of, onClose }: { of: Schema<"Key">; onClose: () => void }) {
  const api = useApi();
  const roll = useAction(
    (overlap_seconds: number) =>
      api.write("POST", "/v1/credentials/{client_id}/roll", {
        path: { client_id: of.client_id },
        body: { overlap_seconds },
      }),
    { refresh: ["/v1/credentials"] },
  );
  const { result } = roll;
  const name = of.name ?? of.client_id;
  return (
    <Dialog open onClose={onClose} title={result ? `The new secret of ${name}` : `Roll ${name}`}>
      {result ? (
        <KeySecret clientId={result.client_id} secret={result.secret} onClose={onClose} />
      ) : (
        <Form
          values={{ overlap_seconds: "86400" }}
          action={roll}
          onSubmit={({ overlap_seconds: seconds }) => roll.run(Number(seconds))}
        >
          <p>
            You get a new client_id and secret with the same rights. Move your systems over one by one; “last used”
            shows whether the old key is still in use.
          </p>
          <SelectField name="overlap_seconds" label="The key before stays good" options={overlaps} />
          <Submit>Roll the key</Submit>
        </Form>
      )}
    </Dialog>
  );
}
