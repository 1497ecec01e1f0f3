// The striped edge of sandbox pages, so that nobody mistakes the sandbox for real money: of those whose address names it, and of those that
// show what is in it, which they mark with `data-environment`.
import { useParts } from "../address.ts";

export function Stripes() {
  const { environment } = useParts();
  return (
    <div
      aria-hidden="true"
      data-environment={environment}
      className="h-1.5 shrink-0 [body:has([data-environment=sandbox])_&]:stripes"
    />
  );
}
