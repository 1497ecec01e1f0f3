// How a merchant's settlement schedule is written, for the merchant and for operators alike.

interface Schedule {
  cutoff: string;
  delay_days: number;
}

/** The n of T+n. A day that ends at midnight is over only when the next has begun: T+0 is T+1 there. */
export function daysToBatch({ cutoff, delay_days }: Schedule): number {
  return cutoff === "00:00" ? Math.max(delay_days, 1) : delay_days;
}

/** "+07:00". */
export function offsetOf(minutes: number): string {
  const size = Math.abs(minutes);
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${minutes < 0 ? "\u2212" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}
