// A deadline of work that cannot be cut short.

/** Waits for `work` no longer than `ms`; then calls `whenLate` and lets it go on by itself. Throws what `work` throws in time. */
export async function withDeadline(work: Promise<void>, ms: number, whenLate: () => void): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(() => late.resolve(whenLate()), ms);
  await Promise.race([work, late.promise]).finally(() => clearTimeout(timer));
}
