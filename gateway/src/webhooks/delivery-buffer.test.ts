// Goal: every claimed delivery is sent, in order, when there is a slot, or given back in time; none is forgotten. Method: an
// example of each, then random steps counted by hand.
import fc from "fast-check";
import { expect, test } from "vitest";
import { DeliveryBuffer, type LeasedDelivery } from "./delivery-buffer.ts";
import type { HostHealth } from "./concurrency-limiter.ts";

const one = (host: string, row: number, claimedAt = 0, merchantUuid = host): LeasedDelivery<number> => ({
  host,
  merchantUuid,
  row,
  token: "t",
  claimedAt,
});

interface Entry {
  host: string;
  merchantUuid: string;
  unhealthy: boolean;
}

const small = { all: 20, unhealthy: 12, perHost: { healthy: 8, slow: 4, unknown: 3, failing: 4 } };

/** How many of so many may wait. */
function waits(
  buffer: DeliveryBuffer<number>,
  host: string,
  times: number,
  health: HostHealth,
  merchantUuid = host,
): number {
  return Array.from({ length: times }, (_, row) => buffer.add(one(host, row, 0, merchantUuid), health)).filter(Boolean)
    .length;
}

test("a host's queue is bounded, and is sent in its order", () => {
  const buffer = new DeliveryBuffer<number>();
  expect(waits(buffer, "a", 100, "unknown")).toBe(16);
  expect(buffer.capacityFor("a", "unknown")).toBe(0);
  const entered: number[] = [];
  buffer.drain("a", ({ row }) => entered.length < 2 && entered.push(row) > 0);
  expect([entered, buffer.waitingFor("a"), buffer.size]).toEqual([[0, 1], 14, 14]);
});

test("hosts that are not healthy leave room for bursts at healthy ones, and for a new host of another merchant", () => {
  const buffer = new DeliveryBuffer<number>();
  for (const merchant of ["x", "y", "z"])
    for (let host = 0; host < 16; host++) waits(buffer, `${merchant}-${host}`, 16, "unknown", merchant);
  expect(waits(buffer, "new", 4, "unknown", "honest")).toBe(4);
  expect(waits(buffer, "good", 128, "healthy", "busy")).toBe(128);
});

test("merchants with healthy hosts leave room for each other", () => {
  const buffer = new DeliveryBuffer<number>();
  for (let host = 0; host < 8; host++) waits(buffer, `a-${host}`, 128, "healthy", "a");
  expect(buffer.size).toBe(256);
  for (let host = 0; host < 8; host++) waits(buffer, `b-${host}`, 128, "healthy", "b");
  expect(waits(buffer, "c", 64, "healthy")).toBe(64);
});

test("hosts whose deliveries another limit held back are tried in turn", () => {
  const buffer = new DeliveryBuffer<number>();
  for (const host of ["a", "b", "c"]) buffer.add(one(host, host.charCodeAt(0)), "healthy");
  const entered: number[] = [];
  for (let turn = 0; turn < 3; turn++) buffer.drain("nobody", ({ row }) => entered.push(row) > 0);
  expect(entered).toEqual([97, 98, 99]);
});

test("what waits too long is removed, and everything at the end", () => {
  const buffer = new DeliveryBuffer<number>();
  for (const [row, at] of [
    [1, 10],
    [2, 20],
    [3, 30],
  ] as const)
    buffer.add(one("a", row, at), "healthy");
  expect(buffer.remove(20).map(({ row }) => row)).toEqual([1]);
  expect(buffer.remove().map(({ row }) => row)).toEqual([2, 3]);
  expect(buffer.size).toBe(0);
});

test("a burst may wait: more is claimed for a host while its queue is short, and new deliveries join it until it is three quarters full", () => {
  const buffer = new DeliveryBuffer<number>();
  const seen = Array.from({ length: 128 }, (_, row) => {
    const state = [buffer.isLow("a", "healthy"), buffer.hasCapacityForNew("a", "healthy")];
    buffer.add(one("a", row, 0, `merchant ${row % 4}`), "healthy");
    return state;
  });
  expect(seen.filter(([short]) => short)).toHaveLength(33);
  expect(seen.filter(([, open]) => open)).toHaveLength(97);
});

test("whatever happens, each delivery leaves once", () => {
  const step = fc.record({
    host: fc.constantFrom("a", "b", "c"),
    merchantUuid: fc.constantFrom("m", "n"),
    health: fc.constantFrom<HostHealth[]>("healthy", "slow", "unknown", "failing"),
    free: fc.constantFrom(0, 0, 0, 1),
    out: fc.integer({ min: 0, max: 9 }).map((number) => number === 0),
    at: fc.nat(50),
  });
  fc.assert(
    fc.property(fc.array(step, { size: "large" }), (steps) => {
      const buffer = new DeliveryBuffer<number>(small);
      const waiting = new Map<number, Entry>();
      steps.forEach(({ host, merchantUuid, health, free, out, at }, row) => {
        const places = buffer.capacityFor(host, health, merchantUuid);
        const unhealthy = health !== "healthy";
        const count = (by: (of: Entry) => boolean): number => [...waiting.values()].filter(by).length;
        const own = (of: Entry): boolean => of.merchantUuid === merchantUuid;
        const may =
          count((of) => of.host === host) < small.perHost[health] &&
          count(own) < small.all - waiting.size &&
          (!unhealthy ||
            count((of) => own(of) && of.unhealthy) + count((of) => of.host === host) <
              small.unhealthy - count((of) => of.unhealthy));
        const added = buffer.add(one(host, row, at, merchantUuid), health);
        expect([added, places > 0]).toEqual([may, may]);
        if (added) waiting.set(row, { host, merchantUuid, unhealthy });
        if (added) expect(buffer.capacityFor(host, health, merchantUuid)).toBe(places - 1);
        let slots = free;
        buffer.drain(host, (entry) => slots-- > 0 && waiting.delete(entry.row));
        if (out) for (const entry of buffer.remove(at)) expect(waiting.delete(entry.row)).toBe(true);
        expect(buffer.size).toBe(waiting.size);
      });
      for (const entry of buffer.remove()) expect(waiting.delete(entry.row)).toBe(true);
      expect([buffer.size, waiting.size]).toEqual([0, 0]);
    }),
  );
});
