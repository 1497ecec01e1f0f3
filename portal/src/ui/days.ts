// The instants at which a day of a time zone begins and ends, in the API's form. Not every browser has Temporal yet.

const DAY_MS = 86_400_000;
/** The API knows no other years. */
const DATE = /^(19[7-9]\d|2[01]\d\d)-\d\d-\d\d$/;
const YEARS_END = Date.UTC(2200, 0);

/** The first instant of a day, YYYY-MM-DD. Text that is no day stays as it is, for the API to refuse. */
export function dayBegin(day: string, timeZone: string): string {
  const midnight = midnightOf(day);
  return midnight === undefined ? day : wireTime(Math.max(beginOf(midnight, timeZone), 0));
}

/** The last second of a day, YYYY-MM-DD. Text that is no day stays as it is, for the API to refuse. */
export function dayEnd(day: string, timeZone: string): string {
  const midnight = midnightOf(day);
  return midnight === undefined ? day : wireTime(Math.min(beginOf(midnight + DAY_MS, timeZone), YEARS_END) - 1_000);
}

/** A day's midnight in UTC; undefined for what is no day. */
function midnightOf(day: string): number | undefined {
  const midnight = Date.parse(`${day}T00:00:00Z`);
  if (!DATE.test(day) || Number.isNaN(midnight)) return undefined;
  // Date.parse takes 31 February for 3 March.
  return wireTime(midnight).startsWith(day) ? midnight : undefined;
}

/** When the day begins in a zone that has this midnight in UTC. Clocks may change around it: where they leave midnight out, it begins at the change. */
function beginOf(midnight: number, timeZone: string): number {
  const offsets = [aheadMs(midnight - DAY_MS, timeZone), aheadMs(midnight + DAY_MS, timeZone)];
  const begins = offsets.map((ahead) => midnight - ahead).filter((at) => at + aheadMs(at, timeZone) >= midnight);
  return Math.min(...begins);
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
