// The starts of days in a time zone, and of hours. Time zones have IANA names.
import { type Micros, HOUR } from "./clock.ts";
import { canonicalZone } from "./time-zones.ts";

/** The starts of the last `days` days of a zone, oldest first; the last day is that of `now`. Throws RangeError for an unknown zone. */
export function localDayStarts(timeZone: string, now: Micros, days: number): Micros[] {
  const zone = canonicalZone(timeZone);
  const today = Temporal.Instant.fromEpochMilliseconds(Math.floor(now / 1000)).toZonedDateTimeISO(zone);
  // When clocks go forward at midnight, that midnight does not exist: the day begins at the change.
  return Array.from({ length: days }, (_, at) => {
    const day = today.toPlainDate().subtract({ days: days - 1 - at });
    return day.toZonedDateTime(zone).epochMilliseconds * 1000;
  });
}

/** The starts of the last `hours` hours, oldest first. */
export function hourStarts(now: Micros, hours: number): Micros[] {
  return Array.from({ length: hours }, (_, at) => now - (now % HOUR) - (hours - 1 - at) * HOUR);
}
