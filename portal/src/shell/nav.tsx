// The navigation, with the current page marked.
import { usePathname } from "../address.ts";
import { classes } from "../ui/classes.ts";
import { To } from "../ui/link.tsx";
import type { Group } from "./map.ts";

export function Nav({
  groups,
  label,
  onGo,
}: {
  groups: readonly Group[];
  label: string;
  onGo?: (() => void) | undefined;
}) {
  const path = usePathname();
  const entries = groups.flatMap((group) => group.entries.map(({ to }) => to));
  // The longest matching address is the current one: at /settings/team only Team is marked, not Settings.
  const here = entries.filter((to) => path === to || path.startsWith(`${to}/`)).sort((a, b) => b.length - a.length)[0];
  return (
    <nav aria-label={label} className="space-y-3">
      {groups.map((group) => (
        <div key={group.label ?? ""}>
          {group.label !== undefined && <p className="mb-1 px-2 text-xs text-muted">{group.label}</p>}
          <ul>
            {group.entries.map((entry) => (
              <li key={entry.to}>
                <To
                  to={entry.to}
                  onClick={onGo}
                  aria-current={entry.to === here ? "page" : undefined}
                  className={classes(
                    "flex min-h-7 items-center rounded px-2 text-ink hover:bg-hover",
                    entry.to === here && "bg-chosen font-semibold",
                  )}
                >
                  {entry.label}
                </To>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}
