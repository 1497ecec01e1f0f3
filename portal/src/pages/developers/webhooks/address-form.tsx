// The form of an address for webhooks: the first one, or another.
import { useState } from "react";
import { useAction } from "../../../api/action.ts";
import { useApi } from "../../../api/place.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Form, Submit, TextField, needed } from "../../../ui/form.tsx";
import { say } from "../../../ui/toast.tsx";
import { WebhookSecret } from "./webhook-secret.tsx";

const urlNeeded = needed("An address");

interface Props {
  url: string;
  verb: string;
  /** Called before a first address is sent. */
  onBegin?: () => void;
  /** Called once the address is kept and its secret, where there is a first one, was seen. */
  onDone: () => void;
}

export function AddressForm({ url, verb, onBegin, onDone }: Props) {
  const api = useApi();
  const [secret, setSecret] = useState<string | null | undefined>(undefined);
  const put = (to: string) => {
    onBegin?.();
    return api.write("PUT", "/v1/webhook", { body: { url: to } });
  };
  const set = useAction(put, {
    // With a first address the page changes: not before the secret was seen.
    refresh: [],
    done: ({ webhook_secret: shown }) => {
      // What is a first address here was registered before: by a try without an answer, or elsewhere. Its secret was in that answer.
      if (shown !== null || onBegin) return setSecret(shown);
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
        {secret === null ? <NotShown onClose={seen} /> : <WebhookSecret secret={secret ?? ""} onClose={seen} />}
      </Dialog>
    </>
  );
}

function NotShown({ onClose }: { onClose: () => void }) {
  return (
    <div className="space-y-4">
      <p>
        The address is registered. Its secret was in the answer to an earlier try, and is shown only once: if nobody has
        kept it, rotate it to get one that you see.
      </p>
      <Button onClick={onClose}>Go on</Button>
    </div>
  );
}
