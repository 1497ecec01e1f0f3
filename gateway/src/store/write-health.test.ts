// Goal: health says that a full disk takes no writes for as long as writes fail for it, though a small write finds room. Method: endings as the
// lanes report them, a database that takes the probe, and a stopwatch that is set.
import { afterEach, expect, test, vi } from "vitest";
import type { Database } from "./database.ts";
import type { Ending } from "./transaction.ts";
import { WriteHealth } from "./write-health.ts";

afterEach(() => vi.restoreAllMocks());

const rolledBack = (code: string): Ending => ({ kind: "rolled_back", cause: { code }, failed: "payments" });
const takesAll = (): WriteHealth => new WriteHealth({ query: () => Promise.resolve([]) } as unknown as Database);

test("after a write that a full disk refused, neither a small write nor a commit counts for a few seconds", async () => {
  const stopwatch = vi.spyOn(performance, "now").mockReturnValue(60_000);
  const writes = takesAll();
  expect(await writes.isWritable()).toBe(true);
  writes.observe(rolledBack("53100"));
  writes.observe({ kind: "committed" });
  expect(await writes.isWritable()).toBe(false);
  stopwatch.mockReturnValue(62_000);
  writes.observe(rolledBack("53100"));
  stopwatch.mockReturnValue(64_000);
  expect(await writes.isWritable()).toBe(false);
  stopwatch.mockReturnValue(65_001);
  expect(await writes.isWritable()).toBe(true);
});

test("after any other failure a small write that succeeds is enough", async () => {
  const writes = takesAll();
  writes.observe(rolledBack("25006"));
  expect(await writes.isWritable()).toBe(true);
});

test.each(["55P03", "57014", "40P01", "23505"])(
  "one command's own failure, %s, does not put writing in question",
  async (code) => {
    const query = vi.fn<() => Promise<never[]>>().mockResolvedValue([]);
    const writes = new WriteHealth({ query } as unknown as Database);
    writes.observe(rolledBack(code));
    expect([await writes.isWritable(), query.mock.calls.length]).toEqual([true, 0]);
  },
);
