// Checks the names of time zones that people and merchants choose.

/** True for the name of a time zone. An offset such as +07:00 is none: it has no summer time. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(name)) return false;
  try {
    // Days are computed by Temporal, which knows fewer old names than Intl does, such as US/Pacific-New.
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name).timeZoneId !== "";
  } catch {
    return false;
  }
}
