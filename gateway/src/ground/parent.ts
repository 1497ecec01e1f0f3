// Whoever is started by another program ends when that one has gone, even where no signal came: killed, it sends none.
const LOOK_MS = 500;

/**
 * Sends this process a SIGTERM once its parent, which GERBANG_PARENT names by its number, is no longer there. `npm start`
 * and the older Nodes that start ours set it. Without it nothing happens: a service may well outlive the shell that started it.
 */
export function stopWithParent(named: string | undefined = process.env.GERBANG_PARENT): void {
  if (named === undefined) return;
  // What this process starts in its turn has another parent.
  delete process.env.GERBANG_PARENT;
  const timer = setInterval(() => {
    if (process.ppid === Number(named)) return;
    clearInterval(timer);
    process.kill(process.pid, "SIGTERM");
  }, LOOK_MS);
  timer.unref();
}
