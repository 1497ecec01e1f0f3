// What this process measured, minute by minute, in memory until the database has it. It remembers a day at most.
import { type Micros, SECOND } from "../ground/clock.ts";
import type { Component } from "./components.ts";
import { type Counts, nothingCounted } from "./states.ts";

export const MINUTE: Micros = 60 * SECOND;
/** A database that is away for longer than this costs the oldest minutes. */
export const MINUTES_MAX = 24 * 60;
/** Written minutes are remembered for so long: what is shown while the database is away. */
const SHOWN = 10;

export const minuteOf = (at: Micros): Micros => at - (at % MINUTE);

export interface MeasuredMinute extends Counts {
  minute: Micros;
  component: Component;
}

interface Minute {
  minute: Micros;
  counts: Map<Component, Counts>;
  /** False while the database does not have it as it is here. */
  isWritten: boolean;
}

export class Minutes {
  private readonly counted = new Map<Micros, Minute>();

  /** Counts at a moment of the database's clock. Costs next to nothing. */
  note(component: Component, at: Micros, what: keyof Counts, count = 1): void {
    const own = this.counted.get(minuteOf(at)) ?? this.begin(minuteOf(at));
    own.isWritten = false;
    let counts = own.counts.get(component);
    if (!counts) own.counts.set(component, (counts = { ...nothingCounted }));
    counts[what] += count;
  }

  /** What is to be written, oldest first, of at most `most` minutes. */
  due(most: number): MeasuredMinute[] {
    const due = [...this.counted.values()].filter(({ isWritten }) => !isWritten);
    return due
      .toSorted((a, b) => a.minute - b.minute)
      .slice(0, most)
      .flatMap(({ minute, counts }) => [...counts].map(([component, one]) => ({ minute, component, ...one })));
  }

  /** The database has these as they are given here. A minute in which something was counted meanwhile is still due. */
  written(rows: readonly MeasuredMinute[]): void {
    for (const [minute, written] of Map.groupBy(rows, (row) => row.minute)) {
      const own = this.counted.get(minute);
      if (!own) continue;
      own.isWritten =
        own.counts.size === written.length && written.every((row) => isSame(own.counts.get(row.component), row));
    }
  }

  /** What was counted of a component in a minute. */
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
    // A clock that was set back leaves minutes that are not old: whatever it does, there are no more than so many.
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
