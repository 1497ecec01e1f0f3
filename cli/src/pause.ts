// A pause that a signal ends.
import { setTimeout as sleep } from "node:timers/promises";

/** Waits so long (milliseconds), or until the signal: whoever waited asks it whether to go on. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
