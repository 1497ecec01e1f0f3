// The wall's big figures: what one reads from three metres. A colour means that somebody should look.
import type { ReactNode } from "react";
import { classes } from "../../../ui/classes.ts";
import type { Language } from "../../../words.ts";
import { kindOf } from "../waiting/kinds.ts";
import type { WallPicture } from "./live.ts";
import { amount, count, milliseconds, seconds, share } from "./words.ts";

type Tone = "calm" | "warn" | "bad";

export function Figures({ of, language }: { of: WallPicture; language: Language }) {
  const { payments, now, waiting } = of;
  const { total, amounts } = payments;
  const ended = total.succeeded + total.failed + total.rejected + total.expired;
  const [main, ...others] = amounts;
  const waits = waiting.reduce((sum, queue) => sum + queue.count, 0);
  const kinds = waiting.filter((queue) => queue.count > 0);
  return (
    <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-md border border-line bg-line md:grid-cols-3 2xl:grid-cols-6">
      <Figure name="Payments a minute" note={`${count(total.asked)} asked in all`}>
        {count(now.payments_per_second * 60)}
      </Figure>
      <Figure name="Succeeded" note={`${count(total.succeeded)} of ${count(ended)} that ended`}>
        {share(total.succeeded, ended)}
      </Figure>
      <Figure
        name={main ? `Came in, ${main.currency}` : "Came in"}
        note={others.length > 0 ? `and ${others.map(({ currency }) => currency).join(", ")}` : "succeeded payments"}
      >
        {main
          ? main.succeeded_minor === null
            ? "> 2^53"
            : amount(main.succeeded_minor, main.exponent, language)
          : "–"}
      </Figure>
      <Figure
        name="Waits for a person"
        tone={waits > 0 ? "warn" : "calm"}
        note={kinds.length === 0 ? "nothing" : kinds.map(({ kind }) => kindOf(kind).name).join(", ")}
      >
        {waiting.some(({ is_more: more }) => more) ? `${count(waits)}+` : count(waits)}
      </Figure>
      <Figure
        name="Answered within"
        tone={now.failed_per_second > 0 ? "bad" : "calm"}
        note={
          now.failed_per_second > 0
            ? `${count(now.failed_per_second)} of ${count(now.requests_per_second)} a second fail`
            : `${count(now.requests_per_second)} requests a second`
        }
      >
        {milliseconds(now.request_p95_ms)}
      </Figure>
      <Figure
        name="Oldest delivery due"
        tone={now.delivery_oldest_seconds > 900 ? "bad" : now.delivery_oldest_seconds > 60 ? "warn" : "calm"}
        note={`first tried within ${milliseconds(now.delivery_lag_p95_ms)}`}
      >
        {seconds(now.delivery_oldest_seconds)}
      </Figure>
    </dl>
  );
}

const tones: Record<Tone, string> = { calm: "text-ink", warn: "text-warn", bad: "text-bad" };

function Figure({
  name,
  note,
  tone = "calm",
  children,
}: {
  name: string;
  note: string;
  tone?: Tone;
  children: ReactNode;
}) {
  return (
    <div className="flex min-w-0 flex-col justify-between bg-panel px-4 py-3">
      <dt className="text-[clamp(0.75rem,0.85vw,1.125rem)] text-muted">{name}</dt>
      <dd
        className={classes(
          "my-1 text-[clamp(1.75rem,3.1vw,4rem)] leading-none font-semibold tracking-[-0.02em] whitespace-nowrap",
          tones[tone],
        )}
      >
        {children}
      </dd>
      <dd className="line-clamp-2 text-[clamp(0.75rem,0.8vw,1rem)] leading-snug text-muted">{note}</dd>
    </div>
  );
}
