// A pause that ends early when a signal aborts.
import { setTimeout as sleep } from "node:timers/promises";

/** Waits for `ms`, or until the signal aborts: the caller checks the signal afterwards. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
