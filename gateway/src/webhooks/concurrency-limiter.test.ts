// Goal: hosts that do not answer, or slowly, hold few slots, later attempts and merchants never all of them, and every slot is
// released. Method: examples of each limit, then random steps against a count by hand.
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type SlotRequest,
  QUICK_MS,
  type Slot,
  ConcurrencyLimiter,
  type HostHealth,
  slotLimits,
} from "./concurrency-limiter.ts";

const limits = {
  all: 40,
  retry: 8,
  host: { healthy: 5, slow: 3, unknown: 2, failing: 4 },
  shared: { slow: 9, unknown: 12, failing: 6 },
};
const to = (host: string, merchantUuid = host, first = true): SlotRequest => ({ host, merchantUuid, first });

/** Takes as many slots as there are. */
function taken(limiter: ConcurrencyLimiter, request: SlotRequest, atMs = 0): Slot[] {
  return Array.from({ length: 1_000 }, () => limiter.acquire(request, atMs)).filter((slot) => slot !== undefined);
}
const takes = (limiter: ConcurrencyLimiter, request: SlotRequest, atMs = 0): number =>
  taken(limiter, request, atMs).length;

/** A limiter that has called each of these hosts once, with this health as the result. */
function known(found: Record<string, HostHealth>, within = limits): ConcurrencyLimiter {
  const limiter = new ConcurrencyLimiter(within);
  for (const [host, health] of Object.entries(found)) {
    const [first, ...others] = taken(limiter, to(host));
    if (!first) throw new Error("no slot was taken");
    limiter.release(first, health);
    for (const slot of others) limiter.release(slot, undefined);
  }
  return limiter;
}

test("hosts are counted by their health, and one that keeps us waiting is slow", () => {
  const limiter = known({ a: "healthy", b: "healthy", c: "failing" });
  limiter.acquire(to("d"), 0);
  expect(limiter.hostsByHealth(0)).toEqual({ healthy: 2, slow: 0, unknown: 1, failing: 1 });
  limiter.acquire(to("a"), 0);
  expect(limiter.hostsByHealth(QUICK_MS + 1)).toEqual({ healthy: 1, slow: 1, unknown: 1, failing: 1 });
});

test("a host has as many slots as its health allows", () => {
  expect(takes(new ConcurrencyLimiter(limits), to("a"))).toBe(limits.host.unknown);
  const limiter = known({ quick: "healthy", late: "slow", dead: "failing" });
  expect(takes(limiter, to("quick"))).toBe(limits.host.healthy);
  expect(takes(limiter, to("late"))).toBe(limits.host.slow);
  expect(limiter.capacityAt("quick", 0)).toBe(0);
  const [one] = taken(limiter, to("dead"));
  if (one) limiter.release(one, "healthy");
  expect(limiter.healthOf("dead", 0)).toBe("healthy");
});

test("a host that was quick is slow as soon as one of its calls has taken long, and quick again without it", () => {
  const limiter = known({ a: "healthy" });
  const long = limiter.acquire(to("a"), 0);
  expect(takes(limiter, to("a"), QUICK_MS + 1)).toBe(limits.host.slow - 1);
  if (long) limiter.release(long, "healthy");
  expect(takes(limiter, to("a"), QUICK_MS + 1)).toBe(limits.host.healthy - limits.host.slow + 1);
});

test("a lone dead host may use several slots; many share what there is, each at least one before any has more", () => {
  const alone = known({ dead: "failing" }, slotLimits);
  expect(takes(alone, to("dead"))).toBe(slotLimits.host.failing);
  const dead = Array.from({ length: 24 }, (_, number) => `dead-${number}`);
  const crowd = known(Object.fromEntries(dead.map((host) => [host, "failing"])), slotLimits);
  const held = new Map(dead.map((host) => [host, [] as Slot[]]));
  // For a while each call that ends makes room for whoever asks first, in any order.
  for (let round = 0; round < 40; round++) {
    for (const host of round % 2 === 0 ? dead : dead.toReversed()) {
      const slot = crowd.acquire(to(host, `merchant of ${Number(host.slice(5)) % 4}`), 0);
      if (slot) held.get(host)?.push(slot);
    }
    const gone = [...held.values()].toSorted((a, b) => b.length - a.length)[0]?.shift();
    if (gone) crowd.release(gone, "failing");
  }
  const counts = [...held.values()].map(({ length }) => length);
  expect(Math.min(...counts)).toBeGreaterThanOrEqual(1);
  expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(2);
  expect(crowd.inFlight).toBeLessThanOrEqual(slotLimits.shared.failing);
});

test("hosts of a kind share a part of the slots; healthy ones always find one", () => {
  const limiter = known({ good: "healthy" });
  for (let host = 0; host < 50; host++) takes(limiter, to(`new-${host}`));
  expect(limiter.inFlight).toBeLessThanOrEqual(limits.shared.unknown);
  expect(takes(limiter, to("good"))).toBe(limits.host.healthy);
});

