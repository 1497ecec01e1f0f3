// An empty list or section: says what it would hold, with the call that would fill it.
import type { ReactNode } from "react";
import { Code } from "./code.tsx";
import { type Call, shellNeeds, useCurl } from "./curl.tsx";

interface Props {
  title: string;
  /** One or two sentences: what will appear here, and when. */
  children?: ReactNode;
  /** A button that creates the first object. */
  action?: ReactNode;
  curl?: Call | undefined;
}

export function Empty({ title, children, action, curl }: Props) {
  return (
    <section className="rounded-md border border-dashed border-line bg-panel p-5">
      <h2 className="text-base font-semibold">{title}</h2>
      <div className="mt-1 max-w-2xl text-muted">{children}</div>
      {action !== undefined && <div className="mt-3 flex flex-wrap gap-2 empty:hidden">{action}</div>}
      {curl && <Lesson call={curl} />}
    </section>
  );
}

function Lesson({ call }: { call: Call }) {
  const text = useCurl(call);
  return (
    <div className="mt-4">
      <p className="mb-1.5 text-xs text-muted">With {shellNeeds}:</p>
      <Code text={text} what="the call" />
    </div>
  );
}
