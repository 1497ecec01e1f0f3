// Ids for `X-EXTERNAL-ID` that are used once: no other request of the same day has the same one.
import { randomInt } from "node:crypto";
import { type Clock, SECOND } from "../../ground/clock.ts";
import { JAKARTA_OFFSET } from "./values.ts";

/** So many digits are never drawn twice. */
const DRAWN_DIGITS = 20;
/** A day in tenths of a second: the first six digits of a short id. */
const DAY_TENTHS = 864_000;

/**
 * Where there is room, an id is drawn. A short one is a tenth of a second of the day in Jakarta, never the same in this process, and digits that
 * this process has drawn: processes need no shared counter, and meet only where they have drawn the same ones.
 */
export class ExternalIds {
  private readonly digits: number;
  private readonly clock: Clock;
  private last = 0;
  private own = "";

  /** `digits` is the length of each, at least 8. */
  constructor(digits: number, clock: Clock) {
    this.digits = digits;
    this.clock = clock;
    this.redraw();
  }

  next(): string {
    if (this.digits >= DRAWN_DIGITS) return drawn(this.digits);
    // A burst borrows from the tenths to come, and a clock that is put back takes none again.
    this.last = Math.max(this.last + 1, Math.floor((this.clock.now() + JAKARTA_OFFSET) / (SECOND / 10)));
    return String(this.last % DAY_TENTHS).padStart(6, "0") + this.own;
  }

  /** They say that somebody else has used one of ours: other digits from now on. */
  redraw(): void {
    this.own = drawn(this.digits - 6);
  }
}

function drawn(digits: number): string {
  return Array.from({ length: digits }, () => randomInt(10)).join("");
}
