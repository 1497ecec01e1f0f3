// Names of time zones that people and merchants choose.

/** The zone of the days of those who chose none. */
export const ZONE_DEFAULT = "Asia/Jakarta";

/** True for the name of a time zone. An offset such as +07:00 is none: it has no summer time. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(name)) return false;
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(canonicalZone(name));
    return true;
  } catch {
    return false;
  }
}

/** The name that Temporal knows a zone by. Intl has more (JST), and Temporal reads what is none (T10Z). Throws RangeError for an unknown zone. */
export function canonicalZone(name: string): string {
  return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone;
}
