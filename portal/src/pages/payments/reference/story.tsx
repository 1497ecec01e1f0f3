// The story of a payment: its steps from the first to the last, each with its time, its request and the raw object.
import { type ReactNode, useState } from "react";
import { usePlace } from "../../../api/place.ts";
import type { Schema } from "../../../api/types.ts";
import { paths } from "../../../paths.ts";
import { Code } from "../../../ui/code.tsx";
import { To } from "../../../ui/link.tsx";
import { Time } from "../../../ui/time.tsx";
import { useTelling } from "./telling.tsx";

type Story = Schema<"PaymentStory">;
type Step = Story["steps"][number];

const withheldWords: Record<string, string> = {
  journalled: "its journals",
  told: "the events about it",
  refunded: "its refunds",
  disputed: "its disputes",
  settled: "its settlements",
};

export function Story({ of: { steps, withheld, is_cut: isCut } }: { of: Story }) {
  const hidden = withheld.map((kind) => withheldWords[kind]).filter((words) => words !== undefined);
  return (
    <section aria-label="Story of the payment">
      <ol className="space-y-0">
        {steps.map((step, at) => (
          <StepLine key={`${step.kind}-${at}`} step={step} isLast={at === steps.length - 1} />
        ))}
      </ol>
      {isCut && (
        <p className="mt-3 text-muted">More happened than is shown: of each kind, these are the first hundred.</p>
      )}
      {hidden.length > 0 && <p className="mt-3 text-muted">Your role does not show {hidden.join(", ")}.</p>}
    </section>
  );
}

const dots: Record<string, string> = {
  good: "border-good bg-good",
  warn: "border-warn bg-warn",
  bad: "border-bad bg-bad",
  calm: "border-muted bg-ground",
};

function StepLine({ step, isLast }: { step: Step; isLast: boolean }) {
  const telling = useTelling()(step);
  const [isRaw, setRaw] = useState(false);
  return (
    <li className="grid grid-cols-[1rem_1fr] gap-x-3">
      <div aria-hidden="true" className="flex flex-col items-center">
        <span className={`mt-1.5 size-2.5 shrink-0 rounded-full border-2 ${dots[telling.tone ?? "calm"]}`} />
        {!isLast && <span className="w-px flex-1 bg-line" />}
      </div>
      <div className="min-w-0 pb-4">
        <div className="flex flex-wrap items-baseline gap-x-3">
          <h2 className="font-medium">{telling.title}</h2>
          <span className="text-xs text-muted">
            <Time at={step.at} />
          </span>
          {step.request_id !== null && <RequestLink id={step.request_id} />}
          <button
            type="button"
            aria-expanded={isRaw}
            aria-label={`Raw object: ${telling.name}`}
            onClick={() => setRaw(!isRaw)}
            className="ml-auto min-h-6 rounded px-1.5 text-xs text-muted hover:bg-hover hover:text-ink"
          >
            raw
          </button>
        </div>
        {telling.detail !== undefined && <div className="mt-1 space-y-1.5">{telling.detail}</div>}
        {isRaw && (
          <div className="mt-2">
            <Code value={step.object} what={`the raw object: ${telling.name}`} />
          </div>
        )}
      </div>
    </li>
  );
}

function RequestLink({ id }: { id: string }): ReactNode {
  const place = usePlace();
  return (
    <To to={paths.request(place, id)} className="link font-mono text-xs">
      {id}
    </To>
  );
}
