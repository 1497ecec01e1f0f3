// Goal: what one process remembers of used signatures is what a set would. Method: random uses, few enough to come again, beside a Set.
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Use, UsedSignatures, keyOf } from "./used-signatures.ts";

// Few leading words, so that slots are fought for; the rest tells them apart.
const digest = fc
  .tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 400 }))
  .map(([first, rest]) => first.toString(16).padStart(8, "0") + rest.toString(16).padStart(24, "0"));
const use: fc.Arbitrary<Use> = fc.record({
  merchantId: fc.constantFrom("mer_a", "mer_b", "mer_c"),
  validUntil: fc.integer({ min: 1000, max: 1004 }),
  digest,
});
const step = fc.oneof(
  { weight: 60, arbitrary: use },
  { weight: 1, arbitrary: fc.integer({ min: 999, max: 1005 }).map((forgetBefore) => ({ forgetBefore })) },
);

const all = (used: UsedSignatures): Use[] => used.seconds().flatMap((second) => [...used.usesOf(second)]);

test("a use is new once; the past is forgotten, and nothing else; all of it can be told", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 600 }), (steps) => {
      const used = new UsedSignatures();
      const model = new Map<string, Use>();
      const nameOf = ({ validUntil, digest }: Use): string => `${validUntil} ${digest}`;
      for (const next of steps) {
        if ("forgetBefore" in next) {
          used.forgetBefore(next.forgetBefore);
          for (const [name, { validUntil }] of model) if (validUntil < next.forgetBefore) model.delete(name);
        } else {
          expect(used.has(next)).toBe(model.has(nameOf(next)));
          expect(used.add(next)).toBe(!model.has(nameOf(next)));
          if (!model.has(nameOf(next))) model.set(nameOf(next), next);
        }
        expect(used.size).toBe(model.size);
      }
      expect(all(used).map(keyOf).toSorted()).toEqual([...model.values()].map(keyOf).toSorted());
      for (const second of used.seconds()) used.drop(second);
      expect([used.size, ...all(used)]).toEqual([0]);
    }),
    { numRuns: 200 },
  );
});

test("many of one second are told apart, and cost little memory", () => {
  const used = new UsedSignatures();
  const before = process.memoryUsage().arrayBuffers;
  const count = 200_000;
  const nth = (number: number): Use => ({
    merchantId: "mer_a",
    validUntil: 1,
    digest:
      Math.imul(number, 2_654_435_761).toString(16).replace("-", "").padStart(8, "0") +
      number.toString(16).padStart(24, "0"),
  });
  for (let number = 0; number < count; number++) if (!used.add(nth(number))) throw new Error(`${number} was there`);
  for (let number = 0; number < count; number++) if (used.add(nth(number))) throw new Error(`${number} was not there`);
  expect(used.size).toBe(count);
  expect((process.memoryUsage().arrayBuffers - before) / count).toBeLessThan(80); // with what was outgrown and not collected yet
});
