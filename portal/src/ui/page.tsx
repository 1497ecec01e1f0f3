// The frame of a page: title, lead, actions, and its call with curl.
import { useIsFetching } from "@tanstack/react-query";
import { type ReactNode, useDeferredValue, useEffect, useRef, useState } from "react";
import { useShownPath } from "../address.ts";
import { serviceName } from "../face.ts";
import { type Call, CurlPanel } from "./curl.tsx";
import { To } from "./link.tsx";

interface Props {
  title: string;
  /** One sentence: the question that the page answers. */
  lead?: ReactNode;
  /** The list that this object belongs to. */
  above?: { to: string; label: string } | undefined;
  /** A status or an id beside the title. */
  beside?: ReactNode;
  /** Buttons; the main action comes last. */
  actions?: ReactNode;
  /** The API call that gives the page's content. */
  curl?: Call | undefined;
  children: ReactNode;
}

export function Page({ title, lead, above, beside, actions, curl, children }: Props) {
  const path = usePageTitle(title);
  return (
    <article className="mx-auto flex min-h-full w-full max-w-6xl flex-col px-4 pt-5 pb-10 sm:px-7">
      <header className="mb-5">
        {above && (
          <nav aria-label="Above" className="mb-1 text-xs print:hidden">
            <To to={above.to} className="inline-flex min-h-6 items-center text-muted hover:text-ink hover:underline">
              ← {above.label}
            </To>
          </nav>
        )}
        {/* On a phone an identity has its own line from the start: a status that comes later would push it there, and everything below it down. */}
        <div className="flex min-h-8 flex-wrap items-center gap-x-4 gap-y-2 max-sm:[&>span:has(>code)]:w-full">
          <h1 tabIndex={-1} className="min-w-0 text-xl font-semibold tracking-[-0.01em] wrap-anywhere">
            {title}
          </h1>
          {beside}
          {actions !== undefined && (
            <div className="ml-auto flex flex-wrap items-center gap-2 print:hidden">{actions}</div>
          )}
        </div>
        {lead !== undefined && <p className="mt-1 max-w-2xl text-muted">{lead}</p>}
      </header>
      <div className="flex-1 space-y-6">{children}</div>
      {curl && <CurlOnceLoaded key={path} call={curl} />}
    </article>
  );
}

/** The call comes with the page's content: shown above it, it would be pushed down. It then stays, open or not, whatever the page loads later. */
function CurlOnceLoaded({ call }: { call: Call }) {
  const loading = useIsFetching({ predicate: ({ state }) => state.status === "pending" });
  // The queries of the page begin after it is drawn for the first time.
  const isDrawn = useDeferredValue(true, false);
  const [isShown, show] = useState(false);
  if (isDrawn && loading === 0 && !isShown) show(true);
  return isShown ? <CurlPanel call={call} /> : null;
}

/** Sets the window's title. After a change of page the heading takes the focus: the keyboard goes on from there, and screen readers say it. Gives the path of the page. */
export function usePageTitle(title: string): string | undefined {
  const path = useShownPath();
  const told = useRef(path);
  useEffect(() => {
    document.title = `${title} · ${serviceName()}`;
  }, [title]);
  useEffect(() => {
    const before = told.current;
    told.current = path;
    if (before === undefined || before === path) return;
    // A field that the new page has put the focus into keeps it.
    if (document.activeElement?.matches("input,textarea,select")) return;
    document.querySelector<HTMLElement>("h1")?.focus({ preventScroll: true });
  }, [path]);
  return path;
}

interface SectionProps {
  title: string;
  actions?: ReactNode;
  children: ReactNode;
}

/** A titled part of a page. */
export function Section({ title, actions, children }: SectionProps) {
  return (
    <section aria-label={title}>
      <div className="mb-2 flex flex-wrap items-end gap-3">
        <h2 className="text-base font-semibold">{title}</h2>
        {actions !== undefined && <div className="ml-auto flex items-center gap-2 print:hidden">{actions}</div>}
      </div>
      {children}
    </section>
  );
}
