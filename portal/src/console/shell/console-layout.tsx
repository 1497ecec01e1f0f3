// Around the pages of the console: who runs the gateway, and where they can go.
import { paths } from "../../paths.ts";
import { SessionGate } from "../../shell/session-gate.tsx";
import { Shell } from "../../shell/shell.tsx";
import type { SessionView } from "../../api/session.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { To } from "../../ui/link.tsx";
import { Page } from "../../ui/page.tsx";
import { useMay } from "../api/rights.ts";
import { at } from "../paths.ts";
import { consoleMap } from "./map.ts";
import { ConsolePalette } from "./palette.tsx";

export function ConsoleLayout() {
  return <SessionGate>{(session) => <Console session={session} />}</SessionGate>;
}

function Console({ session }: { session: SessionView }) {
  const may = useMay();
  const { operator, service, person } = session;
  const lacksFactor = service.second_factor_required && !person.has_authenticator && person.passkeys === 0;
  if (!operator || lacksFactor) return <NotYet lacksFactor={lacksFactor} />;
  const head = (
    <p className="px-2">
      <To to={at.home()} className="block truncate text-base font-semibold text-ink">
        {service.name}
      </To>
      <span className="text-xs text-muted">Console · {operator.role}</span>
    </p>
  );
  return <Shell groups={consoleMap(may)} head={head} palette={ConsolePalette} name="console" />;
}

/** Somebody who may do nothing here, and what would change that. */
function NotYet({ lacksFactor }: { lacksFactor: boolean }) {
  if (!lacksFactor)
    return (
      <Page title="No operator">
        <Empty title="You are no operator of this gateway">An admin can invite you, under Operators.</Empty>
      </Page>
    );
  return (
    <Page title="A second factor first" lead="Operators prove by two factors who they are. It takes a minute.">
      <div className="flex flex-wrap gap-3">
        <ButtonLink to={paths.accountPasskeys()}>Add a passkey</ButtonLink>
        <ButtonLink to={paths.accountAuthenticator()}>Set up an authenticator app</ButtonLink>
      </div>
    </Page>
  );
}
