// Goal: no two requests of one day have the same external id. Method: a clock that is moved, one process, and two.
import { expect, test } from "vitest";
import { NOW } from "../../../test/snap-rig.ts";
import { SECOND } from "../../ground/clock.ts";
import { ExternalIds } from "./external-ids.ts";

/** Ids of one process: `next` after the clock has been moved. */
function processOf(digits = 9) {
  const clock = { at: NOW, now: () => clock.at };
  const ids = new ExternalIds(digits, clock);
  return { ids, clock };
}

test("a hundred thousand of a day, in bursts, with the clock put back meanwhile, are all different and of nine digits", () => {
  const { ids, clock } = processOf();
  const seen = new Set<string>();
  for (let burst = 0; burst < 1_000; burst++) {
    for (let time = 0; time < 100; time++) seen.add(ids.next());
    clock.at += burst % 10 === 0 ? -20 * SECOND : 80 * SECOND;
  }
  expect(seen.size).toBe(100_000);
  expect([...seen].every((id) => /^\d{9}$/.test(id))).toBe(true);
});

test("it begins with the tenth of a second of the day in Jakarta", () => {
  const { ids, clock } = processOf();
  // NOW is 21:00 there.
  expect(ids.next().slice(0, 6)).toBe("756000");
  clock.at += 3 * 3_600 * SECOND;
  expect(ids.next().slice(0, 6)).toBe("000000");
});

test("processes with other digits of their own never meet, and one whose id was taken draws other ones", () => {
  const [one, other] = [processOf(), processOf()];
  const own = (): string => one.ids.next().slice(6);
  const first = own();
  expect(own()).toBe(first);
  const drawn = new Set([first]);
  for (let time = 0; time < 20; time++) {
    one.ids.redraw();
    drawn.add(own());
  }
  expect(drawn.size).toBeGreaterThan(10);
  while (other.ids.next().slice(6) === own()) other.ids.redraw();
  const seen = new Set<string>();
  for (let time = 0; time < 1_000; time++) seen.add(one.ids.next()).add(other.ids.next());
  expect(seen.size).toBe(2_000);
});

test("a long one is drawn whole", () => {
  const { ids } = processOf(32);
  const drawn = Array.from({ length: 1_000 }, () => ids.next());
  expect(drawn.every((id) => /^\d{32}$/.test(id))).toBe(true);
  expect(new Set(drawn.map((id) => id.slice(0, 20))).size).toBe(1_000);
  expect(new Set(drawn.map((id) => id.slice(12))).size).toBe(1_000);
});
