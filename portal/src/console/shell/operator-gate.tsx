// In front of every page of the console: who is no operator, or has no second factor where one is needed, is told what would change that.
import type { ReactNode } from "react";
import type { SessionView } from "../../api/session.ts";
import { paths } from "../../paths.ts";
import { Guest } from "../../shell/guest.tsx";
import { SessionGate } from "../../shell/session-gate.tsx";
import { ButtonLink } from "../../ui/button.tsx";

type Operator = NonNullable<SessionView["operator"]>;

export function OperatorGate({ children }: { children: (session: SessionView, operator: Operator) => ReactNode }) {
  return (
    <SessionGate>
      {(session) => {
        const { operator, service, person } = session;
        if (!operator) return <NoOperator />;
        const lacksFactor = service.second_factor_required && !person.has_authenticator && person.passkeys === 0;
        return lacksFactor ? <NoFactor /> : children(session, operator);
      }}
    </SessionGate>
  );
}

function NoOperator() {
  return (
    <Guest title="Operators only">
      <p>You are not an operator of this gateway. An admin can invite you, under Operators.</p>
    </Guest>
  );
}

function NoFactor() {
  return (
    <Guest
      title="A second factor first"
      lead="Operators sign in with two factors. Setting one up takes a minute; then the console opens."
    >
      <div className="flex flex-col gap-3">
        <ButtonLink to={paths.accountPasskeys()} look="primary">
          Add a passkey
        </ButtonLink>
        <ButtonLink to={paths.accountAuthenticator()}>Set up an authenticator app</ButtonLink>
      </div>
    </Guest>
  );
}
