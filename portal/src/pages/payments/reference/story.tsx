// The story of a payment: its steps from the first to the last, each with its time, its request and the raw object.
import { useState } from "react";
import { Code } from "../../../ui/code.tsx";
import { To } from "../../../ui/link.tsx";
import { Time } from "../../../ui/time.tsx";
import type { Reader, Step } from "./reader.ts";
import { tell } from "./telling.tsx";

interface Props {
  /** `withheld`: the kinds of steps that the reader's role does not show. */
  of: { steps: readonly Step[]; is_cut: boolean; withheld?: readonly string[] };
  reader: Reader;
}

const withheldWords: Record<string, string> = {
  journalled: "its journals",
  told: "the events about it",
  refunded: "its refunds",
  disputed: "its disputes",
  settled: "its settlements",
};

export function Story({ of: { steps, withheld = [], is_cut: isCut }, reader }: Props) {
  const hidden = withheld.map((kind) => withheldWords[kind]).filter((words) => words !== undefined);
  return (
    <section aria-label="Story of the payment">
      <ol className="space-y-0">
        {steps.map((step, at) => (
          <StepLine key={`${step.kind}-${at}`} step={step} reader={reader} isLast={at === steps.length - 1} />
        ))}
      </ol>
      {isCut && <p className="mt-3 text-muted">There is more: only the first hundred steps of each kind are shown.</p>}
      {hidden.length > 0 && <p className="mt-3 text-muted">Your role does not show {hidden.join(" and ")}.</p>}
    </section>
  );
}

const dots: Record<string, string> = {
  good: "border-good bg-good",
  warn: "border-warn bg-warn",
  bad: "border-bad bg-bad",
  calm: "border-muted bg-ground",
};

function StepLine({ step, reader, isLast }: { step: Step; reader: Reader; isLast: boolean }) {
  const telling = tell(step, reader);
  const more = reader.more?.(step);
  const [isRaw, setRaw] = useState(false);
  return (
    <li className="grid grid-cols-[1rem_1fr] gap-x-3">
      <div aria-hidden="true" className="flex flex-col items-center">
        <span className={`mt-1.5 size-2.5 shrink-0 rounded-full border-2 ${dots[telling.tone ?? "calm"]}`} />
        {!isLast && <span className="w-px flex-1 bg-line" />}
      </div>
      <div className="min-w-0 pb-4">
        <div className="flex items-baseline gap-x-3">
          <div className="flex min-w-0 flex-1 flex-wrap items-baseline gap-x-3">
            <h2 className="font-medium">{telling.title}</h2>
            <span className="text-xs text-muted">
              <Time at={step.at} />
            </span>
            {step.request_id !== null && <Named id={step.request_id} page={reader.request} />}
            {step.client_id !== null && (
              <span className="text-xs text-muted">
                by <Named id={step.client_id} page={reader.key} />
              </span>
            )}
          </div>
          <button
            type="button"
            aria-expanded={isRaw}
            aria-label={`Raw object: ${telling.name}`}
            onClick={() => setRaw(!isRaw)}
            className="min-h-6 shrink-0 rounded px-1.5 text-xs text-muted hover:bg-hover hover:text-ink"
          >
            raw
          </button>
        </div>
        {telling.detail !== undefined && <div className="mt-1 space-y-1.5">{telling.detail}</div>}
        {more !== undefined && <div className="mt-1">{more}</div>}
        {isRaw && (
          <div className="mt-2">
            <Code value={step.object} what={`the raw object: ${telling.name}`} />
          </div>
        )}
      </div>
    </li>
  );
}

function Named({ id, page }: { id: string; page: Reader["request"] }) {
  const to = page(id);
  return to === undefined ? (
    <code className="font-mono text-xs break-all text-muted">{id}</code>
  ) : (
    <To to={to} className="link font-mono text-xs break-all">
      {id}
    </To>
  );
}
