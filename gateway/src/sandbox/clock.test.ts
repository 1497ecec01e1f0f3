// Goal: whoever moves a sandbox's clock hears how their own move went, and nothing that falls due on the way is passed over. Method: moves of one
// book, without a database.
import { expect, test } from "vitest";
import { book } from "../../test/given.ts";
import { type Micros, SECOND } from "../ground/clock.ts";
import { newId, uuidOf } from "../ground/ids.ts";
import { type MovableClock, movableBookClocks } from "../merchants/books.ts";
import type { Command } from "../store/command.ts";
import type { Statement } from "../store/database.ts";
import { WorkingSet } from "../store/working-set.ts";
import { Clocks } from "./clock.ts";

test("a move that waited for one that failed goes on by itself", async () => {
  let moves = 0;
  const clocks = new Clocks({
    catchUp: async () => {
      if (++moves === 1) throw new Error("of the first");
    },
    database: { query: async () => [{ target: null, next_due_at: null }] } as never,
    lanes: {} as never,
    clock: { now: () => 0 },
  });
  const ends = await Promise.allSettled([clocks.move(book), clocks.move(book)]);
  expect(ends).toMatchObject([{ reason: { message: "of the first" } }, { status: "fulfilled" }]);
  expect(moves).toBe(2);
});

test("what falls due during the work of one stop is worked off at its own time, not at the next stop", async () => {
  const dues = [100 * SECOND, 101 * SECOND, 200 * SECOND];
  let realNow = 0;
  let clock: MovableClock = { book, offsetSeconds: 0, targetSeconds: 300, movedAt: 0 };
  const bookTime = (): Micros => realNow + clock.offsetSeconds * SECOND;
  const worked = new Map<Micros, Micros>();
  const clocks = new Clocks({
    catchUp: async () => {
      for (const due of dues) if (due <= bookTime() && !worked.has(due)) worked.set(due, bookTime());
      realNow += 1.5 * SECOND;
    },
    database: {
      query: async ({ values = [] }: Statement) => {
        const since = Date.parse(values[2] as string) * 1000 + clock.offsetSeconds * SECOND;
        return [{ target: clock.targetSeconds ?? null, next_due_at: dues.find((due) => due > since) ?? null }];
      },
    } as never,
    lanes: {
      move: async (_merchantId: string, command: Command<void>) => {
        const set = new WorkingSet();
        set.put(movableBookClocks, clock);
        command.execute(set, { realNow, newId });
        clock = set.get(movableBookClocks, book) ?? clock;
      },
    } as never,
    clock: { now: () => realNow },
  });
  await clocks.move(book);
  expect([...worked.keys()]).toEqual(dues);
  for (const [due, at] of worked) expect(at - due).toBeLessThan(2 * SECOND);
});

test("an interrupted move that fails again holds up no other", async () => {
  const names = ["mer_00000000000000000000000001", "mer_00000000000000000000000002"];
  const moved: string[] = [];
  const clocks = new Clocks({
    catchUp: async ({ merchantId }) => {
      if (merchantId === names[0]) throw new Error("in quarantine");
      moved.push(merchantId);
    },
    database: {
      query: async ({ name }: Statement) =>
        name === "select clocks left on their way"
          ? names.map((id) => ({ merchant_id: uuidOf(id), environment: "sandbox" }))
          : [{ target: null, next_due_at: null }],
    } as never,
    lanes: {} as never,
    clock: { now: () => 0 },
  });
  await expect(clocks.moveLeft()).rejects.toThrow("in quarantine");
  expect(moved).toEqual([names[1]]);
});
