// Goal: what a plot's table tells, the plot shows. Method: by example.
import { expect, test } from "vitest";
import { loneValues } from "./lone-values.ts";

test.each([
  [[], []],
  [[5], [0]],
  [[0], [0]],
  [[null, null], []],
  [[null, 0, null], [1]],
  [[1, 2, 3], []],
  [
    [1, null, 3, 4, null, 6],
    [0, 5],
  ],
  [[null, null, 7], [2]],
])("of %j a line does not show those at %j", (values, lone) => {
  expect(loneValues(values)).toEqual(lone);
});
