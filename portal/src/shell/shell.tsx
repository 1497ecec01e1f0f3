// The frame of all pages for signed-in people: place, navigation and content.
import { Outlet } from "@tanstack/react-router";
import { Menu as MenuIcon, Search } from "lucide-react";
import { type ComponentType, type ReactNode, Suspense, useEffect, useState } from "react";
import { usePathname, useParts } from "../address.ts";
import type { LiveState } from "../api/live.ts";
import { useMembership } from "../api/place.ts";
import { serviceName } from "../face.ts";
import { Dialog } from "../ui/dialog.tsx";
import { useWords } from "../words.ts";
import { LiveMark } from "./live-mark.tsx";
import type { Group } from "./map.ts";
import { Nav } from "./nav.tsx";
import { PersonMenu } from "./person-menu.tsx";
import type { PaletteProps } from "./palette.tsx";
import { Stripes } from "./stripes.tsx";

/** Whose page it is, for paper: the navigation, which says so on a screen, is not printed. */
function PaperHead() {
  const merchant = useMembership()?.merchant_name ?? serviceName();
  const { environment } = useParts();
  return (
    <p className="hidden px-4 pt-4 font-semibold sm:px-7 print:block">
      {merchant}
      {environment !== undefined && ` · ${environment}`}
    </p>
  );
}

interface Props {
  groups: readonly Group[];
  live?: LiveState | undefined;
  /** Above the navigation: the current place. */
  head: ReactNode;
  palette: ComponentType<PaletteProps>;
  /** A key that remounts the page when it changes, so that no state of one environment shows in another. */
  name: string;
}

export function Shell({ groups, live, head, palette: Palette, name }: Props) {
  const words = useWords();
  // The address at which a phone's menu was opened. The menu closes when the address changes.
  const [openAt, setOpenAt] = useState<string | undefined>(undefined);
  const [isSearching, setSearching] = useState(false);
  const path = usePathname();
  useEffect(() => {
    const key = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== "k" || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      setSearching(true);
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  }, []);
  const search = (
    <button
      type="button"
      onClick={() => setSearching(true)}
      className="flex min-h-8 w-full items-center gap-2 rounded border border-line bg-panel px-2 text-left text-muted hover:text-ink"
    >
      <Search size={14} aria-hidden="true" />
      <span className="flex-1">{words.search}</span>
      <kbd className="font-sans text-xs max-md:hidden">{/Mac|iP/.test(navigator.platform) ? "⌘K" : "Ctrl K"}</kbd>
    </button>
  );
  const side = (
    <>
      {head}
      <Nav groups={groups} label={words.menu} onGo={() => setOpenAt(undefined)} />
    </>
  );
  return (
    <div className="flex min-h-dvh flex-col">
      <a href="#page" className="popup sr-only z-50 px-3 py-2 focus:not-sr-only focus:fixed focus:top-2 focus:left-2">
        {words.skip}
      </a>
      <Stripes />
      <div className="flex flex-1 flex-col md:flex-row">
        <header className="flex print:hidden items-center gap-2 border-b border-line px-2 py-1.5 md:hidden">
          <button
            type="button"
            aria-label={words.menu}
            onClick={() => setOpenAt(path)}
            className="grid size-9 place-items-center rounded hover:bg-hover"
          >
            <MenuIcon size={18} aria-hidden="true" />
          </button>
          <div className="flex-1">{search}</div>
        </header>
        <aside
          aria-label={words.menu}
          className="sticky top-0 hidden print:hidden! h-[calc(100dvh-0.375rem)] w-56 shrink-0 flex-col gap-3 border-r border-line px-3 pt-4 pb-3 md:flex"
        >
          {search}
          {/* In a low window this part scrolls, and the person's menu below stays visible. */}
          <div className="-mx-1 flex min-h-0 flex-1 flex-col gap-3 overflow-y-auto px-1 *:shrink-0">{side}</div>
          <div className="space-y-1 border-t border-line pt-2">
            {live && <LiveMark state={live} />}
            <PersonMenu />
          </div>
        </aside>
        <main id="page" tabIndex={-1} className="min-w-0 flex-1">
          <PaperHead />
          <Outlet key={name} />
        </main>
      </div>
      <Dialog open={openAt === path} onClose={() => setOpenAt(undefined)} title={words.menu}>
        <div className="space-y-4">
          {side}
          <div className="border-t border-line pt-2">
            <PersonMenu />
          </div>
        </div>
      </Dialog>
      {isSearching && (
        <Suspense fallback={null}>
          <Palette groups={groups} onClose={() => setSearching(false)} />
        </Suspense>
      )}
    </div>
  );
}
