// Waits until the roll-up has counted every event: retention deletes no event before.
import { vi } from "vitest";
import { createLog } from "../src/ground/log.ts";
import { countCommitted } from "../src/insights/roll-up.ts";
import type { Database } from "../src/store/database.ts";

export async function allCounted(database: Database): Promise<void> {
  await vi.waitFor(
    async () => {
      await countCommitted(database, createLog("silent"));
      const [row] = await database.query<{ left: boolean }>({
        text: "select exists (select from events e where e.xact >= r.counted_to) as left from roll_ups r where r.name = 'payment_quarters'",
        values: [],
      });
      // A transaction of another test on the same server may hold the roll-up back for a moment.
      if (row?.left !== false) throw new Error("not all is counted yet");
    },
    { timeout: 30_000, interval: 50 },
  );
}
