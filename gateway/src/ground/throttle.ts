// The throttle of work that is not urgent: small steps with rests between them, so that nobody waits for it.
import { setTimeout as pause } from "node:timers/promises";
import { stopwatchMs } from "./clock.ts";

/** After each step so many times as long as it took: the work has a fifth of the time of one of PostgreSQL's processes. */
const REST = 4;
/** A step that took so long that this is less would be a defect of its own, and work must still come to an end. */
const REST_MAX_MS = 5_000;
/** A round ends then, finished or not: the next one goes on. */
const ROUND_MS = 25_000;

export class Throttle {
  private readonly begunAt = stopwatchMs();
  private readonly signal: AbortSignal | undefined;

  /** `signal` ends the rest that is being taken, and the round. */
  constructor(signal?: AbortSignal) {
    this.signal = signal;
  }

  /** True when no further step should be taken. */
  get isOver(): boolean {
    return this.signal?.aborted === true || stopwatchMs() - this.begunAt > ROUND_MS;
  }

  /** Takes a step and rests. Gives what the step gave; throws what it threw. */
  async step<T>(work: () => Promise<T>): Promise<T> {
    const begunAt = stopwatchMs();
    const done = await work();
    const restMs = Math.min(REST_MAX_MS, REST * (stopwatchMs() - begunAt));
    await pause(restMs, undefined, { signal: this.signal }).catch(() => undefined); // cut short: the round is over
    return done;
  }
}

/**
 * Takes steps of several kinds, one of each in turn, until none of them says that there is more, or the round is over. A kind that
 * fails takes no further step and keeps no other from going on; in the end it throws what the first one failed with.
 */
export async function inTurns(throttle: Throttle, kinds: readonly (() => Promise<boolean>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (let going = kinds; going.length > 0 && !throttle.isOver;) {
    const more: (() => Promise<boolean>)[] = [];
    for (const kind of going) {
      if (throttle.isOver) break;
      try {
        if (await throttle.step(kind)) more.push(kind);
      } catch (error) {
        failures.push(error);
      }
    }
    going = more;
  }
  if (failures.length > 0) throw failures[0];
}
