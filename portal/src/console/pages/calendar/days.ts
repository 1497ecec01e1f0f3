// Days as YYYY-MM-DD, and the weeks that a calendar shows. A day has no time, so no zone moves it.

const DAY_MS = 86_400_000;
const DAYS_BEFORE = 30;
const DAYS_AFTER = 14;

const msOf = (day: string): number => Date.parse(`${day}T00:00:00Z`);

export const plusDays = (day: string, days: number): string =>
  new Date(msOf(day) + days * DAY_MS).toISOString().slice(0, 10);

/** The day that it is in a zone. */
export function todayIn(timeZone: string): string {
  const parts = new Intl.DateTimeFormat("en-CA", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" });
  return parts.format(new Date());
}

interface Days {
  from: string;
  to: string;
}

export const monthSoFar = (today: string): Days => ({ from: `${today.slice(0, 8)}01`, to: today });

/** The whole month before the one that begins on `first`. */
export function monthBefore(first: string): Days {
  const to = plusDays(first, -1);
  return { from: `${to.slice(0, 8)}01`, to };
}

/** Whole weeks from Monday on, that hold the month before a day and the two weeks after it. */
export function weeksAround(today: string): string[][] {
  const weekday = (day: string): number => (new Date(msOf(day)).getUTCDay() + 6) % 7;
  const first = plusDays(today, -DAYS_BEFORE);
  const last = plusDays(today, DAYS_AFTER);
  const begin = plusDays(first, -weekday(first));
  const weeks: string[][] = [];
  for (let monday = begin; monday <= last; monday = plusDays(monday, 7))
    weeks.push(Array.from({ length: 7 }, (_, at) => plusDays(monday, at)));
  return weeks;
}

export const withinNext = (day: string, today: string): boolean => day > today && day <= plusDays(today, DAYS_AFTER);
export const withinPast = (day: string, today: string): boolean => day < today && day >= plusDays(today, -DAYS_BEFORE);
