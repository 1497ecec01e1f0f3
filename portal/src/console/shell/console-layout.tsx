// Around the pages of the console: who runs the gateway, and where they can go.
import type { SessionView } from "../../api/session.ts";
import { Shell } from "../../shell/shell.tsx";
import { To } from "../../ui/link.tsx";
import { useMay } from "../api/rights.ts";
import { at } from "../paths.ts";
import { consoleMap } from "./map.ts";
import { OperatorGate } from "./operator-gate.tsx";
import { ConsolePalette } from "./palette.tsx";

export function ConsoleLayout() {
  return <OperatorGate>{(session, operator) => <Console session={session} role={operator.role} />}</OperatorGate>;
}

function Console({ session: { service }, role }: { session: SessionView; role: string }) {
  const may = useMay();
  const head = (
    <p className="px-2">
      <To to={at.home()} className="block min-h-6 truncate text-base leading-6 font-semibold text-ink">
        {service.name}
      </To>
      <span className="text-xs text-muted">Console · {role}</span>
    </p>
  );
  return <Shell groups={consoleMap(may)} head={head} palette={ConsolePalette} name="console" />;
}
