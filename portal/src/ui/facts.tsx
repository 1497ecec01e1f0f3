// Facts about one object, one name and value on each line.
import type { ReactNode } from "react";

/** The container of `Fact`s. */
export function Facts({ children }: { children: ReactNode }) {
  return (
    <dl className="grid grid-cols-1 gap-x-8 rounded-md border border-line bg-panel px-4 py-2 sm:grid-cols-2">
      {children}
    </dl>
  );
}

export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex min-h-8 flex-wrap items-center justify-between gap-x-4 border-b border-line py-1 last:border-b-0 sm:nth-last-2:odd:border-b-0">
      <dt className="text-muted">{name}</dt>
      <dd className="ml-auto min-w-0 text-right wrap-anywhere">{children}</dd>
    </div>
  );
}
