// Ends a process when the program that started it is gone, even without a signal: a killed program sends none.
const LOOK_MS = 500;

let isGone = false;

/** Why this process was sent a signal: its name, or that whoever started the process is gone. */
export function whySignalled(signal: string): string {
  return isGone ? "the program that started it is gone" : signal;
}

/**
 * Sends this process a SIGTERM once its parent, whose process number is in GERBANG_PARENT, is gone. `npm start` and older versions of Node
 * that start the project's own set the variable. Without it nothing happens: a service may outlive the shell that started it.
 */
export function stopWithParent(): void {
  const named = process.env.GERBANG_PARENT;
  if (named === undefined) return;
  // Removed, because processes that this process starts have another parent.
  delete process.env.GERBANG_PARENT;
  const timer = setInterval(() => {
    if (process.ppid === Number(named)) return;
    clearInterval(timer);
    isGone = true;
    process.kill(process.pid, "SIGTERM");
  }, LOOK_MS);
  timer.unref();
}
