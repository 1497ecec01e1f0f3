// The layout of pages without a session: one narrow column.
import type { ReactNode } from "react";
import { pagesRoot, serviceName } from "../face.ts";
import { usePageTitle } from "../ui/page.tsx";

interface Props {
  title: string;
  lead?: ReactNode;
  children: ReactNode;
}

export function Guest({ title, lead, children }: Props) {
  usePageTitle(title);
  return (
    <main className="mx-auto flex min-h-dvh w-full max-w-sm flex-col px-4 pt-[12vh] pb-10">
      <p className="mb-6 flex items-center gap-2 font-semibold">
        <img src={`${pagesRoot}/favicon.svg`} alt="" width={20} height={20} />
        {serviceName()}
      </p>
      <h1 tabIndex={-1} className="text-xl font-semibold tracking-[-0.01em]">
        {title}
      </h1>
      {lead !== undefined && <p className="mt-1 text-muted">{lead}</p>}
      <div className="mt-6 space-y-6">{children}</div>
    </main>
  );
}

/** A divider between two alternatives. */
export function Or() {
  return (
    <p
      aria-hidden="true"
      className="flex items-center gap-3 text-xs text-muted before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line"
    >
      or
    </p>
  );
}

/** Takes the fragment of the address and removes it, so that no secret stays in the browser's history. */
export function takeFragment(): string {
  const text = location.hash.slice(1);
  if (text !== "") history.replaceState(history.state, "", location.pathname + location.search);
  return text;
}
