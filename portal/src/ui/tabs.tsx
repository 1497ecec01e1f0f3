// Tabs: views of one object. The address names the view, so that links can lead to it.
import { Tabs as Base } from "@base-ui/react/tabs";
import type { ReactNode } from "react";
import { useQueryText, useSetQuery } from "../address.ts";

interface Props {
  /** The name of the set of tabs: "Views of the payment". */
  label: string;
  /** The tabs by their names in `?tab=`. The first one is the default. */
  tabs: Record<string, { label: string; content: () => ReactNode }>;
}

export function Tabs({ label, tabs }: Props) {
  const search = useQueryText();
  const setQuery = useSetQuery();
  const [first = ""] = Object.keys(tabs);
  const chosen = search.tab !== undefined && search.tab in tabs ? search.tab : first;
  const choose = (name: string): void =>
    setQuery({ ...search, tab: name === first ? undefined : name }, { replace: true });
  return (
    <Base.Root value={chosen} onValueChange={(value) => choose(String(value))}>
      <Base.List aria-label={label} className="mb-4 flex gap-5 border-b border-line">
        {Object.entries(tabs).map(([name, tab]) => (
          <Base.Tab
            key={name}
            value={name}
            className="-mb-px min-h-8 border-b-2 border-transparent text-muted hover:text-ink data-active:border-accent data-active:font-medium data-active:text-ink"
          >
            {tab.label}
          </Base.Tab>
        ))}
      </Base.List>
      {Object.entries(tabs).map(([name, tab]) => (
        <Base.Panel key={name} value={name} className="space-y-6">
          {name === chosen && tab.content()}
        </Base.Panel>
      ))}
    </Base.Root>
  );
}
