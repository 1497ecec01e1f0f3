// How a dispute stands, in a sentence: the clock that runs, or how it ended.
import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect } from "react";
import { refresh } from "../../../api/action.ts";
import type { Schema } from "../../../api/types.ts";
import { classes } from "../../../ui/classes.ts";
import { Money } from "../../../ui/money.tsx";
import { useNow } from "../../../ui/now.ts";
import { Time } from "../../../ui/time.tsx";

interface Props {
  dispute: Schema<"Dispute">;
  evidence: Schema<"GatheredEvidence">;
  /** When the evidence was told, by this machine's clock: milliseconds since 1970. */
  receivedAt: number;
}

export function DisputeState({ dispute, evidence, receivedAt }: Props) {
  if (dispute.outcome !== null) return <Outcome dispute={dispute} evidence={evidence} />;
  if (evidence.submitted_at !== null)
    return (
      <Banner tone="calm" title="Your answer is submitted">
        It was submitted on <Time at={evidence.submitted_at} /> and cannot be changed. The acquirer decides;{" "}
        <Money of={dispute} /> stays held until then.
      </Banner>
    );
  if (!evidence.can_change)
    return (
      <Banner tone="bad" title="The deadline has passed">
        The evidence was due on <Time at={evidence.evidence_due_at} />. A dispute that is not answered in time is lost.
      </Banner>
    );
  return <Deadline evidence={evidence} receivedAt={receivedAt} />;
}

const DAY_MS = 86_400_000;

/** The time left by the book's clock, which may be ahead of this machine's. */
function Deadline({ evidence: { now, evidence_due_at: due }, receivedAt }: Omit<Props, "dispute">) {
  const queries = useQueryClient();
  const real = useNow(1000);
  const ahead = Date.parse(now) - receivedAt;
  const left = Math.max(0, Date.parse(due) - real - ahead);
  const isOver = left === 0;
  useEffect(() => {
    if (isOver) void refresh(queries, ["/v1/disputes"]);
  }, [isOver, queries]);
  return (
    <Banner tone={left < DAY_MS ? "bad" : "warn"} title={<Clock ms={left} />}>
      left to answer, until <Time at={due} />. If you do not answer by then, you lose the dispute.
    </Banner>
  );
}

function Clock({ ms }: { ms: number }) {
  const seconds = Math.floor(ms / 1000);
  const days = Math.floor(seconds / 86_400);
  const two = (value: number): string => String(value).padStart(2, "0");
  const clock = `${two(Math.floor(seconds / 3600) % 24)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return (
    <span role="timer" aria-label="Time left to answer">
      {days > 0 && `${days} ${days === 1 ? "day" : "days"} `}
      {clock}
    </span>
  );
}

function Outcome({ dispute, evidence }: Omit<Props, "receivedAt">) {
  const { outcome, resolved_at: resolvedAt, evidence_due_at: dueAt } = dispute;
  const money = <Money of={dispute} />;
  if (outcome === "won")
    return (
      <Banner tone="good" title="You won">
        The acquirer decided for you. {money} is released to your available balance.
      </Banner>
    );
  if (outcome === "withdrawn")
    return (
      <Banner tone="good" title="Withdrawn">
        The payer withdrew the dispute. {money} is released to your available balance.
      </Banner>
    );
  return (
    <Banner tone="bad" title="You lost">
      {evidence.submitted_at === null && resolvedAt !== null && resolvedAt >= dueAt
        ? "Nothing was submitted before the deadline."
        : "The acquirer decided for the payer."}{" "}
      {money} went back to the payer.
    </Banner>
  );
}

const tones = {
  good: "border-l-good",
  warn: "border-l-warn",
  bad: "border-l-bad",
  calm: "border-l-muted",
};

function Banner({ tone, title, children }: { tone: keyof typeof tones; title: ReactNode; children: ReactNode }) {
  return (
    <section
      aria-label="How it stands"
      className={classes("rounded-md border border-l-4 border-line bg-panel px-4 py-3", tones[tone])}
    >
      <p className="text-lg font-semibold">{title}</p>
      <p className="text-muted">{children}</p>
    </section>
  );
}
