// The edge that is striped wherever it is the sandbox: nobody mistakes it for money.
import { useMaybePlace } from "../api/place.ts";

export function Stripes() {
  const place = useMaybePlace();
  return (
    <div
      aria-hidden="true"
      className={place?.environment === "sandbox" ? "stripes h-1.5 shrink-0" : "h-1.5 shrink-0"}
    />
  );
}
