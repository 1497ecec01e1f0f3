// The person's menu: account, theme and sign-out.
import { Menu } from "@base-ui/react/menu";
import { useQueryClient } from "@tanstack/react-query";
import { Check, ChevronsUpDown } from "lucide-react";
import { useState } from "react";
import { personApi, useSession } from "../api/session.ts";
import { asApiError } from "../api/error.ts";
import { useGo } from "../address.ts";
import { apiRoot } from "../face.ts";
import { paths } from "../paths.ts";
import { LeaveOnce } from "../ui/leave-once.tsx";
import { say } from "../ui/toast.tsx";
import { isShownOnce } from "../ui/typed.ts";
import { useWords } from "../words.ts";
import { menuItem } from "./places.tsx";
import { type Theme, setTheme, useTheme } from "./theme.ts";

/** The merchants' listener alone serves the documentation: from the console it is at another address, in a tab of its own. */
const isPortal = apiRoot === "/portal";
const elsewhere = { target: "_blank", rel: "noreferrer" };

export function PersonMenu() {
  const words = useWords();
  const go = useGo();
  const queries = useQueryClient();
  const session = useSession();
  const { chosen } = useTheme();
  const themes: Record<Theme, string> = { light: words.light, dark: words.dark, system: words.system };
  const [isAsked, setAsked] = useState(false);
  const signOut = async (): Promise<void> => {
    try {
      await personApi.writeDraft("DELETE", "/v1/session");
    } catch (error) {
      const { status, message } = asApiError(error);
      if (status !== 401) return say(message, "bad");
    }
    queries.clear();
    await go(paths.signIn(), { ignoreBlocker: true });
  };
  if (!session) return <div className="h-8" />;
  const { person, service } = session;
  const docs = isPortal ? { href: "/docs/" } : { href: service.base_url.replace(/\/v1$/, "/docs/"), ...elsewhere };
  return (
    <>
      <Menu.Root>
        <Menu.Trigger
          aria-label={`${words.account}: ${person.name}`}
          className="flex min-h-8 w-full items-center justify-between gap-2 rounded px-2 text-left hover:bg-hover"
        >
          <span className="truncate">{person.name}</span>
          <ChevronsUpDown size={14} aria-hidden="true" className="shrink-0 text-muted" />
        </Menu.Trigger>
        <Menu.Portal>
          <Menu.Positioner sideOffset={4} align="start" className="z-40">
            <Menu.Popup className="popup min-w-52 p-1">
              <p className="truncate px-2 py-1 text-xs text-muted">{person.email}</p>
              <Menu.Item className={menuItem} onClick={() => void go(paths.account())}>
                {words.account}
              </Menu.Item>
              <Menu.LinkItem {...docs} className={menuItem}>
                {words.documentation}
              </Menu.LinkItem>
              <Menu.Separator className="my-1 border-t border-line" />
              <Menu.RadioGroup value={chosen} onValueChange={(value) => setTheme(value as Theme)}>
                <Menu.GroupLabel className="px-2 py-1 text-xs text-muted">{words.theme}</Menu.GroupLabel>
                {(["light", "dark", "system"] as const).map((theme) => (
                  <Menu.RadioItem key={theme} value={theme} className={menuItem}>
                    <Check size={14} aria-hidden="true" className={theme === chosen ? "" : "invisible"} />
                    {themes[theme]}
                  </Menu.RadioItem>
                ))}
              </Menu.RadioGroup>
              <Menu.Separator className="my-1 border-t border-line" />
              <Menu.Item className={menuItem} onClick={() => (isShownOnce(document) ? setAsked(true) : void signOut())}>
                {words.signOut}
              </Menu.Item>
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
      {/* Before the session ends, or the page would stay without one. */}
      <LeaveOnce open={isAsked} onClose={() => setAsked(false)} verb={words.signOut} onConfirm={signOut} />
    </>
  );
}
