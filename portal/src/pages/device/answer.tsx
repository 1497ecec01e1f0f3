// What asks for a key, and the answer: for which merchant and environment, what it may do; or no.
import { type ReactNode, useState } from "react";
import { useAction } from "../../api/action.ts";
import { Api, type Environment } from "../../api/client.ts";
import { type Membership, type SessionView, personApi } from "../../api/session.ts";
import type { Schema } from "../../api/types.ts";
import { Guest } from "../../shell/guest.tsx";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { ErrorNote } from "../../ui/face.tsx";
import { ChoicesField, Form, SelectField, Submit, useFormValues } from "../../ui/form.tsx";
import { useSettled } from "../../ui/settled.ts";
import { scopes as allScopes } from "../developers/keys/terms.tsx";
import { What } from "./what.tsx";

type SeenDevice = Schema<"SeenDevice">;
type Scope = (typeof allScopes)[number];

interface Props {
  device: SeenDevice;
  session: SessionView;
}

export function Answer({ device, session }: Props) {
  const [answered, setAnswered] = useState<"confirmed" | "refused" | undefined>(undefined);
  const { user_code } = device;
  const refuse = useAction(() => personApi.write("POST", "/v1/device-codes/refuse", { body: { user_code } }), {
    refresh: [],
    done: () => setAnswered("refused"),
  });
  if (answered) return <Done how={answered} />;
  const no = (
    <Button pending={refuse.pending} onClick={() => refuse.run(undefined)}>
      Refuse
    </Button>
  );
  const makers = session.memberships.filter((one) => environmentsOf(one).length > 0);
  return (
    <Guest
      title="Sign in a terminal"
      lead={`You are signed in as ${session.person.email}. A terminal is asking for a key to call the API, with the permissions you choose here.`}
    >
      <What device={device} />
      {refuse.error && <ErrorNote error={refuse.error} />}
      {makers.length === 0 ? (
        <Empty title="You cannot create keys" action={no}>
          Your role cannot create keys for any merchant. Ask an owner or a developer of the merchant to open this page.
        </Empty>
      ) : (
        <Grant device={device} makers={makers} beside={no} onDone={() => setAnswered("confirmed")} />
      )}
    </Guest>
  );
}

interface GrantProps {
  device: SeenDevice;
  /** Where the person may make keys. */
  makers: readonly Membership[];
  beside: ReactNode;
  onDone: () => void;
}

function Grant({ device: { user_code, environment }, makers, beside, onDone }: GrantProps) {
  const confirm = useAction(
    ({ merchant, environment: chosen, scopes }: { merchant: string; environment: Environment; scopes: Scope[] }) =>
      new Api({ merchant, environment: chosen }).write("POST", "/v1/device-codes/confirm", {
        body: { user_code, scopes },
      }),
    { refresh: ["/v1/credentials"], done: onDone },
  );
  const [first] = makers;
  const asked = first && environmentsOf(first).includes(environment) ? environment : "sandbox";
  return (
    <Form
      values={{ merchant: first?.merchant_id ?? "", environment: asked, scopes: allScopes.join(" ") }}
      action={confirm}
      onSubmit={(values) => {
        const { membership, environment: chosen } = choiceOf(values, makers);
        const own = grantable(membership, chosen);
        const scopes = own.filter((scope) => (values.scopes ?? "").split(" ").includes(scope));
        return confirm.run({ merchant: membership?.merchant_id ?? "", environment: chosen, scopes });
      }}
    >
      <Terms makers={makers} beside={beside} />
    </Form>
  );
}

function Terms({ makers, beside }: Pick<GrantProps, "makers" | "beside">) {
  const values = useFormValues();
  const settled = useSettled();
  const { membership, environment } = choiceOf(values, makers);
  const own = grantable(membership, environment);
  const some = (value: string): string | undefined =>
    own.some((scope) => value.split(" ").includes(scope)) ? undefined : "Choose at least one permission.";
  return (
    <>
      {makers.length > 1 && (
        <SelectField
          name="merchant"
          label="Merchant"
          options={makers.map(({ merchant_id: value, merchant_name: label }) => ({ value, label }))}
        />
      )}
      <SelectField
        name="environment"
        label={makers.length > 1 ? "Environment" : `Environment of ${membership?.merchant_name ?? ""}`}
        options={membership ? environmentsOf(membership) : []}
        hint={
          environment === "production"
            ? "Real payments. You confirm your identity again if you last did so more than ten minutes ago."
            : "For trying things out: no real money."
        }
      />
      <ChoicesField name="scopes" label="It may" options={own} check={some} />
      <Submit beside={beside} disabled={!settled}>{`Give it a ${environment} key`}</Submit>
    </>
  );
}

function Done({ how }: { how: "confirmed" | "refused" }) {
  return how === "confirmed" ? (
    <Guest title="Signed in" lead="Your terminal has its key within seconds. You can close this window.">
      <p className="text-muted">You find the key under Developers, Keys, and can revoke it there at any time.</p>
    </Guest>
  ) : (
    <Guest title="Refused" lead="The terminal gets no key. You can close this window.">
      <p className="text-muted">
        If you did not start this yourself, somebody tried to get one of your keys. Tell whoever is responsible for
        security.
      </p>
    </Guest>
  );
}

/** Where a member may make keys. */
function environmentsOf({ actions }: Membership): Environment[] {
  return (["sandbox", "production"] as const).filter((one) => actions[one].includes("credentials:write"));
}

/** What a member may give to a key: no more than they may do themselves. */
function grantable(membership: Membership | undefined, environment: Environment): Scope[] {
  const own: readonly string[] = membership?.actions[environment] ?? [];
  return allScopes.filter((scope) => own.includes(scope));
}

function choiceOf(values: Record<string, string>, makers: readonly Membership[]) {
  const membership = makers.find(({ merchant_id: id }) => id === values.merchant) ?? makers[0];
  const possible = membership ? environmentsOf(membership) : [];
  const environment = possible.find((one) => one === values.environment) ?? possible[0] ?? "sandbox";
  return { membership, environment };
}
