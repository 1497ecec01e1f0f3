// Goal: hosts that do not answer, or slowly, hold few seats, later attempts and merchants never everything, and every seat comes
// back. Method: examples of each limit, then random comings and goings against a count by hand.
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Passenger, QUICK_MS, type Seat, Seats, type Standing, seatLimits } from "./concurrency-limiter.ts";

const limits = {
  all: 40,
  again: 8,
  host: { proven: 5, slow: 3, unproven: 2, suspect: 4 },
  together: { slow: 9, unproven: 12, suspect: 6 },
};
const to = (host: string, merchantId = host, first = true): Passenger => ({ host, merchantId, first });

/** Takes as many seats as there are. */
function taken(seats: Seats, passenger: Passenger, atMs = 0): Seat[] {
  return Array.from({ length: 1_000 }, () => seats.take(passenger, atMs)).filter((seat) => seat !== undefined);
}
const takes = (seats: Seats, passenger: Passenger, atMs = 0): number => taken(seats, passenger, atMs).length;

/** Seats where these hosts have been called once, and stand so. */
function known(found: Record<string, Standing>, within = limits): Seats {
  const seats = new Seats(within);
  for (const [host, standing] of Object.entries(found)) {
    const [first, ...others] = taken(seats, to(host));
    if (!first) throw new Error("no seat was taken");
    seats.leave(first, standing);
    for (const seat of others) seats.leave(seat, undefined);
  }
  return seats;
}

test("a host has as many seats as its last call deserved", () => {
  expect(takes(new Seats(limits), to("a"))).toBe(limits.host.unproven);
  const seats = known({ quick: "proven", late: "slow", dead: "suspect" });
  expect(takes(seats, to("quick"))).toBe(limits.host.proven);
  expect(takes(seats, to("late"))).toBe(limits.host.slow);
  expect(seats.roomAt("quick", 0)).toBe(0);
  const [one] = taken(seats, to("dead"));
  if (one) seats.leave(one, "proven");
  expect(seats.standingOf("dead", 0)).toBe("proven");
});

test("a host that was quick is slow as soon as one of its calls has taken long, and quick again without it", () => {
  const seats = known({ a: "proven" });
  const long = seats.take(to("a"), 0);
  expect(takes(seats, to("a"), QUICK_MS + 1)).toBe(limits.host.slow - 1);
  if (long) seats.leave(long, "proven");
  expect(takes(seats, to("a"), QUICK_MS + 1)).toBe(limits.host.proven - limits.host.slow + 1);
});

test("a lone dead host may use several seats; many share what there is, each at least one before any has more", () => {
  const alone = known({ dead: "suspect" }, seatLimits);
  expect(takes(alone, to("dead"))).toBe(seatLimits.host.suspect);
  const dead = Array.from({ length: 24 }, (_, number) => `dead-${number}`);
  const crowd = known(Object.fromEntries(dead.map((host) => [host, "suspect"])), seatLimits);
  const held = new Map(dead.map((host) => [host, [] as Seat[]]));
  // For a while each call that ends makes room for whoever asks first, in any order.
  for (let round = 0; round < 40; round++) {
    for (const host of round % 2 === 0 ? dead : dead.toReversed()) {
      const seat = crowd.take(to(host, `merchant of ${Number(host.slice(5)) % 4}`), 0);
      if (seat) held.get(host)?.push(seat);
    }
    const gone = [...held.values()].toSorted((a, b) => b.length - a.length)[0]?.shift();
    if (gone) crowd.leave(gone, "suspect");
  }
  const counts = [...held.values()].map(({ length }) => length);
  expect(Math.min(...counts)).toBeGreaterThanOrEqual(1);
  expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(2);
  expect(crowd.onTheWay).toBeLessThanOrEqual(seatLimits.together.suspect);
});

test("hosts of a kind share a part of the seats; those that answer always find one", () => {
  const seats = known({ good: "proven" });
  for (let host = 0; host < 50; host++) takes(seats, to(`new-${host}`));
  expect(seats.onTheWay).toBeLessThanOrEqual(limits.together.unproven);
  expect(takes(seats, to("good"))).toBe(limits.host.proven);
});

test("merchants whose new hosts all hang leave seats for the new host of another", () => {
  const seats = new Seats();
  for (const merchant of ["x", "y", "z"])
    for (let host = 0; host < 16; host++) takes(seats, to(`${merchant}-${host}`, merchant));
  expect(takes(seats, to("new", "honest"))).toBe(seatLimits.host.unproven);
});

