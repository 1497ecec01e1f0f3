// What waits for somebody: disputes with their deadline, events that wait for another attempt, events that were given up.
import type { ReactNode } from "react";
import { useCan, usePlace } from "../../api/place.ts";
import type { Schema } from "../../api/types.ts";
import { paths, withSearch } from "../../paths.ts";
import { FromBookNow } from "../../ui/book-time.tsx";
import { classes } from "../../ui/classes.ts";
import { To } from "../../ui/link.tsx";
import { Money, digitsOf } from "../../ui/money.tsx";
import { Section } from "../../ui/page.tsx";
import { useLanguage } from "../../words.ts";

type Waits = Schema<"Waiting">;

export function Waiting({ of, isNew }: { of: Waits; isNew: boolean }) {
  const place = usePlace();
  const can = useCan();
  const language = useLanguage();
  const { disputes, undelivered, retrying, endpoint } = of;
  const more = disputes ? disputes.count - disputes.next.length : 0;
  const items: ReactNode[] = [
    ...(disputes?.next.map((dispute) => (
      <Item
        key={dispute.uuid}
        tone="bad"
        to={paths.dispute(place, dispute.uuid)}
        what={`Answer a dispute: ${dispute.reason.replaceAll("_", " ")}`}
      >
        <Money of={dispute} /> · due <FromBookNow at={dispute.evidence_due_at} />
      </Item>
    )) ?? []),
    more > 0 && (
      <Item
        key="disputes"
        tone="bad"
        to={withSearch(paths.disputes(place), { status: "needs_response" })}
        what={`${number(more, disputes, language)} more ${more === 1 ? "dispute" : "disputes"} to answer`}
      />
    ),
    undelivered && undelivered.count > 0 && (
      <Item
        key="undelivered"
        tone="bad"
        to={withSearch(paths.events(place), { delivery: "undelivered" })}
        what={`${number(undelivered.count, undelivered, language)} ${undelivered.count === 1 ? "event was" : "events were"} given up`}
      >
        every attempt failed; send them again once your endpoint is healthy
      </Item>
    ),
    retrying && retrying.count > 0 && (
      <Item
        key="retrying"
        tone="warn"
        to={paths.webhooks(place)}
        what={`${number(retrying.count, retrying, language)} ${retrying.count === 1 ? "event waits" : "events wait"} for another attempt`}
      >
        your endpoint has not accepted {retrying.count === 1 ? "it" : "them"}
      </Item>
    ),
    endpoint === "missing" && (
      <Item
        key="missing"
        tone={isNew ? "calm" : "warn"}
        to={can("webhooks:write") ? paths.webhooks(place) : undefined}
        what="No webhook address is registered"
      >
        your system is notified only of payments that have a callback_url of their own
      </Item>
    ),
  ].filter(Boolean);
  return (
    <Section title="Waits for you">
      <ul className="divide-y divide-line rounded-md border border-line bg-panel">
        {items.length > 0 ? items : <li className="px-4 py-2.5 text-muted">Nothing waits for you.</li>}
      </ul>
    </Section>
  );
}

/** "over 1,000": as the amounts on the page are written. */
export function number(count: number, of: { has_more: boolean } | null, language: "en" | "id"): string {
  return `${of?.has_more ? "over " : ""}${digitsOf(count, 0, language)}`;
}

const dots = { bad: "before:bg-bad", warn: "before:bg-warn", calm: "before:bg-muted" };

interface ItemProps {
  tone: keyof typeof dots;
  /** Where one does something about it; left out where the person may not. */
  to: string | undefined;
  what: string;
  children?: ReactNode;
}

function Item({ tone, to, what, children }: ItemProps) {
  return (
    <li
      className={classes(
        "flex flex-wrap items-center gap-x-3 px-4 py-2 before:size-2 before:shrink-0 before:rounded-full before:forced-color-adjust-none",
        dots[tone],
      )}
    >
      {to === undefined ? (
        <span className="font-medium">{what}</span>
      ) : (
        <To to={to} className="inline-flex min-h-6 items-center font-medium hover:underline">
          {what}
        </To>
      )}
      {children !== undefined && <span className="text-muted">{children}</span>}
    </li>
  );
}
