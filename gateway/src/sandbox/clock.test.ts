// Goal: whoever moves a sandbox's clock hears how their own move went, and nothing that falls due on the way is passed over. Method: moves of one
// book, without a database.
import { expect, test } from "vitest";
import { NOW, book, given, row } from "../../test/given.ts";
import { type Micros, SECOND, sqlTime } from "../ground/clock.ts";
import { newId, uuidOf } from "../ground/ids.ts";
import { type MovableClock, movableBookClocks } from "../merchants/books.ts";
import type { Command } from "../store/command.ts";
import type { Statement } from "../store/database.ts";
import { WorkingSet } from "../store/working-set.ts";
import { Clocks, sendClock } from "./clock.ts";

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

/** A sandbox's clock on its way to `target`, on which something falls due at each of `dues`, and each stop `takes` so long. */
function onItsWay(target: number, dues: (since: Micros) => Micros | undefined, takes: Micros) {
  let realNow = 0;
  let clock: MovableClock = { book, offsetSeconds: 0, targetSeconds: target, movedAt: 0 };
  /** The book's time at each catch-up, and how far the clock was ahead. */
  const stops: { at: Micros; offsetSeconds: number }[] = [];
  const clocks = new Clocks({
    catchUp: async () => {
      stops.push({ at: realNow + clock.offsetSeconds * SECOND, offsetSeconds: clock.offsetSeconds });
      realNow += takes;
    },
    database: {
      query: async ({ values = [] }: Statement) => {
        const since = Date.parse(values[2] as string) * 1000 + clock.offsetSeconds * SECOND;
        return [{ target: clock.targetSeconds ?? null, next_due_at: dues(since) ?? null }];
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
  return { clocks, stops, now: () => clock };
}

test("what falls due during the work of one stop is worked off at its own time, not at the next stop", async () => {
  const dues = [100 * SECOND, 101 * SECOND, 200.5 * SECOND];
  const { clocks, stops, now } = onItsWay(300, (since) => dues.find((due) => due > since), 1.5 * SECOND);
  await clocks.move(book);
  for (const due of dues) expect((stops.find(({ at }) => at >= due)?.at ?? 0) - due).toBeLessThan(2 * SECOND);
  expect(now()).toMatchObject({ offsetSeconds: 300, targetSeconds: undefined });
  expect(stops.length).toBeLessThan(8);
});

test("a clock never goes back, also where the work of a stop takes longer than it is to what falls due next", async () => {
  const dues = [100 * SECOND, 101 * SECOND];
  const { clocks, stops } = onItsWay(300, (since) => dues.find((due) => due > since), 20 * SECOND);
  await clocks.move(book);
  const offsets = stops.map(({ offsetSeconds }) => offsetSeconds);
  expect(offsets).toEqual(offsets.toSorted((a, b) => a - b));
  expect(offsets.at(-1)).toBe(300);
});

test("after a thousand stops a clock goes to the end, whatever falls due on the way", async () => {
  const { clocks, stops } = onItsWay(1_000_000, (since) => since + SECOND, 0);
  await clocks.move(book);
  expect(stops).toHaveLength(1_002);
  expect(stops.at(-1)).toMatchObject({ offsetSeconds: 1_000_000 });
});

test("a clock that is sent on during its move goes on from where it was sent, and a century ahead at most", () => {
  const at = (offsetSeconds: number) => {
    const clock: MovableClock = { book, offsetSeconds, targetSeconds: undefined, movedAt: 0 };
    return given({ rows: [row(movableBookClocks, clock)] });
  };
  const sent = at(100).when(sendClock(book, 50));
  expect(sent.answer).toEqual({ realNow: NOW, offsetSeconds: 150 });
  const again = sent.when(sendClock(book, 50));
  expect(again.answer).toEqual({ realNow: NOW, offsetSeconds: 200 });
  expect(again.changes.seen(movableBookClocks, book)).toMatchObject({ offsetSeconds: 100, targetSeconds: 200 });
  const century = 3_153_600_000;
  expect(at(century - 1).when(sendClock(book, 1)).answer.offsetSeconds).toBe(century);
  at(century - 1)
    .when(sendClock(book, 2))
    .refuses("VALIDATION_ERROR");
});

test("a move that has stood still for half a minute counts as interrupted; one that fails again holds up no other", async () => {
  const names = ["mer_00000000000000000000000001", "mer_00000000000000000000000002"];
  const moved: string[] = [];
  const clocks = new Clocks({
    catchUp: async ({ merchantId }) => {
      if (merchantId === names[0]) throw new Error("in quarantine");
      moved.push(merchantId);
    },
    database: {
      query: async ({ name, values }: Statement) => {
        if (name !== "select clocks left on their way") return [{ target: null, next_due_at: null }];
        expect(values).toEqual([sqlTime(NOW - 30 * SECOND)]);
        return names.map((id) => ({ merchant_id: uuidOf(id), environment: "sandbox" }));
      },
    } as never,
    lanes: {} as never,
    clock: { now: () => NOW },
  });
  await expect(clocks.moveLeft()).rejects.toThrow("in quarantine");
  expect(moved).toEqual([names[1]]);
});
