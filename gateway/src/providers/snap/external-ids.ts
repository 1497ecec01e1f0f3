// Ids for `X-EXTERNAL-ID`: no two requests of one day have the same one.
import { randomInt } from "node:crypto";
import { type Clock, SECOND } from "../../ground/clock.ts";
import { JAKARTA_OFFSET } from "./values.ts";

/** This many random digits never come twice. */
const DRAWN_DIGITS = 20;
/** Tenths of a second in a day: the first six digits of a short id count them. */
const DAY_TENTHS = 864_000;

/**
 * Long ids are random. A short id is a tenth of a second of the day in Jakarta, which this process uses only once, and digits that this process
 * has drawn: processes need no shared counter, and collide only if they have drawn the same digits.
 */
export class ExternalIds {
  private readonly digits: number;
  private readonly clock: Clock;
  private last = 0;
  private own = "";

  /** `digits` is the length of each id, at least 8. */
  constructor(digits: number, clock: Clock) {
    this.digits = digits;
    this.clock = clock;
    this.redraw();
  }

  next(): string {
    if (this.digits >= DRAWN_DIGITS) return drawn(this.digits);
    // A burst uses tenths of a second that are still to come, and a clock that is set back uses none twice.
    this.last = Math.max(this.last + 1, Math.floor((this.clock.now() + JAKARTA_OFFSET) / (SECOND / 10)));
    return String(this.last % DAY_TENTHS).padStart(6, "0") + this.own;
  }

  /** Draws other digits, because the provider says that another process has used the same id. */
  redraw(): void {
    this.own = drawn(this.digits - 6);
  }
}

function drawn(digits: number): string {
  return Array.from({ length: digits }, () => randomInt(10)).join("");
}
