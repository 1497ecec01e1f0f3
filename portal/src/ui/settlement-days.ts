// How a merchant's settlement schedule is written, for the merchant and for operators alike.

interface Schedule {
  cutoff: string;
  delay_days: number;
}

/** The n of T+n. A day that ends at midnight is over only when the next has begun: T+0 is T+1 there. */
export function daysToBatch({ cutoff, delay_days }: Schedule): number {
  return cutoff === "00:00" ? Math.max(delay_days, 1) : delay_days;
}

// By the API's numbers: 0 is Sunday.
export const weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/** "Saturday, Sunday": in the order of a week that begins on Monday. */
export function closedOn(days: readonly number[]): string {
  const inOrder = days.toSorted((one, other) => ((one + 6) % 7) - ((other + 6) % 7));
  return inOrder.map((day) => weekdays[day]).join(", ") || "no weekday";
}

/** "+07:00". */
export function offsetOf(minutes: number): string {
  const size = Math.abs(minutes);
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${minutes < 0 ? "\u2212" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}
