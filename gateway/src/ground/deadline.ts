// A deadline of work that cannot be cut short.

/** Waits for `work` no longer than `ms`; then calls `whenLate` and lets it go on by itself. Throws what `work` throws in time. */
export async function withDeadline(work: Promise<void>, ms: number, whenLate: () => void): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      whenLate();
      resolve();
    }, ms);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
