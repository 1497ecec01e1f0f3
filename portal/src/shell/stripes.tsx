// The striped edge of sandbox pages, so that nobody mistakes the sandbox for real money.
import { useParts } from "../address.ts";

export function Stripes() {
  const { environment } = useParts();
  return <div aria-hidden="true" className={environment === "sandbox" ? "stripes h-1.5 shrink-0" : "h-1.5 shrink-0"} />;
}
