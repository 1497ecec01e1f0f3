// The data of the status page, shared by all readers: read from the database at intervals, and cached for when the database is unavailable.
import { setTimeout as pause } from "node:timers/promises";
import { type Clock, type Micros, MINUTE, stopwatchMs } from "../ground/clock.ts";
import type { Log } from "../ground/log.ts";
import type { Database, Row } from "../store/database.ts";
import { type Component, components, isComponent } from "./components.ts";
import { type Incident, SHOWN_FOR } from "./incident.ts";
import { incidentOfRow, selectShown } from "./incidents.sql.ts";
import { type Minutes, minuteOf } from "./minutes.ts";
import type { Counts, DayMinutes } from "./states.ts";
import { type DayRow, type MinuteRow, RECENT, countsOfRow, selectDays, selectMinutes } from "./status.sql.ts";

/** The shortest time between two reads, for all readers together. */
const KEEP_MS = 5_000;
/** The shortest time to the next read after a failed one. */
const RETRY_MS = 2_000;
/** The longest time that a reader waits for the database. */
const WAIT_MS = 800;

export interface MinuteCounts {
  minute: Micros;
  counts: Counts;
}

interface Snapshot {
  /** The counts of the last minutes (RECENT), oldest first. */
  recent: ReadonlyMap<Component, readonly MinuteCounts[]>;
  /** By component, then by day as YYYY-MM-DD. */
  days: ReadonlyMap<Component, ReadonlyMap<string, DayMinutes>>;
  incidents: readonly Incident[];
}

/** The data known at one moment. */
export interface Known {
  now: Micros;
  /** The last snapshot that was read; undefined when none ever was. */
  snapshot: Snapshot | undefined;
  /** True while the database does not answer. */
  isFromMemory: boolean;
  /** The counts of this process in the last minutes. They are used while the database does not answer, and before anything is written. */
  own: Snapshot["recent"];
}

interface BoardParts {
  database: Database;
  clock: Clock;
  log: Log;
  minutes: Minutes;
  /** False when the database has not answered lately. */
  hears: () => boolean;
}

export class Board {
  private readonly parts: BoardParts;
  private snapshot: Snapshot | undefined;
  private triedAtMs = -Infinity;
  private isAnswered = false;
  private reading: Promise<void> | undefined;

  constructor(parts: BoardParts) {
    this.parts = parts;
  }

  /** Gives the current data. Waits at most WAIT_MS (less than a second) for the database, and never throws. */
  async read(): Promise<Known> {
    const keptMs = this.isAnswered ? KEEP_MS : RETRY_MS;
    if (this.reading || stopwatchMs() - this.triedAtMs > keptMs) {
      const reading = this.refresh();
      if (this.parts.hears() || !this.snapshot) await Promise.race([reading, pause(WAIT_MS)]);
    }
    const { snapshot } = this;
    const isCurrent = this.isAnswered && this.parts.hears() && !this.isLate;
    return { now: this.parts.clock.now(), snapshot, isFromMemory: !isCurrent, own: this.own() };
  }

  /** Reads a new snapshot, once for all concurrent callers. Never throws: after a failed read the page shows that the database does not answer. */
  refresh(): Promise<void> {
    this.reading ??= this.ask().finally(() => (this.reading = undefined));
    return this.reading;
  }

  /** True while a read takes longer than readers wait for it. */
  private get isLate(): boolean {
    return this.reading !== undefined && stopwatchMs() - this.triedAtMs >= WAIT_MS;
  }

  private async ask(): Promise<void> {
    const { database, clock, log } = this.parts;
    this.triedAtMs = stopwatchMs();
    try {
      const takenAt = clock.now();
      const [minutes = [], days = [], incidents = []] = await database.pipeline([
        selectMinutes(minuteOf(takenAt) - RECENT),
        selectDays,
        selectShown(takenAt, takenAt - SHOWN_FOR),
      ]);
      this.snapshot = {
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
    const minutes = Array.from({ length: RECENT / MINUTE + 1 }, (_, at) => last - RECENT + at * MINUTE);
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
