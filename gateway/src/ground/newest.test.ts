// Goal: a map of the newest entries holds what a plain list of them would hold. Method: random settings and deletions beside a list.
import fc from "fast-check";
import { expect, test } from "vitest";
import { NewestMap } from "./newest.ts";

test("it holds the newest entries in their order, whatever is set and deleted", () => {
  const steps = fc.array(fc.record({ key: fc.nat(12), deletes: fc.boolean() }), { maxLength: 200 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 8 }), steps, (most, changes) => {
      const map = new NewestMap<number, number>(most);
      let list: [number, number][] = [];
      for (const [value, { key, deletes }] of changes.entries()) {
        list = list.filter(([each]) => each !== key);
        if (deletes) map.delete(key);
        else {
          map.set(key, value);
          list = [...list, [key, value] as [number, number]].slice(-most);
        }
        expect([...map]).toEqual(list);
      }
    }),
  );
});

test("an emptied map is filled again", () => {
  const map = new NewestMap<number, number>(2);
  for (const key of [1, 2, 3]) map.set(key, key);
  map.clear();
  for (const key of [4, 5, 6, 7]) map.set(key, key);
  expect([...map.keys()]).toEqual([6, 7]);
});
