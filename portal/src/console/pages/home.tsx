// Home of the console: what waits for a person, by urgency of its kind.
import { useQuery } from "@tanstack/react-query";
import { ButtonLink } from "../../ui/button.tsx";
import { useSession } from "../../api/session.ts";
import { Page as Frame, Section } from "../../ui/page.tsx";
import { Empty } from "../../ui/empty.tsx";
import { ErrorFace, useErrorShown } from "../../ui/face.tsx";
import { To } from "../../ui/link.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { type Schema, read } from "../api/client.ts";
import { at } from "../paths.ts";
import { Due } from "./waiting/due.tsx";
import { kindOf } from "./waiting/kinds.ts";
import { WallStrip } from "./wall/strip.tsx";

type Queue = Schema<"WaitingQueue">;

export function Page() {
  return (
    <Frame title="Home" lead="What waits for you." curl={{ path: "/v1/waiting" }}>
      <Section title="Waiting" actions={<ButtonLink to={at.waiting()}>All of it</ButtonLink>}>
        <Waiting />
      </Section>
      <WallStrip />
      <Closed />
    </Frame>
  );
}

/** While nobody can pay with real money: merchants ask why, and nothing else here says so. */
function Closed() {
  const service = useSession()?.service;
  if (service === undefined || service.production_open) return null;
  const guide = service.base_url.replace(/\/v1$/, "/docs/production#before-real-payments");
  return (
    <p className="text-muted">
      Production is closed: only the sandbox takes payments.{" "}
      <a className="link" href={guide} target="_blank" rel="noreferrer">
        How to open it
      </a>
    </p>
  );
}

function Waiting() {
  const waiting = useQuery({ ...read("/v1/waiting"), refetchInterval: 15_000 });
  const error = useErrorShown(waiting);
  if (!waiting.data && error) return <ErrorFace error={error} retry={() => waiting.refetch()} />;
  if (!waiting.data) return <Skeleton className="h-40 w-full" />;
  const queues = waiting.data.data.filter(({ count }) => count > 0);
  if (queues.length === 0)
    return <Empty title="Nothing waits">No reviews, disputes or unassigned money need you.</Empty>;
  return (
    <ul className="divide-y divide-line rounded-md border border-line bg-panel">
      {queues.map((queue) => (
        <Line key={queue.kind} queue={queue} />
      ))}
    </ul>
  );
}

function Line({ queue: { kind, count, is_more: more, items } }: { queue: Queue }) {
  const due = items.find(({ due_at: at }) => at !== null);
  const { name, todo } = kindOf(kind);
  return (
    <li>
      <To
        to={at.waitingFor(kind)}
        className="flex min-h-12 flex-wrap items-center gap-x-4 px-4 py-2 text-ink first:rounded-t-md last:rounded-b-md hover:bg-hover"
      >
        <span className="min-w-0 flex-1">
          <span className="block font-medium">{name}</span>
          <span className="block text-muted">{todo}</span>
        </span>
        {due?.due_at && (
          <span className="text-xs text-muted">
            next <Due at={due.due_at} environment={due.environment} />
          </span>
        )}
        <span className="min-w-8 text-right text-lg font-semibold">
          {count}
          {more && "+"}
        </span>
      </To>
    </li>
  );
}
