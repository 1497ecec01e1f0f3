// The password: choosing the first one, or another one.
import { useQueryText, useGo } from "../../address.ts";
import { useAction } from "../../api/action.ts";
import { personApi, useSession } from "../../api/session.ts";
import { Form, Submit, TextField, needed } from "../../ui/form.tsx";
import { Page as Frame } from "../../ui/page.tsx";
import { say } from "../../ui/toast.tsx";

export function Page() {
  const person = useSession()?.person;
  const go = useGo();
  const { next } = useQueryText();
  const change = useAction(
    ({ current = "", next: chosen = "" }: Record<string, string>) =>
      personApi.write("PUT", "/v1/person/password", {
        body: { current: person?.has_password ? current : null, next: chosen },
      }),
    {
      async done() {
        say("Your password is changed. You are signed out everywhere else.");
        if (next?.startsWith("/") && !next.startsWith("//")) await go(next);
      },
    },
  );
  if (!person) return null;
  const { has_password: hasOne } = person;
  return (
    <Frame
      title="Password"
      lead={
        hasOne
          ? "A new password signs you out everywhere else."
          : "You have no password yet. Choose one to sign in with next time."
      }
    >
      <div className="max-w-md">
        <Form
          key={String(hasOne) + String(change.result !== undefined)}
          values={{ username: person.email, current: "", next: "" }}
          action={change}
          onSubmit={(values) => change.run(values)}
        >
          {/* For password managers: whose password this is. */}
          <div hidden>
            <TextField name="username" label="E-mail address" autoComplete="username" />
          </div>
          {hasOne && (
            <TextField
              name="current"
              label="Current password"
              type="password"
              autoComplete="current-password"
              check={needed("Your current password")}
            />
          )}
          <TextField
            name="next"
            label="New password"
            type="password"
            autoComplete="new-password"
            hint="At least 12 characters. A few words that nobody else would choose are easy to remember and hard to guess."
            check={longEnough}
          />
          <Submit>{hasOne ? "Change the password" : "Choose this password"}</Submit>
        </Form>
      </div>
    </Frame>
  );
}

function longEnough(value: string): string | undefined {
  if (value === "") return "A new password is needed.";
  return [...value].length < 12 ? `It has ${[...value].length} characters; at least 12 are needed.` : undefined;
}
