// Around the pages of an operator's own account.
import { accountMap } from "../../shell/map.ts";
import { SessionGate } from "../../shell/session-gate.tsx";
import { Shell } from "../../shell/shell.tsx";
import { To } from "../../ui/link.tsx";
import { useWords } from "../../words.ts";
import { at } from "../paths.ts";
import { ConsolePalette } from "./palette.tsx";

export function AccountLayout() {
  const words = useWords();
  const head = (
    <To to={at.home()} className="flex min-h-8 items-center rounded px-2 text-base font-semibold hover:bg-hover">
      ← Console
    </To>
  );
  return (
    <SessionGate>
      {() => <Shell groups={accountMap(words)} head={head} palette={ConsolePalette} name="account" />}
    </SessionGate>
  );
}
