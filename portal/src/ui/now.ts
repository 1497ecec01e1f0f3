// The time of this machine, read again as often as a page needs it.
import { useEffect, useState } from "react";

/** Milliseconds since 1970; the page is drawn again every so many milliseconds. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
