// The profile: by which name, in which language and at which time zone the pages speak to a person; and what they belong to.
import { useAction } from "../api/action.ts";
import { type SessionView, personApi, useKeepSession, useSession } from "../api/session.ts";
import { paths } from "../paths.ts";
import { Identity } from "../ui/copy.tsx";
import { Fact, Facts } from "../ui/facts.tsx";
import { Form, SelectField, Submit, TextField, needed } from "../ui/form.tsx";
import { To } from "../ui/link.tsx";
import { Page as Frame, Section } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { say } from "../ui/toast.tsx";

export function Page() {
  const session = useSession();
  if (!session) return null;
  return (
    <Frame
      title="Your profile"
      lead={`Your name, language and time zone, and ${session.operator ? "your role" : "the merchants you belong to"}.`}
    >
      <div className="max-w-md">
        <Profile session={session} />
      </div>
      <Section title="How you sign in">
        <Ways session={session} />
      </Section>
      {session.operator ? (
        <Section title="Your role">
          <p>
            {session.operator.role}, since <Time at={session.operator.since} />
          </p>
        </Section>
      ) : (
        <Section title="Your merchants">
          <Merchants session={session} />
        </Section>
      )}
    </Frame>
  );
}

const BROWSER = { value: "", label: "Same as the browser" };
const languages = [BROWSER, { value: "id", label: "Bahasa Indonesia" }, { value: "en", label: "English" }];

function Profile({ session: { person } }: { session: SessionView }) {
  const keep = useKeepSession();
  const change = useAction(
    ({ name = "", language = "", time_zone = "" }: Record<string, string>) =>
      personApi.write("PATCH", "/v1/person", {
        body: { name, language: language === "" ? null : (language as "id" | "en"), time_zone: time_zone || null },
      }),
    {
      refresh: [],
      done(changed) {
        keep(changed);
        say("Your profile is changed.");
      },
    },
  );
  const zones = [BROWSER, ...Intl.supportedValuesOf("timeZone")];
  return (
    <Form
      values={{ name: person.name, language: person.language ?? "", time_zone: person.time_zone ?? "" }}
      action={change}
      onSubmit={(values) => change.run(values)}
    >
      <TextField name="name" label="Name" autoComplete="name" check={needed("Your name")} />
      <SelectField
        name="language"
        label="Language"
        hint="For the menus, and how amounts and dates are written. All other texts are in English."
        options={languages}
      />
      <SelectField
        name="time_zone"
        label="Time zone"
        hint="For all times on these pages. Point at a time to see it in UTC."
        options={zones}
      />
      <Submit>Save</Submit>
    </Form>
  );
}

function Ways({ session: { person } }: { session: SessionView }) {
  return (
    <Facts>
      <Fact name="E-mail address">{person.email}</Fact>
      <Fact name="Identity">
        <Identity id={person.person_id} />
      </Fact>
      <Fact name="Password">
        <To to={paths.accountPassword()}>{person.has_password ? "Change it" : "Choose one"}</To>
      </Fact>
      <Fact name="Authenticator app">
        <To to={paths.accountAuthenticator()}>
          {person.has_authenticator ? `Set up, ${person.recovery_codes_left} recovery codes left` : "Set one up"}
        </To>
      </Fact>
      <Fact name="Passkeys">
        <To to={paths.accountPasskeys()}>{person.passkeys === 0 ? "Add one" : person.passkeys}</To>
      </Fact>
      <Fact name="Sessions">
        <To to={paths.accountSessions()}>Where you are signed in</To>
      </Fact>
    </Facts>
  );
}

function Merchants({ session: { memberships } }: { session: SessionView }) {
  if (memberships.length === 0)
    return <p className="text-muted">None. An owner of a merchant can send you an invitation.</p>;
  return (
    <ul className="divide-y divide-line rounded-md border border-line bg-panel">
      {memberships.map(({ merchant_id, merchant_name, role }) => (
        <li key={merchant_id} className="flex min-h-9 flex-wrap items-center justify-between gap-x-4 px-4 py-1.5">
          <To to={paths.home({ merchant: merchant_id, environment: "sandbox" })}>{merchant_name}</To>
          <span className="text-muted">{role}</span>
        </li>
      ))}
    </ul>
  );
}
