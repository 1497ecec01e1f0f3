// The first steps in a sandbox: a key, a payment, a webhook, a refund and a dispute. Gone once they are taken, or hidden.
import { Check } from "lucide-react";
import { type ReactNode, useState } from "react";
import { usePlace } from "../../api/place.ts";
import { paths } from "../../paths.ts";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { classes } from "../../ui/classes.ts";
import { To } from "../../ui/link.tsx";
import { Section } from "../../ui/page.tsx";
import { type Step, useSteps } from "./steps.ts";

const nameOf = (merchant: string): string => `gerbang.first-steps.${merchant}`;

function isHidden(merchant: string): boolean {
  try {
    return localStorage.getItem(nameOf(merchant)) !== null;
  } catch {
    return false;
  }
}

/**
 * The first steps, where they are `wanted` and nobody has hidden them. While `isPending`, nothing of the page is shown: each list that comes
 * changes the height of its step, and would push away what stands below.
 */
export function useFirstSteps(wanted: boolean): { isPending: boolean; firstSteps: ReactNode } {
  const { merchant } = usePlace();
  const [hidden, setHidden] = useState(() => isHidden(merchant));
  const isShown = wanted && !hidden;
  const { isPending, ...known } = useSteps(isShown);
  const hide = (): void => {
    setHidden(true);
    try {
      localStorage.setItem(nameOf(merchant), "hidden");
    } catch {
      // Then they are hidden until the page is opened again.
    }
  };
  return { isPending, firstSteps: isShown && <Steps {...known} onHide={hide} /> };
}

function Steps({ steps, isKnown, onHide }: { steps: Step[]; isKnown: boolean; onHide: () => void }) {
  const place = usePlace();
  const next = isKnown ? steps.find(({ done }) => !done) : undefined;
  if (isKnown && !next) return null;
  return (
    <Section
      title="First steps"
      actions={
        <Button look="quiet" onClick={onHide}>
          Hide
        </Button>
      }
    >
      <ol className="divide-y divide-line rounded-md border border-line bg-panel">
        {steps.map((step, at) => (
          <Row key={step.title} step={step} number={at + 1} isNext={step === next} />
        ))}
      </ol>
      <p className="mt-2 text-muted">
        At any time, <To to={paths.balances(place)}>Balances</To> shows where each rupiah is, down to the entry that put
        it there.
      </p>
    </Section>
  );
}

function Row({
  step: { title, text, done, to, verb },
  number,
  isNext,
}: {
  step: Step;
  number: number;
  isNext: boolean;
}) {
  return (
    <li className="flex items-center gap-3 px-4 py-2.5 max-sm:flex-wrap" aria-current={isNext ? "step" : undefined}>
      <span
        className={classes(
          "grid size-6 shrink-0 place-items-center rounded-full border text-xs",
          done ? "border-good text-good" : isNext ? "border-accent font-semibold text-ink" : "border-line text-muted",
        )}
      >
        {done ? <Check size={13} role="img" aria-label="Done" /> : number}
      </span>
      <div className="min-w-0 flex-1">
        <To to={to} className={classes("font-medium hover:underline", done && "text-muted")}>
          {title}
        </To>
        {!done && <p className="text-muted">{text}</p>}
      </div>
      {isNext && (
        <div className="max-sm:w-full max-sm:pl-9">
          <ButtonLink look="primary" to={to}>
            {verb}
          </ButtonLink>
        </div>
      )}
    </li>
  );
}
