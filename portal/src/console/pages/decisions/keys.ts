// Keys of a page: one letter does one thing, unless somebody types into a field or a dialog is open.
import { useEffect, useRef } from "react";

export function useKeys(keys: Readonly<Record<string, (() => void) | undefined>>): void {
  const latest = useRef(keys);
  useEffect(() => {
    latest.current = keys;
  });
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented || event.repeat) return;
      const target = event.target as Element | null;
      if (target?.closest("input,select,textarea,[role=dialog],table") || document.querySelector("[role=dialog]"))
        return;
      const act = latest.current[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}
