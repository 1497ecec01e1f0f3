// For the few tests that bound a duration: how slow the machine is, and durations that leave out when others had the processor. Some machines are
// three times slower than others, and some have a dozen processes for each processor.
import { createHash } from "node:crypto";

/** Processor time of `work` on the machine for which the bounds were set. */
const USUAL_MS = 5;

/** How many times longer than usual the same work takes this process's processor: 1 on the usual machine, and on a faster one. */
export function slowness(): number {
  const times = Array.from({ length: 5 }, () => computing(work));
  return Math.max(1, Math.min(...times) / USUAL_MS);
}

/** How often a counter of waiting counts, in milliseconds. */
const TURN_MS = 10;

/** Processor time that `work` took this process, in milliseconds. For bounds on what is computed. */
export function computing(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/**
 * How long this process waited for `work`, in milliseconds: however long it computes at a stretch, or waits for a processor, that counts as
 * TURN_MS. Never more than by the clock. For bounds on what is waited for: a limit that fails to end a wait shows on every machine.
 */
export async function waiting(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  const counter = setInterval(() => turns++, TURN_MS);
  try {
    await work();
  } finally {
    clearInterval(counter);
  }
  return turns * TURN_MS;
}

/** What services do: make objects, order them, write them as JSON, hash that. */
function work(): void {
  let digest = "";
  for (let round = 0; round < 10; round++) {
    const rows = Array.from({ length: 2_000 }, (_, at) => ({ at: (at * 7_919) % 2_003, name: `row ${at}` }));
    rows.sort((a, b) => a.at - b.at);
    digest = createHash("sha256")
      .update(digest + JSON.stringify(rows))
      .digest("hex");
  }
}
