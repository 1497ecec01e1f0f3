// The time from now in words, such as "in 3 days" or "4 seconds ago".
const steps = [
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
  ["second", 1],
] as const;

/** Always in English, because it stands within sentences, which are: "The last one failed 4 seconds ago." */
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

/** The words for a number of seconds from now, negative when they have passed. `ticking`: they are told each second. */
export function fromNow(seconds: number, ticking = false): string {
  const told = ticking ? seconds : settled(seconds);
  const [unit, size] = steps.find(([, size]) => Math.abs(told) >= size) ?? steps[3];
  return relative.format(Math.trunc(told / size), unit);
}

/**
 * What is told every 15 seconds: what has just happened may seem to lie in the future, since the clock is not read meanwhile; and what was made
 * half a minute ago to last three days ends in three days, not in two.
 */
function settled(seconds: number): number {
  if (seconds <= 0) return seconds;
  if (seconds <= 15) return 0;
  return seconds > 60 ? seconds + 30 : seconds;
}
