// The throttle of work that is not urgent: small steps with rests between them, so that other work does not wait.
import { setTimeout as pause } from "node:timers/promises";
import { stopwatchMs } from "./clock.ts";

/** A rest takes this many times as long as the step before it: the work uses a fifth of the time of one PostgreSQL process. */
const REST = 4;
/** Longest rest: after a very slow step the work must still come to an end. */
const REST_MAX_MS = 5_000;
/** A round ends after this time, finished or not; the next round goes on. */
const ROUND_MS = 25_000;

export class Throttle {
  private readonly begunAt = stopwatchMs();
  private readonly signal: AbortSignal | undefined;

  /** `signal` ends the current rest and the round. */
  constructor(signal?: AbortSignal) {
    this.signal = signal;
  }

  /** True when no further step should be taken. */
  get isOver(): boolean {
    return this.signal?.aborted === true || stopwatchMs() - this.begunAt > ROUND_MS;
  }

  /** Runs a step, then rests. Gives the step's result; throws the step's error. */
  async step<T>(work: () => Promise<T>): Promise<T> {
    const begunAt = stopwatchMs();
    const done = await work();
    const restMs = Math.min(REST_MAX_MS, REST * (stopwatchMs() - begunAt));
    await pause(restMs, undefined, { signal: this.signal }).catch(() => undefined); // the signal cut the rest short: the round is over
    return done;
  }
}

/** Does the work of each, one after another. One that fails holds up no other: the first failure is thrown at the end. */
export async function eachInTurn<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const failures: unknown[] = [];
  for (const one of all) await work(one).catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

/** Runs steps of several kinds in turns until none has more, or the round is over. One that fails takes no more, and the first failure is thrown. */
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