test("within a merchant the first call of a new host comes before the second of another", () => {
  const seats = new Seats();
  const held = Array.from({ length: 40 }, (_, host) => taken(seats, to(`hole-${host}`, "x"))).flat();
  const [gone] = held;
  expect(seats.take(to("new", "x"), 0)).toBeUndefined();
  if (gone) seats.leave(gone, "suspect");
  expect(seats.take(to("hole-1", "x"), 0)).toBeUndefined();
  expect(seats.take(to("new", "x"), 0)).toBeDefined();
});

test("however many merchants hold whatever they can, there is a seat for the next one", () => {
  const seats = new Seats();
  for (const standing of ["proven", "slow", "suspect"] as const) {
    for (let number = 0; number < 8 * 32; number++) {
      const host = `${standing}-${number}`;
      const seat = seats.take(to(host, `early ${number}`), 0);
      if (seat) seats.leave(seat, standing);
    }
  }
  for (let merchant = 0; merchant < 8; merchant++)
    for (const standing of ["proven", "slow", "suspect"] as const)
      for (let host = merchant; host < 8 * 32; host += 8)
        takes(seats, to(`${standing}-${host}`, `merchant ${merchant}`));
  expect(seats.room("first")).toBeGreaterThan(0);
  expect(seats.take(to("new", "honest"), 0)).toBeDefined();
});

test("a merchant alone may have half of all seats, and later attempts leave room for first ones", () => {
  const wide = {
    ...limits,
    host: { ...limits.host, unproven: 100 },
    together: { ...limits.together, unproven: 1_000 },
  };
  const seats = new Seats(wide);
  expect(takes(seats, to("a", "m", false))).toBe(limits.again);
  expect(seats.room("again")).toBe(0);
  expect(takes(seats, to("a", "m"))).toBe(limits.all / 2 - limits.again);
  expect(takes(seats, to("b", "other"))).toBe(limits.all / 4);
});

test("whatever comes and goes: no limit is passed, and in the end every seat is free", () => {
  const passenger = fc.record({
    host: fc.constantFrom("a", "b", "c", "d", "e"),
    merchantId: fc.constantFrom("m", "n"),
    first: fc.boolean(),
  });
  const found = fc.constantFrom<(Standing | undefined)[]>("proven", "slow", "suspect", undefined);
  const step = fc.record({ passenger, leaves: fc.nat(), found, passesMs: fc.nat(QUICK_MS) });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const seats = new Seats(limits);
      const seated: Seat[] = [];
      let nowMs = 0;
      for (const { passenger: next, leaves, found: standing, passesMs } of steps) {
        nowMs += passesMs;
        const seat = seats.take(next, nowMs);
        if (seat) seated.push(seat);
        const count = (by: (one: Seat) => boolean): number => seated.filter(by).length;
        expect(seats.onTheWay).toBe(seated.length);
        expect(count(({ first }) => !first)).toBeLessThanOrEqual(limits.again);
        for (const kind of ["slow", "unproven", "suspect"] as const)
          expect(count((one) => one.standing === kind)).toBeLessThanOrEqual(limits.together[kind]);
        for (const merchantId of ["m", "n"])
          expect(count((one) => one.merchantId === merchantId)).toBeLessThanOrEqual(limits.all / 2);
        for (const host of ["a", "b", "c", "d", "e"]) {
          expect(count((one) => one.host === host)).toBeLessThanOrEqual(limits.host.proven);
          const merchants = seated.filter((one) => one.host === host).map(({ merchantId }) => merchantId);
          expect(seats.busy().get(host)).toEqual(merchants.length > 0 ? new Set(merchants) : undefined);
        }
        for (const merchantId of ["m", "of nobody here"]) {
          const room = seats.roomAt(next.host, nowMs, merchantId);
          const more = taken(seats, to(next.host, merchantId), nowMs);
          expect(room).toBe(more.length);
          for (const one of more) seats.leave(one, undefined);
        }
        if (leaves % 3 === 0) {
          const [gone] = seated.splice(leaves % (seated.length + 1), 1);
          if (gone) seats.leave(gone, standing);
        }
      }
      for (const one of seated) seats.leave(one, "proven");
      expect(seats.onTheWay).toBe(0);
      expect(seats.room("again")).toBe(limits.again);
      expect(seats.busy().size).toBe(0);
    }),
  );
});

test("the limits of the product leave more than a third for hosts that answer, whatever the others do", () => {
  const { all, together } = seatLimits;
  expect(all - together.slow - together.unproven - together.suspect).toBeGreaterThan(all / 3);
});
