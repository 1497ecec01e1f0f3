// How slow the machine is at this moment, for the few tests that bound a duration: some machines are three times slower than others.
import { createHash } from "node:crypto";

/** Processor time of `work` on the machine for which the bounds were set. */
const USUAL_MS = 20;

/** How many times longer than usual the same work takes this process's processor: 1 on the usual machine, and on a faster one. */
export function slowness(): number {
  const times = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return Math.max(1, Math.min(...times) / USUAL_MS);
}

/** What services do: make objects, order them, write them as JSON, hash that. */
function work(): void {
  let digest = "";
  for (let round = 0; round < 40; round++) {
    const rows = Array.from({ length: 2_000 }, (_, at) => ({ at: (at * 7_919) % 2_003, name: `row ${at}` }));
    rows.sort((a, b) => a.at - b.at);
    digest = createHash("sha256")
      .update(digest + JSON.stringify(rows))
      .digest("hex");
  }
}
