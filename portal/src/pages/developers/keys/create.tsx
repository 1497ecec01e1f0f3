// Making a key: its terms first, then its secret, once.
import { useAction } from "../../../api/action.ts";
import { useApi, usePlace } from "../../../api/place.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { Form, Submit } from "../../../ui/form.tsx";
import { KeySecret } from "./secret.tsx";
import { TermFields, type Terms, firstTerms, termsOf, useOwnScopes } from "./terms.tsx";

export function CreateKey({ onClose }: { onClose: () => void }) {
  const api = useApi();
  const { environment } = usePlace();
  const own = useOwnScopes();
  const create = useAction((body: Terms) => api.write("POST", "/v1/credentials", { body }), {
    refresh: ["/v1/credentials"],
  });
  const { result } = create;
  return (
    <Dialog open onClose={onClose} title={result ? `The secret of ${result.name}` : `Create a key for ${environment}`}>
      {result ? (
        <KeySecret clientId={result.client_id} secret={result.secret} onClose={onClose} />
      ) : (
        <Form
          values={{ ...firstTerms, scopes: own.join(" ") }}
          action={create}
          onSubmit={(values) => create.run(termsOf(values))}
        >
          <TermFields />
          <Submit>Create the key</Submit>
        </Form>
      )}
    </Dialog>
  );
}