test("merchants whose new hosts all hang leave slots for the new host of another", () => {
  const limiter = new ConcurrencyLimiter();
  for (const merchant of ["x", "y", "z"])
    for (let host = 0; host < 16; host++) takes(limiter, to(`${merchant}-${host}`, merchant));
  expect(takes(limiter, to("new", "honest"))).toBe(slotLimits.host.unknown);
});

test("within a merchant the first call of a new host comes before the second of another", () => {
  const limiter = new ConcurrencyLimiter();
  const held = Array.from({ length: 40 }, (_, host) => taken(limiter, to(`hole-${host}`, "x"))).flat();
  const [gone] = held;
  expect(limiter.acquire(to("new", "x"), 0)).toBeUndefined();
  if (gone) limiter.release(gone, "failing");
  expect(limiter.acquire(to("hole-1", "x"), 0)).toBeUndefined();
  expect(limiter.acquire(to("new", "x"), 0)).toBeDefined();
});

test("however many merchants hold whatever they can, there is a slot for the next one", () => {
  const limiter = new ConcurrencyLimiter();
  for (const health of ["healthy", "slow", "failing"] as const) {
    for (let number = 0; number < 8 * 32; number++) {
      const host = `${health}-${number}`;
      const slot = limiter.acquire(to(host, `early ${number}`), 0);
      if (slot) limiter.release(slot, health);
    }
  }
  for (let merchant = 0; merchant < 8; merchant++)
    for (const health of ["healthy", "slow", "failing"] as const)
      for (let host = merchant; host < 8 * 32; host += 8)
        takes(limiter, to(`${health}-${host}`, `merchant ${merchant}`));
  expect(limiter.capacity("first")).toBeGreaterThan(0);
  expect(limiter.acquire(to("new", "honest"), 0)).toBeDefined();
});

test("a merchant alone may have half of all slots, and later attempts leave room for first ones", () => {
  const wide = {
    ...limits,
    host: { ...limits.host, unknown: 100 },
    shared: { ...limits.shared, unknown: 1_000 },
  };
  const limiter = new ConcurrencyLimiter(wide);
  expect(takes(limiter, to("a", "m", false))).toBe(limits.retry);
  expect(limiter.capacity("retry")).toBe(0);
  expect(takes(limiter, to("a", "m"))).toBe(limits.all / 2 - limits.retry);
  expect(takes(limiter, to("b", "other"))).toBe(limits.all / 4);
});

test.each([
  ["the hosts'", limits],
  ["the merchants'", { ...limits, all: 8, retry: 3 }],
])("whatever happens: where %s limits bind, none is passed, and in the end every slot is free", (_, limits) => {
  const request = fc.record({
    host: fc.constantFrom("a", "b", "c", "d", "e"),
    merchantUuid: fc.constantFrom("m", "n"),
    first: fc.boolean(),
  });
  const found = fc.constantFrom<(HostHealth | undefined)[]>("healthy", "slow", "failing", undefined);
  const step = fc.record({ request, leaves: fc.nat(), found, passesMs: fc.nat(QUICK_MS) });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const limiter = new ConcurrencyLimiter(limits);
      const sent: Slot[] = [];
      let nowMs = 0;
      for (const { request: next, leaves, found: health, passesMs } of steps) {
        nowMs += passesMs;
        const slot = limiter.acquire(next, nowMs);
        if (slot) sent.push(slot);
        const count = (by: (one: Slot) => boolean): number => sent.filter(by).length;
        expect(limiter.inFlight).toBe(sent.length);
        expect(count(({ first }) => !first)).toBeLessThanOrEqual(limits.retry);
        for (const kind of ["slow", "unknown", "failing"] as const)
          expect(count((one) => one.health === kind)).toBeLessThanOrEqual(limits.shared[kind]);
        for (const merchantUuid of ["m", "n"])
          expect(count((one) => one.merchantUuid === merchantUuid)).toBeLessThanOrEqual(limits.all / 2);
        for (const host of ["a", "b", "c", "d", "e"]) {
          expect(count((one) => one.host === host)).toBeLessThanOrEqual(limits.host.healthy);
          const merchants = sent.filter((one) => one.host === host).map(({ merchantUuid }) => merchantUuid);
          expect(limiter.inFlightByHost().get(host)).toEqual(merchants.length > 0 ? new Set(merchants) : undefined);
        }
        for (const merchantUuid of ["m", "of nobody here"]) {
          const room = limiter.capacityAt(next.host, nowMs, merchantUuid);
          const more = taken(limiter, to(next.host, merchantUuid), nowMs);
          expect(room).toBe(more.length);
          for (const one of more) limiter.release(one, undefined);
        }
        if (leaves % 3 === 0) {
          const [gone] = sent.splice(leaves % (sent.length + 1), 1);
          if (gone) limiter.release(gone, health);
        }
      }
      for (const one of sent) limiter.release(one, "healthy");
      expect(limiter.inFlight).toBe(0);
      expect(limiter.capacity("retry")).toBe(limits.retry);
      expect(limiter.inFlightByHost().size).toBe(0);
    }),
  );
});

test("the limits of the product leave more than a third for healthy hosts, whatever the others do", () => {
  const { all, shared } = slotLimits;
  expect(all - shared.slow - shared.unknown - shared.failing).toBeGreaterThan(all / 3);
});
