// The public view of the status page, combined from measurements and published incidents. Pure.
import { type Micros, DAY, MINUTE, wireTime } from "../ground/clock.ts";
import type { Known, MinuteCounts } from "./board.ts";
import { type Component, components, isMethod } from "./components.ts";
import { type Incident, type Phase, endOf, phaseOf, statesSaid } from "./incident.ts";
import { minuteOf } from "./minutes.ts";
import {
  type DayMinutes,
  type State,
  add,
  nothingCounted,
  stateOf,
  stateOfDay,
  uptimePercent,
  worst,
} from "./states.ts";
import { DAYS_SHOWN, RECENT } from "./status.sql.ts";

export interface DayView {
  /** YYYY-MM-DD, in UTC. */
  day: string;
  state: State;
  /** Undefined when nothing was measured that day. */
  minutes: DayMinutes | undefined;
}

export interface ComponentView {
  component: Component;
  /** The displayed state: planned work, otherwise the worse of the measured state and that of open incidents. */
  state: State;
  /** The measured state alone, and the minute of the last measurement. */
  measured: State;
  measuredAt: Micros | undefined;
  /** Percentage of measured minutes without an outage; undefined when nothing was measured. */
  uptime: number | undefined;
  /** The last DAYS_SHOWN days, oldest first, today last. */
  days: DayView[];
}

export interface StatusView {
  state: State;
  checkedAt: Micros;
  /** True while the database does not answer. The view then shows what this process alone knows. */
  isFromMemory: boolean;
  components: ComponentView[];
  incidents: Record<Phase, Incident[]>;
}

/** Builds the view. `offered` holds the payment methods with an acquirer; other methods are left out. */
export function statusView({ now, snapshot, isFromMemory, own }: Known, offered: ReadonlySet<string>): StatusView {
  const incidents = snapshot?.incidents ?? [];
  const shown = components.filter((component) => !isMethod(component) || offered.has(component));
  const views = shown.map((component): ComponentView => {
    const read = isFromMemory ? undefined : latestOf(snapshot?.recent.get(component) ?? [], now);
    const latest = read?.minute === undefined ? latestOf(own.get(component) ?? [], now) : read;
    // No merchant request can succeed without the database, whatever was counted a moment ago.
    const isDown = component === "api" && isFromMemory;
    const measured = isDown ? "outage" : stateOf(component, latest.counts);
    const said = statesSaid(component, incidents, now);
    const days = daysOf(snapshot?.days.get(component), now);
    return {
      component,
      state: said.includes("maintenance") ? "maintenance" : worst([measured, ...said]),
      measured,
      measuredAt: isDown ? now : latest.minute,
      uptime: uptimePercent(days.flatMap(({ minutes }) => minutes ?? [])),
      days,
    };
  });
  const phases = Map.groupBy(incidents, (one) => phaseOf(one, now));
  const over = phases.get("over") ?? [];
  return {
    state: worst(views.map(({ state }) => state)),
    checkedAt: now,
    isFromMemory,
    components: views,
    incidents: {
      open: phases.get("open") ?? [],
      planned: (phases.get("planned") ?? []).toSorted((a, b) => a.startsAt - b.startsAt),
      over: over.toSorted((a, b) => (endOf(b) ?? 0) - (endOf(a) ?? 0)),
    },
  };
}

/** The counts of the current and the previous minute together, or else of the newest minute within RECENT that has counts. */
function latestOf(
  minutes: readonly MinuteCounts[],
  now: Micros,
): { minute: Micros | undefined; counts: MinuteCounts["counts"] } {
  const measured = minutes.filter(
    ({ minute, counts }) => minute >= minuteOf(now) - RECENT && counts.good + counts.slow + counts.bad > 0,
  );
  const newest = measured.at(-1);
  if (newest === undefined) return { minute: undefined, counts: nothingCounted };
  const last = measured.filter(({ minute }) => minute >= minuteOf(now) - MINUTE);
  return {
    minute: newest.minute,
    counts: last.length === 0 ? newest.counts : last.map(({ counts }) => counts).reduce(add),
  };
}

function daysOf(counted: ReadonlyMap<string, DayMinutes> | undefined, now: Micros): DayView[] {
  return Array.from({ length: DAYS_SHOWN }, (_, at): DayView => {
    const day = wireTime(now - (DAYS_SHOWN - 1 - at) * DAY).slice(0, "2026-01-01".length);
    const minutes = counted?.get(day);
    return { day, state: minutes === undefined ? "no_data" : stateOfDay(minutes), minutes };
  });
}
