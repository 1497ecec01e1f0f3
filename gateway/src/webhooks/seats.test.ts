// Goal: hosts that do not answer hold few seats, later attempts and single merchants never everything, and every seat comes
// back. Method: examples of each limit, then random comings and goings against a count by hand.
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Passenger, type Seat, Seats, seatLimits } from "./seats.ts";

const limits = {
  all: 20,
  again: 8,
  merchant: 12,
  merchantDoubtful: 12,
  proven: 5,
  unproven: 2,
  suspect: 1,
  unprovenTotal: 6,
  suspectTotal: 3,
};
const to = (host: string, merchantId = host, first = true): Passenger => ({ host, merchantId, first });
const takes = (seats: Seats, passenger: Passenger, times = 100): number =>
  Array.from({ length: times }, () => seats.take(passenger)).filter(Boolean).length;

function leave(seats: Seats, seat: Seat | undefined, answered: boolean): void {
  if (!seat) throw new Error("no seat was taken");
  seats.leave(seat, answered);
}

function proven(host: string): Seats {
  const seats = new Seats(limits);
  leave(seats, seats.take(to(host)), true);
  return seats;
}

test("a host gets more seats once it has answered, and one when it did not", () => {
  expect(takes(new Seats(limits), to("a"))).toBe(limits.unproven);
  expect(takes(proven("a"), to("a"))).toBe(limits.proven);
  const seats = proven("a");
  leave(seats, seats.take(to("a")), false);
  const only = seats.take(to("a"));
  expect(takes(seats, to("a"))).toBe(limits.suspect - 1);
  expect(seats.full()).toEqual(["a"]);
  leave(seats, only, true);
  expect(takes(seats, to("a"))).toBe(limits.proven);
});

test("all hosts that are new, or do not answer, share a part of the seats; those that answer always find one", () => {
  const seats = proven("good");
  for (let host = 0; host < 50; host++) takes(seats, to(`new-${host}`));
  expect(seats.onTheWay).toBe(limits.unprovenTotal);
  expect(takes(seats, to("good"))).toBe(limits.proven);
  // A host that another process found out about is full as long as its kind is.
  expect(seats.full()).toContain("new-0");
});

test("of the seats for hosts that have not answered, a merchant gets a part, however many hosts it names", () => {
  const seats = new Seats({ ...limits, merchantDoubtful: 4 });
  for (let host = 0; host < 50; host++) takes(seats, to(`bad-${host}`, "m"));
  expect(seats.onTheWay).toBe(4);
  expect(takes(seats, to("new", "honest"))).toBe(limits.unproven);
});

test("later attempts leave room for first ones, and a merchant for others", () => {
  const seats = new Seats({ ...limits, merchantDoubtful: 100, unproven: 100, unprovenTotal: 100 });
  expect(takes(seats, to("a", "m", false))).toBe(limits.again);
  expect(seats.room("again")).toBe(0);
  expect(takes(seats, to("a", "m"))).toBe(limits.merchant - limits.again);
  expect(takes(seats, to("a", "other"))).toBe(limits.all - limits.merchant);
  expect(seats.room("first")).toBe(0);
});

test("whatever comes and goes: no limit is passed, and in the end every seat is free", () => {
  const passenger = fc.record({
    host: fc.constantFrom("a", "b", "c", "d", "e"),
    merchantId: fc.constantFrom("m", "n"),
    first: fc.boolean(),
  });
  fc.assert(
    fc.property(
      fc.array(fc.record({ passenger, leaves: fc.nat(), answered: fc.option(fc.boolean(), { nil: undefined }) })),
      (steps) => {
        const seats = new Seats(limits);
        const seated: Seat[] = [];
        for (const { passenger: next, leaves, answered } of steps) {
          const seat = seats.take(next);
          if (seat) seated.push(seat);
          const count = (by: (one: Passenger) => boolean): number => seated.filter(by).length;
          expect(seats.onTheWay).toBe(seated.length);
          expect(seated.length).toBeLessThanOrEqual(limits.all);
          expect(count(({ first }) => !first)).toBeLessThanOrEqual(limits.again);
          for (const merchantId of ["m", "n"])
            expect(count((one) => one.merchantId === merchantId)).toBeLessThanOrEqual(limits.merchant);
          for (const host of ["a", "b", "c", "d", "e"])
            expect(count((one) => one.host === host)).toBeLessThanOrEqual(limits.proven);
          if (leaves % 3 === 0) {
            const [gone] = seated.splice(leaves % (seated.length + 1), 1);
            if (gone) seats.leave(gone, answered);
          }
        }
        for (const one of seated) seats.leave(one, true);
        expect(seats.onTheWay).toBe(0);
        expect(seats.room("again")).toBe(limits.again);
        expect(seats.full()).toEqual([]);
      },
    ),
  );
});

test("the limits of the product leave more than a third for hosts that answer, whatever the others do", () => {
  const { all, unprovenTotal, suspectTotal } = seatLimits;
  expect(all - unprovenTotal - suspectTotal).toBeGreaterThan(all / 3);
});
