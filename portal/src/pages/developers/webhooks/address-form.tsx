// The form of an address for webhooks: the first one, or another.
import { useState } from "react";
import { useAction } from "../../../api/action.ts";
import { useApi } from "../../../api/place.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { Form, Submit, TextField, needed } from "../../../ui/form.tsx";
import { say } from "../../../ui/toast.tsx";
import { WebhookSecret } from "./webhook-secret.tsx";

const urlNeeded = needed("An address");

interface Props {
  url: string;
  verb: string;
  /** Called before the address is sent. */
  onBegin?: () => void;
  /** Called once the address is kept and its secret, where there is a first one, was seen. */
  onDone: () => void;
}

export function AddressForm({ url, verb, onBegin, onDone }: Props) {
  const api = useApi();
  const [secret, setSecret] = useState<string | undefined>(undefined);
  const put = (to: string) => {
    onBegin?.();
    return api.write("PUT", "/v1/webhook", { body: { url: to } });
  };
  const set = useAction(put, {
    // With a first address the page changes: not before the secret was seen.
    refresh: [],
    done: ({ webhook_secret: shown }) => {
      if (shown !== null) return setSecret(shown);
      say("The address is registered. Pending events are sent there.");
      onDone();
    },
  });
  const seen = (): void => {
    setSecret(undefined);
    onDone();
  };
  return (
    <>
      <Form values={{ url }} action={set} onSubmit={(values) => set.run((values.url ?? "").trim())}>
        <TextField
          name="url"
          label="Address"
          type="url"
          mono
          placeholder="https://shop.example/webhooks/gerbang"
          autoComplete="off"
          check={urlNeeded}
          hint="An https:// address that is reachable from the public internet."
        />
        <Submit>{verb}</Submit>
      </Form>
      <Dialog open={secret !== undefined} onClose={seen} title="The signing secret">
        <WebhookSecret secret={secret ?? ""} onClose={seen} />
      </Dialog>
    </>
  );
}
