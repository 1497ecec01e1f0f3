// Whether a page has been in its reader's hands for a moment.
import { useEffect, useState } from "react";

/** Longer than between the two clicks of a double click, and shorter than anybody reads. */
const SETTLED_MS = 700;

/**
 * False until the page was in view and had the focus for a moment, and again whenever it lost it. A page of somebody else may lay a window over ours
 * and close it at the first of two clicks: the second one is not meant for us.
 */
export function useSettled(): boolean {
  const [settled, setSettled] = useState(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = (): void => {
      clearTimeout(timer);
      setSettled(false);
      if (document.visibilityState === "visible" && document.hasFocus())
        timer = setTimeout(() => setSettled(true), SETTLED_MS);
    };
    look();
    window.addEventListener("focus", look);
    window.addEventListener("blur", look);
    document.addEventListener("visibilitychange", look);
    return () => {
      clearTimeout(timer);
      window.removeEventListener("focus", look);
      window.removeEventListener("blur", look);
      document.removeEventListener("visibilitychange", look);
    };
  }, []);
  return settled;
}
