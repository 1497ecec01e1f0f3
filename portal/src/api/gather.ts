// Gathers wishes for one run of some work: at most one run each while, and none beside another.

interface Gathering<Wish> {
  add(wishes: readonly Wish[]): void;
  end(): void;
}

/** `work` runs `afterMs` after the first wish. A run that takes longer than `patienceMs`, as over a connection that died, is not waited for. */
export function gather<Wish>(
  work: (wishes: Wish[]) => Promise<unknown>,
  afterMs: number,
  patienceMs: number,
): Gathering<Wish> {
  const gathered = new Set<Wish>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isEnded = false;
  const run = async (): Promise<void> => {
    const wishes = [...gathered];
    gathered.clear();
    await Promise.race([work(wishes), new Promise((resolve) => setTimeout(resolve, patienceMs))]);
    timer = undefined;
    if (gathered.size > 0 && !isEnded) add([]);
  };
  const add = (wishes: readonly Wish[]): void => {
    for (const wish of wishes) gathered.add(wish);
    timer ??= setTimeout(run, afterMs);
  };
  return {
    add,
    end() {
      isEnded = true;
      clearTimeout(timer);
    },
  };
}
