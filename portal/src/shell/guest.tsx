// The layout of pages without a session: one narrow column.
import { type ReactNode, useEffect, useEffectEvent } from "react";
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

/**
 * Hands the fragment of the address on and removes it, so that no secret stays in the browser's history. Also one that arrives later: a link pasted
 * into the tab of an open page changes only the fragment, and the browser loads nothing.
 */
export function useFragment(take: (text: string) => void): void {
  const taken = useEffectEvent((isFirst: boolean) => {
    const text = location.hash.slice(1);
    if (text !== "") history.replaceState(history.state, "", location.pathname + location.search);
    if (text !== "" || isFirst) take(text);
  });
  useEffect(() => {
    taken(true);
    const onChange = (): void => taken(false);
    addEventListener("hashchange", onChange);
    return () => removeEventListener("hashchange", onChange);
  }, []);
}
