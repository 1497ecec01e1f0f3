// Making a merchant: its name, and then what signs its webhooks.
import { useAction } from "../../../api/action.ts";
import { ButtonLink } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Form, Submit, TextField, needed } from "../../../ui/form.tsx";
import { Once } from "../../../ui/once.tsx";
import { write } from "../../api/client.ts";
import { at } from "../../paths.ts";
import { Secret } from "./secret.tsx";

const nameNeeded = needed("A name");

export function MakeMerchant({ close }: { close: () => void }) {
  const action = useAction((body: { name: string }) => write("POST", "/v1/merchants", { body }), {
    refresh: ["/v1/merchants", "/v1/audit"],
  });
  const made = action.result;
  return (
    <Dialog open onClose={close} title={made ? `${made.name} is made` : "Make a merchant"}>
      {made ? (
        <Once>
          <p>
            These secrets sign what is sent to its webhooks.{" "}
            <strong>Give them to the merchant, and keep no copy.</strong>
          </p>
          <Secret label="Webhook secret of the sandbox" text={made.webhook_secrets.sandbox} />
          <Secret label="Webhook secret of production" text={made.webhook_secrets.production} />
          <p className="text-muted">Next: its currencies and prices, a credential, and its first owner.</p>
          <ButtonLink look="primary" to={at.merchant(made.merchant_id)} ignoreBlocker>
            I have handed them over
          </ButtonLink>
        </Once>
      ) : (
        <Form values={{ name: "" }} action={action} onSubmit={({ name = "" }) => action.run({ name: name.trim() })}>
          <TextField
            name="name"
            label="Name"
            hint="As its payers see it. An owner can change it later, in the portal."
            check={nameNeeded}
            autoComplete="off"
          />
          <Submit>Make it</Submit>
        </Form>
      )}
    </Dialog>
  );
}
