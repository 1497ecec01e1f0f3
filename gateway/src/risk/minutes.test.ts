// Goal: what a process says that it knows of a minute is so, and takes no more room than it should. Method: by property, beside a plain list
// of all that was made; bounds by counting.
import fc from "fast-check";
import { expect, test } from "vitest";
import { newId } from "../ground/ids.ts";
import type { Book } from "../merchants/books.ts";
import { Minutes, firstSince, ownMinute, paymentMade, paymentUnknown } from "./minutes.ts";

const newBook = (): Book => ({ merchantId: newId("merchant", Date.now() * 1000), environment: "sandbox" });
const since = (moments: readonly number[], ms: number): number => moments.filter((at) => at >= ms).length;

test("since the moment from which a process knows its payments none is missing, or more are known than anybody counts", () => {
  const event = fc.record({
    passedMs: fc.oneof(fc.nat(300), fc.nat(90_000)),
    // Those of two batches may come back in another order than they were made.
    agoMs: fc.nat(1_900),
    outcome: fc.oneof(
      { weight: 15, arbitrary: fc.constant("committed") },
      fc.constantFrom("made, unknown", "lost, unknown"),
    ),
    offsetSeconds: fc.oneof({ weight: 20, arbitrary: fc.constant(0) }, fc.nat(100)),
  });
  let judged = 0;
  fc.assert(
    fc.property(
      fc.array(event, { maxLength: 400, size: "max" }),
      fc.integer({ min: 1, max: 150 }),
      fc.array(fc.nat(150_000), { minLength: 5, maxLength: 5 }),
      (events, most, windows) => {
        const book = newBook();
        const made: number[] = [];
        let [now, offset] = [1_800_000_000_000, 0];
        for (const { passedMs, agoMs, outcome, offsetSeconds } of events) {
          [now, offset] = [now + passedMs, offset + offsetSeconds];
          const at = now + offset * 1000 - agoMs;
          if (outcome !== "lost, unknown") made.push(at);
          if (outcome === "committed") paymentMade(book, at * 1000 + 999, offset, most);
          else paymentUnknown(book, at * 1000, offset);
          const minute = ownMinute(book) ?? expect.unreachable("it has just been touched");
          expect(minute.moments.length).toBeLessThan(Math.max(64, 2 * most));
          expect(minute.offsetSeconds).toBe(offset);
          for (const window of windows) {
            const from = at - window;
            const known = since(minute.moments, from);
            if (from < minute.fromMs && known < most) continue;
            judged++;
            expect(Math.min(most, known)).toBe(Math.min(most, since(made, from)));
          }
        }
      },
    ),
  );
  expect(judged).toBeGreaterThan(1_000);
});

test("moments in order are found where plain looking finds them", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(50)), fc.integer({ min: -1, max: 51 }), (given, ms) => {
      const moments = given.toSorted((a, b) => a - b);
      expect(moments.length - firstSince(moments, ms)).toBe(since(moments, ms));
    }),
  );
});

test("when there are too many payments, or books, those that were touched longest ago are forgotten", () => {
  const minutes = new Minutes<{ moments: number[] }>(10);
  const grown = { moments: [1, 2, 3, 4] };
  minutes.put("a", grown);
  minutes.put("b", { moments: [1, 2, 3] });
  minutes.put("c", { moments: [1, 2, 3] });
  grown.moments.push(5);
  minutes.put("a", grown);
  expect(["a", "b", "c"].map((name) => minutes.get(name)?.moments.length)).toEqual([5, undefined, 3]);
  for (let book = 0; book < 10_000; book++) minutes.put(`book ${book}`, { moments: [] });
  expect([minutes.get("a"), minutes.get("c"), minutes.get("book 0")]).toEqual([undefined, undefined, { moments: [] }]);
  minutes.put("one more", { moments: [] });
  expect(minutes.get("book 0")).toBeUndefined();
});
