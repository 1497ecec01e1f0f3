// The sandbox's clock: where it stands, what falls due next, and moving it so that it happens.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { refresh, useAction } from "../../api/action.ts";
import { useApi, useCan } from "../../api/place.ts";
import type { Schema } from "../../api/types.ts";
import { Answer } from "../../ui/answer.tsx";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { ErrorNote } from "../../ui/face.tsx";
import { Fact, Facts } from "../../ui/facts.tsx";
import { Page as Frame, Section } from "../../ui/page.tsx";
import { Time } from "../../ui/time.tsx";
import { useNow } from "../../ui/now.ts";
import { AdvanceForm } from "./clock/advance-form.tsx";
import { ComingDue } from "./clock/coming-due.tsx";
import { Happened } from "./clock/happened.tsx";
import { spanOf } from "./clock/span.ts";

type Event = Schema<"Event">;

const steps = [60, 1800, 3600, 86_400, 604_800];
const EVENTS_MAX = 100;

/** What happened while the clock moved. */
interface Moved {
  seconds: number;
  events: Event[] | undefined;
}

export function Page() {
  const can = useCan();
  return (
    <Frame
      title="Clock"
      lead="Your sandbox has its own clock. Move it forward, and everything that falls due on the way happens in order, each at its own time."
      curl={{ method: "POST", path: "/v1/sandbox/clock/advance", body: { seconds: 3600 } }}
    >
      {can("sandbox:write") ? (
        <Clock />
      ) : (
        <Empty title="Your role cannot move the clock">Anyone but a viewer can move it in the sandbox.</Empty>
      )}
    </Frame>
  );
}

function Clock() {
  const api = useApi();
  const can = useCan();
  const queries = useQueryClient();
  const clock = useQuery(api.read("/v1/sandbox/clock"));
  const [moved, setMoved] = useState<Moved | undefined>(undefined);
  const newest = (limit: number) =>
    queries.fetchQuery({ ...api.read("/v1/events", { query: { limit } }), staleTime: 0 });

  const action = useAction(async (seconds: number, intent) => {
    const [before] = can("events:read") ? (await newest(1)).data : [];
    await api.write("POST", "/v1/sandbox/clock/advance", { body: { seconds } }, intent);
    if (!can("events:read")) return { seconds, events: undefined };
    const { data } = await newest(EVENTS_MAX);
    const at = data.findIndex(({ id }) => id === before?.id);
    // Oldest first: the order in which it happened.
    return { seconds, events: (at === -1 ? data : data.slice(0, at)).toReversed() };
  });
  const advance = async (seconds: number): Promise<void> => {
    const result = await action.run(seconds);
    if (result) setMoved(result);
    await refresh(queries);
  };
  return (
    <>
      <Answer of={clock}>{(now) => <ClockReading clock={now} askedAt={clock.dataUpdatedAt} />}</Answer>
      <Section title="Move it forward">
        <div className="space-y-3">
          <div className="flex flex-wrap gap-2">
            {steps.map((seconds) => (
              <Button key={seconds} pending={action.pending} onClick={() => advance(seconds)}>
                + {spanOf(seconds)}
              </Button>
            ))}
          </div>
          <AdvanceForm action={action} advance={advance} />
          {action.error && action.error.details.field === undefined && <ErrorNote error={action.error} />}
        </div>
      </Section>
      {moved && <Happened seconds={moved.seconds} events={moved.events} isCut={moved.events?.length === EVENTS_MAX} />}
      <Section title="Falls due next">
        <ComingDue isMoving={action.pending} advance={advance} />
      </Section>
    </>
  );
}

function ClockReading({ clock, askedAt }: { clock: Schema<"SandboxClock">; askedAt: number }) {
  const passed = Math.max(0, useNow(1000) - askedAt);
  const now = new Date(Date.parse(clock.now) + passed).toISOString().replace(/\.\d+Z$/, "Z");
  return (
    <Facts>
      <Fact name="It is now">
        <Time at={now} />
      </Fact>
      <Fact name="Ahead of real time">{clock.offset_seconds === 0 ? "not at all" : spanOf(clock.offset_seconds)}</Fact>
    </Facts>
  );
}
