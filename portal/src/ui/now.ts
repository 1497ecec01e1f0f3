// This machine's clock as a hook.
import { useEffect, useState } from "react";

/** Milliseconds since 1970; the component is redrawn every `everyMs` milliseconds. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
