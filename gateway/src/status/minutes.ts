// The measurements of this process by minute, in memory until they are written to the database. It keeps a day at most.
import { type Micros, MINUTE } from "../ground/clock.ts";
import type { Component } from "./components.ts";
import { type Counts, nothingCounted } from "./states.ts";

/** Minutes in memory at most. When the database is unavailable for longer, the oldest minutes are lost. */
export const MINUTES_MAX = 24 * 60;
/** Minutes for which written counts stay in memory, to be shown while the database is unavailable. */
const SHOWN = 10;

export const minuteOf = (at: Micros): Micros => at - (at % MINUTE);

export interface MeasuredMinute extends Counts {
  minute: Micros;
  component: Component;
}

interface Minute {
  minute: Micros;
  counts: Map<Component, Counts>;
  /** False while the database has older counts of this minute, or none. */
  isWritten: boolean;
}

export class Minutes {
  private readonly counted = new Map<Micros, Minute>();

  /** Counts a result at a time of the database's clock, in memory only. */
  note(component: Component, at: Micros, what: keyof Counts, count = 1): void {
    const own = this.counted.get(minuteOf(at)) ?? this.begin(minuteOf(at));
    own.isWritten = false;
    let counts = own.counts.get(component);
    if (!counts) own.counts.set(component, (counts = { ...nothingCounted }));
    counts[what] += count;
  }

  /** The unwritten counts of at most `most` minutes, oldest first. */
  due(most: number): MeasuredMinute[] {
    const due = [...this.counted.values()].filter(({ isWritten }) => !isWritten);
    return due
      .toSorted((a, b) => a.minute - b.minute)
      .slice(0, most)
      .flatMap(({ minute, counts }) => [...counts].map(([component, one]) => ({ minute, component, ...one })));
  }

  /** Marks these counts as written. A minute that has changed since stays unwritten. */
  written(rows: readonly MeasuredMinute[]): void {
    for (const [minute, written] of Map.groupBy(rows, (row) => row.minute)) {
      const own = this.counted.get(minute);
      if (!own) continue;
      own.isWritten =
        own.counts.size === written.length && written.every((row) => isSame(own.counts.get(row.component), row));
    }
  }

  of(component: Component, minute: Micros): Counts {
    return this.counted.get(minute)?.counts.get(component) ?? nothingCounted;
  }

  private begin(minute: Micros): Minute {
    const own: Minute = { minute, counts: new Map(), isWritten: true };
    this.counted.set(minute, own);
    for (const one of this.counted.values()) {
      const age = (minute - one.minute) / MINUTE;
      if (age >= MINUTES_MAX || (one.isWritten && age > SHOWN)) this.counted.delete(one.minute);
    }
    // After the clock was set back, minutes in memory lie in the future and do not age. This keeps their number bounded.
    for (const first of this.counted.keys()) {
      if (this.counted.size <= MINUTES_MAX) break;
      this.counted.delete(first);
    }
    return own;
  }
}

function isSame(one: Counts | undefined, other: Counts): boolean {
  return one !== undefined && one.good === other.good && one.slow === other.slow && one.bad === other.bad;
}
