// The starts of days in a time zone, and of hours. Time zones have IANA names.
import { type Micros, SECOND } from "./clock.ts";

/** The starts of the last `days` days of a zone, oldest first; the last day is that of `now`. Throws RangeError for an unknown zone. */
export function localDayStarts(timeZone: string, now: Micros, days: number): Micros[] {
  const offsetAt = offsetsOf(timeZone);
  const ms = now / 1000;
  const today = Math.floor((ms + offsetAt(ms)) / DAY_MS);
  return Array.from({ length: days }, (_, at) => {
    const local = (today - days + 1 + at) * DAY_MS;
    // Uses the offset at the day's first moment, not at the UTC moment with the same digits.
    const midnight = local - offsetAt(local - offsetAt(local));
    // When clocks go forward at midnight, that midnight does not exist: the day begins at the change.
    const begins = midnight + offsetAt(midnight) < local ? local - offsetAt(midnight) : midnight;
    return Math.round(begins) * 1000;
  });
}

/** The starts of the last `hours` hours, oldest first. */
export function hourStarts(now: Micros, hours: number): Micros[] {
  const last = now - (now % HOUR);
  return Array.from({ length: hours }, (_, at) => last - (hours - 1 - at) * HOUR);
}

const HOUR: Micros = 3600 * SECOND;
const DAY_MS = 86_400_000;

/** Gives a function from an instant to the zone's offset from UTC, both in milliseconds; positive when the zone is ahead. */
function offsetsOf(timeZone: string): (ms: number) => number {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  return (ms) => {
    const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
    const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
    const shown = Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"), part("second"));
    return shown - Math.floor(ms / 1000) * 1000;
  };
}
