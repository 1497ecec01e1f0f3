// Notices when the machine's clock is set ahead. A database on the same machine goes along with such a step, so comparing the two clocks shows nothing.
import { uptime } from "node:os";
import { type Clock, type Micros, SECOND } from "./clock.ts";

/** Smaller steps are ignored: they end and delete nothing that matters. */
const STEP_MIN: Micros = 5 * SECOND;
/** A step that has stood for so long is believed. A signature is good for ten minutes at most. */
const DOUBT: Micros = 600 * SECOND;

/** How long the machine has been running, in microseconds, with the time in which it slept. */
const machineUptime: Clock = { now: () => Math.round(uptime() * SECOND) };

/** Compares a clock with the machine's uptime, which nobody sets. Up to the first reading, the clock is believed. */
export class ClockSteps {
  private readonly clock: Clock;
  private readonly running: Clock;
  /** Clock less uptime, as it was before a step that is in doubt. */
  private believed: Micros | undefined;
  /** The step that is in doubt: clock less uptime since then, and the uptime at which that was noticed. */
  private step: { difference: Micros; at: Micros } | undefined;

  constructor(clock: Clock, running: Clock = machineUptime) {
    this.clock = clock;
    this.running = running;
  }

  /** True for ten minutes after the clock was set ahead, or until it is set back. */
  inDoubt(): boolean {
    const running = this.running.now();
    const difference = this.clock.now() - running;
    const ahead = difference - (this.believed ?? difference);
    if (ahead > STEP_MIN) {
      if (!this.step || Math.abs(difference - this.step.difference) > STEP_MIN) this.step = { difference, at: running };
      if (running - this.step.at < DOUBT) return true;
    }
    this.step = undefined;
    this.believed = difference;
    return false;
  }
}
