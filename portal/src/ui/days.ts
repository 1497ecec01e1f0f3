// The instants at which a day of a time zone begins and ends, and those of a field of date and time, in the API's form. Not every browser has Temporal yet.

const DAY_MS = 86_400_000;
/** The API knows no other years. */
const DATE = /^(19[7-9]\d|2[01]\d\d)-\d\d-\d\d$/;
const YEARS_END = Date.UTC(2200, 0);

/** The first instant of a day, YYYY-MM-DD. Text that is no day stays as it is, for the API to refuse. */
export function dayBegin(day: string, timeZone: string): string {
  const midnight = midnightOf(day);
  return midnight === undefined ? day : wireTime(Math.max(firstAt(midnight, timeZone), 0));
}

/** The last second of a day, YYYY-MM-DD. Text that is no day stays as it is, for the API to refuse. */
export function dayEnd(day: string, timeZone: string): string {
  const midnight = midnightOf(day);
  return midnight === undefined ? day : wireTime(Math.min(firstAt(midnight + DAY_MS, timeZone), YEARS_END) - 1_000);
}

/** An instant as a field of date and time takes it, by the clocks of a zone: 2026-12-08T22:23. */
export function fieldTime(at: string, timeZone: string): string {
  const instant = Date.parse(at);
  return new Date(instant + aheadMs(instant, timeZone)).toISOString().slice(0, 16);
}

/** What stands in a field of date and time, by the clocks of a zone. Of a time that comes twice it is the first. */
export function instantOf(field: string, timeZone: string): string {
  return wireTime(firstAt(Date.parse(`${field}Z`), timeZone));
}

/** A day's midnight in UTC; undefined for what is no day. */
function midnightOf(day: string): number | undefined {
  const midnight = Date.parse(`${day}T00:00:00Z`);
  if (!DATE.test(day) || Number.isNaN(midnight)) return undefined;
  // Date.parse takes 31 February for 3 March.
  return wireTime(midnight).startsWith(day) ? midnight : undefined;
}

/** When the clocks of a zone first show what UTC's show at `shown`. They may change around it: a time that they leave out is as much later. */
function firstAt(shown: number, timeZone: string): number {
  const offsets = [aheadMs(shown - DAY_MS, timeZone), aheadMs(shown + DAY_MS, timeZone)];
  const instants = offsets.map((ahead) => shown - ahead).filter((at) => at + aheadMs(at, timeZone) >= shown);
  return Math.min(...instants);
}

/** By how much the clocks of a zone are ahead of UTC at an instant. */
function aheadMs(at: number, timeZone: string): number {
  const format = new Intl.DateTimeFormat("en", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const of = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
  return Date.UTC(of("year"), of("month") - 1, of("day"), of("hour"), of("minute"), of("second")) - at;
}

const wireTime = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`;
