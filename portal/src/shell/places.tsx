// Shows and switches the merchant and the environment.
import { Menu } from "@base-ui/react/menu";
import { Check, ChevronsUpDown } from "lucide-react";
import type { Environment } from "../api/client.ts";
import { useMaybePlace, useMembership } from "../api/place.ts";
import { useGo } from "../address.ts";
import { useSession } from "../api/session.ts";
import { serviceName } from "../face.ts";
import { paths } from "../paths.ts";
import { classes } from "../ui/classes.ts";
import { To } from "../ui/link.tsx";
import { useWords } from "../words.ts";

export const menuItem =
  "flex min-h-8 cursor-default items-center gap-2 rounded px-2 py-1 no-underline outline-none select-none data-highlighted:bg-chosen";

export function MerchantSwitcher() {
  const words = useWords();
  const go = useGo();
  const place = useMaybePlace();
  const memberships = useSession()?.memberships ?? [];
  const here = useMembership();
  const name = here?.merchant_name ?? serviceName();
  if (memberships.length < 2)
    return (
      <p title={name} className="line-clamp-2 px-2 text-base font-semibold wrap-anywhere">
        {name}
      </p>
    );
  return (
    <Menu.Root>
      <Menu.Trigger
        aria-label={`${words.merchant}: ${name}`}
        className="flex min-h-8 w-full items-center justify-between gap-2 rounded px-2 text-left text-base font-semibold hover:bg-hover"
      >
        <span title={name} className="line-clamp-2 wrap-anywhere">
          {name}
        </span>
        <ChevronsUpDown size={14} aria-hidden="true" className="shrink-0 text-muted" />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner sideOffset={4} align="start" className="z-40">
          <Menu.Popup className="popup max-h-80 max-w-96 min-w-52 overflow-y-auto p-1">
            {memberships.map(({ merchant_id: merchant, merchant_name: label, role }) => (
              <Menu.Item
                key={merchant}
                className={menuItem}
                onClick={() => void go(paths.home({ merchant, environment: place?.environment ?? "sandbox" }))}
              >
                <Check size={14} aria-hidden="true" className={merchant === place?.merchant ? "" : "invisible"} />
                <span className="flex-1 wrap-anywhere">{label}</span>
                <span className="text-xs text-muted">{role}</span>
              </Menu.Item>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

/** Leads to the home page of the other environment, because objects exist in only one environment. */
export function EnvironmentSwitch() {
  const words = useWords();
  const place = useMaybePlace();
  if (!place) return null;
  const names: Record<Environment, string> = { sandbox: words.sandbox, production: words.production };
  return (
    <nav
      aria-label={words.environment}
      className="grid grid-cols-2 rounded border border-line p-0.5 text-center text-xs"
    >
      {(["sandbox", "production"] as const).map((environment) => {
        const isHere = place.environment === environment;
        return (
          <To
            key={environment}
            to={paths.home({ merchant: place.merchant, environment })}
            aria-current={isHere ? "page" : undefined}
            className={classes(
              "min-h-6 rounded-sm py-1",
              isHere ? "bg-chosen font-semibold" : "text-muted hover:text-ink",
            )}
          >
            {names[environment]}
          </To>
        );
      })}
    </nav>
  );
}
