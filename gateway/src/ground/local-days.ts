// Days of a time zone: when each of them began. Names of zones are IANA's.
import { type Micros, SECOND } from "./clock.ts";

/** When each of the last `days` days of a zone began, oldest first; the last one is that of `now`. Throws RangeError for an unknown zone. */
export function localDayStarts(timeZone: string, now: Micros, days: number): Micros[] {
  const offsetAt = offsetsOf(timeZone);
  const ms = now / 1000;
  const today = Math.floor((ms + offsetAt(ms)) / DAY_MS);
  return Array.from({ length: days }, (_, at) => {
    const local = (today - days + 1 + at) * DAY_MS;
    // The offset of the day's first moment, not of the moment that the same digits mean in UTC.
    const midnight = local - offsetAt(local - offsetAt(local));
    // Where the clocks go forward at midnight there is none: the day begins when they do, an hour later by their own count.
    const begins = midnight + offsetAt(midnight) < local ? local - offsetAt(midnight) : midnight;
    return Math.round(begins) * 1000;
  });
}

/** The beginnings of the last `hours` hours, oldest first. */
export function hourStarts(now: Micros, hours: number): Micros[] {
  const last = now - (now % HOUR);
  return Array.from({ length: hours }, (_, at) => last - (hours - 1 - at) * HOUR);
}

const HOUR: Micros = 3600 * SECOND;
const DAY_MS = 86_400_000;

/** How far a zone's clocks are ahead of UTC at an instant, both in milliseconds. */
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
