// Setting an authenticator up: its secret as a QR code or for typing, and a first code of it.
import { useAction } from "../../../api/action.ts";
import { personApi } from "../../../api/session.ts";
import type { Schema } from "../../../api/types.ts";
import { Button } from "../../../ui/button.tsx";
import { Copy } from "../../../ui/copy.tsx";
import { ErrorNote } from "../../../ui/face.tsx";
import { Form, Submit, TextField, needed } from "../../../ui/form.tsx";
import { Qr } from "../../../ui/qr.tsx";

type OnConfirmed = (codes: readonly string[]) => void;

export function SetUp({ onConfirmed }: { onConfirmed: OnConfirmed }) {
  const begin = useAction(() => personApi.write("POST", "/v1/person/authenticator", {}), { refresh: [] });
  if (begin.result) return <Scan authenticator={begin.result} onConfirmed={onConfirmed} />;
  return (
    <section className="rounded-md border border-dashed border-line bg-panel p-5">
      <h2 className="text-base font-semibold">Not set up yet</h2>
      <p className="mt-1 mb-3 max-w-xl text-muted">
        Any app that shows a new six-digit code every thirty seconds will do: Google Authenticator, 1Password, Aegis and
        the like. A passkey does the same with less typing.
      </p>
      <Button look="primary" pending={begin.pending} onClick={() => begin.run(undefined)}>
        Set up an authenticator app
      </Button>
      {begin.error && <ErrorNote error={begin.error} />}
    </section>
  );
}

function Scan({ authenticator, onConfirmed }: { authenticator: Schema<"Authenticator">; onConfirmed: OnConfirmed }) {
  const { secret, uri } = authenticator;
  const confirm = useAction(
    ({ code = "" }: Record<string, string>) =>
      personApi.write("POST", "/v1/person/authenticator/confirm", { body: { code: code.replaceAll(" ", "") } }),
    { refresh: ["/v1/session"], done: ({ recovery_codes }) => onConfirmed(recovery_codes) },
  );
  return (
    <div className="flex flex-wrap gap-8">
      <Qr text={uri} label="The authenticator's secret, for your app's camera" size={220} />
      <div className="max-w-sm flex-1 basis-64 space-y-5">
        <p>Scan the QR code with your app. If you cannot scan it, enter this key:</p>
        <p className="flex items-start gap-2">
          <code className="font-mono break-all">{secret.replaceAll(/(.{4})(?=.)/g, "$1 ")}</code>
          <Copy text={secret} what="the key" />
        </p>
        <Form values={{ code: "" }} action={confirm} onSubmit={(values) => confirm.run(values)}>
          <TextField
            name="code"
            label="Code that the app shows"
            inputMode="numeric"
            autoComplete="one-time-code"
            check={needed("A code")}
            autoFocus
            mono
          />
          <Submit>Confirm</Submit>
        </Form>
      </div>
    </div>
  );
}
