// Asks who it is once more, before money moves or a secret is shown; the call that asked for it goes on afterwards.
import { useQueryClient } from "@tanstack/react-query";
import { useAction } from "../api/action.ts";
import { answerProof } from "../api/proof.ts";
import { type SessionView, personApi, sessionQuery, useSession } from "../api/session.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Form, Submit, TextField, needed } from "../ui/form.tsx";

export default function ProofDialog() {
  const queries = useQueryClient();
  const person = useSession()?.person;
  const prove = useAction(
    ({ password = "", code = "" }: Record<string, string>) =>
      personApi.writeDraft<SessionView>("POST", "/v1/session/proof", {
        body: { password, ...(code === "" ? {} : { code }) },
      }),
    {
      refresh: [],
      done(session) {
        queries.setQueryData(sessionQuery.queryKey, session);
        answerProof(true);
      },
    },
  );
  return (
    <Dialog open onClose={() => answerProof(false)} title="Is it still you?">
      <p className="mb-4 text-muted">
        This moves money or shows a secret. Prove once more who you are; it holds for ten minutes.
      </p>
      <Form values={{ password: "", code: "" }} action={prove} onSubmit={(values) => prove.run(values)}>
        <TextField
          name="password"
          label="Password"
          type="password"
          autoComplete="current-password"
          check={needed("Your password")}
          autoFocus
        />
        {person?.has_authenticator && (
          <TextField
            name="code"
            label="Code of your authenticator app"
            hint="Six digits, or one of your recovery codes."
            autoComplete="one-time-code"
            check={needed("A code")}
            mono
          />
        )}
        <Submit>Go on</Submit>
      </Form>
    </Dialog>
  );
}
