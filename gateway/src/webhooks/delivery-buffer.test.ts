// Goal: whoever was claimed goes in, in order, when there is a seat, or is given back in time; nobody is forgotten. Method: an
// example of each, then random comings and goings counted by hand.
import fc from "fast-check";
import { expect, test } from "vitest";
import { Anteroom, type Waiting } from "./delivery-buffer.ts";
import type { Standing } from "./concurrency-limiter.ts";

const one = (host: string, row: number, claimedAt = 0, merchantId = host): Waiting<number> => ({
  host,
  merchantId,
  row,
  token: "t",
  claimedAt,
});

interface Entry {
  host: string;
  merchantId: string;
  doubtful: boolean;
}

const small = { all: 20, doubtful: 12, line: { proven: 8, slow: 4, unproven: 3, suspect: 4 } };

/** How many of so many may wait. */
function waits(room: Anteroom<number>, host: string, times: number, standing: Standing, merchantId = host): number {
  return Array.from({ length: times }, (_, row) => room.add(one(host, row, 0, merchantId), standing)).filter(Boolean)
    .length;
}

test("a host's line is bounded, and goes in by its order", () => {
  const room = new Anteroom<number>();
  expect(waits(room, "a", 100, "unproven")).toBe(16);
  expect(room.roomFor("a", "unproven")).toBe(0);
  const entered: number[] = [];
  room.admit("a", ({ row }) => entered.length < 2 && entered.push(row) > 0);
  expect([entered, room.waitingFor("a"), room.size]).toEqual([[0, 1], 14, 14]);
});

test("hosts in doubt leave room for bursts at those that answer, and for a new host of somebody else", () => {
  const room = new Anteroom<number>();
  for (const merchant of ["x", "y", "z"])
    for (let host = 0; host < 16; host++) waits(room, `${merchant}-${host}`, 16, "unproven", merchant);
  expect(waits(room, "new", 4, "unproven", "honest")).toBe(4);
  expect(waits(room, "good", 128, "proven", "busy")).toBe(128);
});

test("merchants with proven hosts leave room for each other", () => {
  const room = new Anteroom<number>();
  for (let host = 0; host < 8; host++) waits(room, `a-${host}`, 128, "proven", "a");
  expect(room.size).toBe(256);
  for (let host = 0; host < 8; host++) waits(room, `b-${host}`, 128, "proven", "b");
  expect(waits(room, "c", 64, "proven")).toBe(64);
});

test("whoever was held back by something else than the host is looked at in turn", () => {
  const room = new Anteroom<number>();
  for (const host of ["a", "b", "c"]) room.add(one(host, host.charCodeAt(0)), "proven");
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
    room.add(one("a", row, at), "proven");
  expect(room.takeOut(20).map(({ row }) => row)).toEqual([1]);
  expect(room.takeOut().map(({ row }) => row)).toEqual([2, 3]);
  expect(room.size).toBe(0);
});

test("a burst may wait: more is fetched for a host while its line is short, and what was just made joins it until three quarters are taken", () => {
  const room = new Anteroom<number>();
  const seen = Array.from({ length: 128 }, (_, row) => {
    const state = [room.isShort("a", "proven"), room.isOpen("a", "proven")];
    room.add(one("a", row, 0, `merchant ${row % 4}`), "proven");
    return state;
  });
  expect(seen.filter(([short]) => short)).toHaveLength(33);
  expect(seen.filter(([, open]) => open)).toHaveLength(97);
});

test("whatever comes and goes, each delivery leaves once", () => {
  const step = fc.record({
    host: fc.constantFrom("a", "b", "c"),
    merchantId: fc.constantFrom("m", "n"),
    standing: fc.constantFrom<Standing[]>("proven", "slow", "unproven", "suspect"),
    free: fc.constantFrom(0, 0, 0, 1),
    out: fc.integer({ min: 0, max: 9 }).map((number) => number === 0),
    at: fc.nat(50),
  });
  fc.assert(
    fc.property(fc.array(step, { size: "large" }), (steps) => {
      const room = new Anteroom<number>(small);
      const waiting = new Map<number, Entry>();
      steps.forEach(({ host, merchantId, standing, free, out, at }, row) => {
        const places = room.roomFor(host, standing, merchantId);
        const doubtful = standing !== "proven";
        const count = (by: (of: Entry) => boolean): number => [...waiting.values()].filter(by).length;
        const own = (of: Entry): boolean => of.merchantId === merchantId;
        const may =
          count((of) => of.host === host) < small.line[standing] &&
          count(own) < small.all - waiting.size &&
          (!doubtful ||
            count((of) => own(of) && of.doubtful) + count((of) => of.host === host) <
              small.doubtful - count((of) => of.doubtful));
        const added = room.add(one(host, row, at, merchantId), standing);
        expect([added, places > 0]).toEqual([may, may]);
        if (added) waiting.set(row, { host, merchantId, doubtful });
        if (added) expect(room.roomFor(host, standing, merchantId)).toBe(places - 1);
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
