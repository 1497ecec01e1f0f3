// The colour of the button on payer pages.
import { useAction } from "../../../api/action.ts";
import { useApi } from "../../../api/place.ts";
import type { Schema } from "../../../api/types.ts";
import { Button } from "../../../ui/button.tsx";
import { Form, Submit, TextField } from "../../../ui/form.tsx";
import { say } from "../../../ui/toast.tsx";

export function ColourForm({ settings }: { settings: Schema<"MerchantSettings"> }) {
  const api = useApi();
  const action = useAction((colour: string | null) => api.write("PATCH", "/v1/settings", { body: { colour } }), {
    refresh: ["/v1/settings", "/v1/audit"],
    done: ({ colour }) => say(colour === null ? "The service's own colour is used." : `The colour is ${colour}.`),
  });
  return (
    <Form
      // Made anew when it was changed elsewhere or taken back.
      key={settings.colour}
      values={{ colour: settings.colour ?? "" }}
      action={action}
      onSubmit={({ colour = "" }) => action.run(colour.trim().toLowerCase() || null)}
    >
      <TextField
        name="colour"
        label="Colour"
        mono
        placeholder="#0b6b53"
        autoComplete="off"
        check={isColour}
        hint="As #rrggbb. Text on it is black or white, whichever is easier to read. Empty: the service's own."
      />
      <Submit
        beside={
          settings.colour !== null && (
            <Button onClick={() => action.run(null)} pending={action.pending}>
              Use the service's own
            </Button>
          )
        }
      >
        Save the colour
      </Submit>
    </Form>
  );
}

function isColour(value: string): string | undefined {
  return /^\s*(#[0-9a-f]{6})?\s*$/i.test(value) ? undefined : "Enter a colour as # and six hex digits.";
}
