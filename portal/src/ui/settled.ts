// Whether a page has been visible and focused for a moment.
import { useEffect, useState } from "react";

/** Longer than the pause in a double click, and shorter than reading takes. */
const SETTLED_MS = 700;

/**
 * False until the page has been visible and focused for SETTLED_MS, and again after it lost either. Another site may cover this page with a
 * window that it closes at the first click of a double click; the second click is not meant for this page.
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
