// Goal: the log calls for a person only where one is needed. Method: a queue whose attempts fail, and the lines that it logs.
import { expect, test, vi } from "vitest";
import type { ClaimedRow } from "../events/claim.sql.ts";
import { systemClock } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { createLog } from "../ground/log.ts";
import { SendQueue } from "./send-queue.ts";

test.each([
  ["warn", "57P01", "the database is away"],
  ["error", "42883", "a statement of ours is wrong"],
  ["warn", "SERVICE_UNAVAILABLE", "a master key is missing"],
] as const)(
  "a delivery that was not sent is told at level %s when an attempt fails by %s: %s",
  async (level, code, message) => {
    const lines: string[] = [];
    const queue = new SendQueue({
      clock: systemClock,
      log: createLog("warn", { write: (line) => void lines.push(line) }),
      timing: { waitMs: 1_000, parkMs: 1_000 },
      attempt: () =>
        Promise.reject(
          code === "SERVICE_UNAVAILABLE"
            ? new Fault(code, { internal: new Error(message) })
            : Object.assign(new Error(message), { code }),
        ),
      onExpired: () => undefined,
      onLow: () => undefined,
    });
    const row = { attempts: 0 } as ClaimedRow;
    queue.add({ row, host: "a.test", merchantUuid: "mer_1", claimedAt: systemClock.now() } as Parameters<
      typeof queue.add
    >[0]);
    await vi.waitFor(() => expect(lines).toHaveLength(1), 30_000);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ level, msg: "a delivery was not sent; its lease will end" });
    expect(lines[0]).toContain(message);
  },
);
