// Goal: whoever was claimed goes in, in order, when there is a seat, or is given back in time; nobody is forgotten. Method: an
// example of each, then random comings and goings counted by hand.
import fc from "fast-check";
import { expect, test } from "vitest";
import { Anteroom, type Waiting } from "./anteroom.ts";

const one = (host: string, row: number, claimedAt = 0): Waiting<number> => ({
  host,
  merchantId: host,
  row,
  token: "t",
  claimedAt,
});

test("a host's line is bounded, and goes in by its order", () => {
  const room = new Anteroom<number>();
  expect([1, 2, 3].map((row) => room.add(one("a", row), 2))).toEqual([true, true, false]);
  const entered: number[] = [];
  room.admit("a", ({ row }) => entered.length < 1 && entered.push(row) > 0);
  expect([entered, room.waitingFor("a"), room.size]).toEqual([[1], 1, 1]);
});

test("whoever was held back by something else than the host is looked at in turn", () => {
  const room = new Anteroom<number>();
  for (const host of ["a", "b", "c"]) room.add(one(host, host.charCodeAt(0)), 1);
  const entered: number[] = [];
  for (let turn = 0; turn < 3; turn++) room.admit("nobody", ({ row }) => entered.push(row) > 0);
  expect(entered).toEqual([97, 98, 99]);
});

test("who waits too long is taken out, and all are at the end", () => {
  const room = new Anteroom<number>();
  for (const [row, at] of [
    [1, 10],
    [2, 20],
    [3, 30],
  ] as const)
    room.add(one("a", row, at), 9);
  expect(room.takeOut(20).map(({ row }) => row)).toEqual([1]);
  expect(room.takeOut().map(({ row }) => row)).toEqual([2, 3]);
  expect(room.size).toBe(0);
});

test("whatever comes and goes, each delivery leaves once", () => {
  const step = fc.record({
    host: fc.constantFrom("a", "b", "c"),
    free: fc.integer({ min: 0, max: 3 }),
    out: fc.boolean(),
    at: fc.nat(50),
  });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const room = new Anteroom<number>();
      const waiting = new Set<number>();
      steps.forEach(({ host, free, out, at }, row) => {
        if (room.add(one(host, row, at), 4)) waiting.add(row);
        let seats = free;
        room.admit(host, (entry) => seats-- > 0 && waiting.delete(entry.row));
        if (out) for (const entry of room.takeOut(at)) expect(waiting.delete(entry.row)).toBe(true);
        expect(room.size).toBe(waiting.size);
      });
      for (const entry of room.takeOut()) expect(waiting.delete(entry.row)).toBe(true);
      expect([room.size, waiting.size]).toEqual([0, 0]);
    }),
  );
});
