// The command palette of both faces: opens pages by name, and finds objects by a search of the service.
import { Dialog } from "@base-ui/react/dialog";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type KeyboardEvent, useDeferredValue, useEffect, useId, useState } from "react";
import { useGo } from "../address.ts";
import { paths } from "../paths.ts";
import { classes } from "../ui/classes.ts";
import { useWords } from "../words.ts";
import { type Group, accountMap } from "./map.ts";
import { otherWords } from "./other-words.ts";

export interface Option {
  to: string;
  label: string;
  detail: string;
}

export interface PaletteProps {
  groups: readonly Group[];
  onClose: () => void;
}

interface Props extends PaletteProps {
  /** Searches objects, for two or more characters; undefined when there is nothing to search. */
  find: ((q: string) => Promise<Option[]>) | undefined;
  /** The key of the searched place, so that hits of another place are not shown. */
  name: string;
}

export default function Palette({ groups, onClose, find, name }: Props) {
  const words = useWords();
  const go = useGo();
  const id = useId();
  const [typed, setTyped] = useState("");
  const [chosen, setChosen] = useState(0);
  const asked = useSettled(useDeferredValue(typed.trim()), 150);
  const hits = useHits(asked, { find, name });
  const hasAccount = groups.some(({ entries }) => entries.some(({ to }) => to === paths.account()));
  const all = hasAccount ? groups : [...groups, ...accountMap(words)];
  const options = [...pageOptions(all, typed.trim()), ...hits.options];
  const at = Math.min(chosen, options.length - 1);
  const open = (option: Option | undefined): void => {
    if (!option) return;
    onClose();
    void go(option.to);
  };
  const key = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && options.length > 0) {
      event.preventDefault();
      const next = (at + step + options.length) % options.length;
      setChosen(next);
      document.querySelector(`#${CSS.escape(`${id}-${next}`)}`)?.scrollIntoView({ block: "nearest" });
    }
    if (event.key === "Enter") open(options[at]);
  };
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-[rgb(10_10_8/0.45)]" />
        <Dialog.Popup
          aria-label={words.searchHint}
          className="popup fixed top-[12vh] left-1/2 z-40 w-[calc(100vw-2rem)] max-w-xl -translate-x-1/2 overflow-hidden"
        >
          <input
            role="combobox"
            aria-expanded="true"
            aria-controls={id}
            aria-activedescendant={options.length > 0 ? `${id}-${at}` : undefined}
            aria-label={words.searchHint}
            placeholder={words.searchHint}
            autoComplete="off"
            spellCheck={false}
            className="w-full border-b border-line bg-transparent px-4 py-3 text-lg outline-none placeholder:text-muted"
            value={typed}
            onChange={(event) => {
              setTyped(event.target.value);
              setChosen(0);
            }}
            onKeyDown={key}
          />
          <div id={id} role="listbox" aria-label={words.search} className="h-80 overflow-y-auto p-1.5">
            {options.map((option, index) => (
              <div
                key={option.to}
                id={`${id}-${index}`}
                role="option"
                aria-selected={index === at}
                tabIndex={-1}
                onPointerMove={() => setChosen(index)}
                onClick={() => open(option)}
                className={classes(
                  "flex min-h-8 cursor-default items-center gap-3 rounded px-2.5",
                  index === at && "bg-chosen",
                )}
              >
                <span className="truncate">{option.label}</span>
                <span className="ml-auto shrink-0 text-xs text-muted">{option.detail}</span>
              </div>
            ))}
          </div>
          <p role="status" className="px-4 pb-2 text-xs text-muted empty:hidden">
            {typed.trim() === asked && !hits.pending && options.length === 0
              ? "No page has that name, and nothing here has that id, reference or payer."
              : ""}
          </p>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function pageOptions(groups: readonly Group[], typed: string): Option[] {
  const wanted = typed.toLowerCase();
  return groups.flatMap((group) =>
    group.entries
      .filter(({ label, word }) =>
        `${group.label ?? ""} ${label} ${(word && otherWords[word]) ?? ""}`.toLowerCase().includes(wanted),
      )
      .map(({ label, to }) => ({ to, label, detail: group.label ?? "" })),
  );
}

/** The value after it has not changed for `ms` milliseconds. */
function useSettled(value: string, ms: number): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}

/** The hits of the search, and whether it still runs. */
function useHits(q: string, { find, name }: Pick<Props, "find" | "name">): { options: Option[]; pending: boolean } {
  const isAsked = find !== undefined && q.length >= 2 && q.length <= 254;
  const { data, isFetching } = useQuery({
    queryKey: ["", "", "palette", name, q],
    queryFn: () => find?.(q) ?? [],
    enabled: isAsked,
    placeholderData: keepPreviousData,
    retry: false,
  });
  return isAsked ? { options: data ?? [], pending: isFetching } : { options: [], pending: false };
}
