// What the status page is made from, shared by everybody who looks: read from the database now and then, and kept for when the database is away.
import { setTimeout as pause } from "node:timers/promises";
import { type Clock, type Micros, stopwatchMs } from "../ground/clock.ts";
import type { Log } from "../ground/log.ts";
import type { Database, Row } from "../store/database.ts";
import { type Component, components, isComponent } from "./components.ts";
import { type Incident, SHOWN_FOR } from "./incident.ts";
import { incidentOfRow, selectShown } from "./incidents.sql.ts";
import { type Minutes, minuteOf } from "./minutes.ts";
import type { Counts, DayMinutes } from "./states.ts";
import { type DayRow, type MinuteRow, RECENT, countsOfRow, selectDays, selectMinutes } from "./status.sql.ts";

/** Times of reading; tests have shorter ones. */
export const boardTiming = {
  /** However many look, the database is asked no more often. */
  keepMs: 5_000,
  /** After it did not answer. */
  retryMs: 2_000,
  /** Whoever looks waits for it so long. */
  waitMs: 800,
};

export interface MinuteCounts {
  minute: Micros;
  counts: Counts;
}

export interface Snapshot {
  takenAt: Micros;
  /** What was measured in the last minutes, oldest first. */
  recent: ReadonlyMap<Component, readonly MinuteCounts[]>;
  /** By day as YYYY-MM-DD. */
  days: ReadonlyMap<Component, ReadonlyMap<string, DayMinutes>>;
  incidents: readonly Incident[];
}

/** What is known at a moment. */
export interface Known {
  now: Micros;
  /** What was read last; undefined where nothing ever was. */
  snapshot: Snapshot | undefined;
  /** True while the database does not answer. */
  isFromMemory: boolean;
  /** What this process measured itself in the last minutes: all there is while the database does not answer, and before anything is written. */
  own: Snapshot["recent"];
}

export interface BoardParts {
  database: Database;
  /** The database's time. */
  clock: Clock;
  log: Log;
  minutes: Minutes;
  /** False when the database has not answered lately. */
  hears: () => boolean;
  timing?: typeof boardTiming | undefined;
}

export class Board {
  private readonly parts: BoardParts;
  private readonly timing: typeof boardTiming;
  private snapshot: Snapshot | undefined;
  private triedAtMs = -Infinity;
  private isAnswered = false;
  private reading: Promise<void> | undefined;

  constructor(parts: BoardParts) {
    this.parts = parts;
    this.timing = parts.timing ?? boardTiming;
  }

  /** What is known now. Waits for the database for less than a second, and never throws. */
  async read(): Promise<Known> {
    const keptMs = this.isAnswered ? this.timing.keepMs : this.timing.retryMs;
    if (this.reading || stopwatchMs() - this.triedAtMs > keptMs) {
      const reading = this.refresh();
      if (this.parts.hears() || !this.snapshot) await Promise.race([reading, pause(this.timing.waitMs)]);
    }
    const { snapshot } = this;
    const isCurrent = this.isAnswered && this.parts.hears() && !this.isLate;
    return { now: this.parts.clock.now(), snapshot, isFromMemory: !isCurrent, own: this.own() };
  }

  /** Reads it again, once for all who ask meanwhile. Never throws: that the database does not answer is what is shown then. */
  refresh(): Promise<void> {
    this.reading ??= this.ask().finally(() => {
      this.reading = undefined;
    });
    return this.reading;
  }

  /** True while the database takes longer than anybody waits for. */
  private get isLate(): boolean {
    return this.reading !== undefined && stopwatchMs() - this.triedAtMs >= this.timing.waitMs;
  }

  private async ask(): Promise<void> {
    const { database, clock, log } = this.parts;
    this.triedAtMs = stopwatchMs();
    try {
      const takenAt = clock.now();
      const [minutes = [], days = [], incidents = []] = await database.pipeline([
        selectMinutes(minuteOf(takenAt) - RECENT),
        selectDays(),
        selectShown(takenAt, takenAt - SHOWN_FOR),
      ]);
      this.snapshot = {
        takenAt,
        recent: byComponent(minutes as MinuteRow[], (own) =>
          own.map((row) => ({ minute: row.minute, counts: countsOfRow(row) })),
        ),
        days: byComponent(days as DayRow[], (own) => new Map(own.map((row) => [row.day, row]))),
        incidents: incidents.map(incidentOfRow),
      };
      this.isAnswered = true;
    } catch (error) {
      this.isAnswered = false;
      log.warn({ err: error }, "what the status page shows could not be read; it shows what is in memory");
    }
  }

  private own(): Snapshot["recent"] {
    const last = minuteOf(this.parts.clock.now());
    const minutes = Array.from({ length: RECENT / 60_000_000 + 1 }, (_, at) => last - RECENT + at * 60_000_000);
    return new Map(
      components.map((component) => [
        component,
        minutes.map((minute) => ({ minute, counts: this.parts.minutes.of(component, minute) })),
      ]),
    );
  }
}

function byComponent<R extends Row & { component: string }, T>(
  rows: readonly R[],
  view: (own: R[]) => T,
): Map<Component, T> {
  const known = rows.filter(({ component }) => isComponent(component));
  return new Map([...Map.groupBy(known, (row) => row.component as Component)].map(([name, own]) => [name, view(own)]));
}
