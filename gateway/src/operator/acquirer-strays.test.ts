// Goal: of stray messages the newest hundred are told, and that there are more. Method: the pure view over lists at their bound.
import { expect, test } from "vitest";
import { NOW } from "../../test/given.ts";
import type { KeptStray } from "../acquiring/strays.sql.ts";
import { STRAYS_MAX, acquirerStraysEndpoint, straysView } from "./acquirer-strays.routes.ts";

const stray: KeptStray = {
  gatewayCode: "kawah",
  reason: "refused",
  operationKey: "x",
  kind: "look",
  message: undefined,
  times: 2,
  firstAt: NOW,
  lastAt: NOW,
};

test.each([
  [0, 0, false],
  [STRAYS_MAX, STRAYS_MAX, false],
  [STRAYS_MAX + 1, STRAYS_MAX, true],
])("of %i messages %i are told; more: %s", (count, told, isMore) => {
  const view = straysView(Array.from({ length: count }, () => stray));
  const endpoint = acquirerStraysEndpoint({} as never, {} as never);
  endpoint.success.schema.parse(view);
  expect([view.data.length, view.is_more]).toEqual([told, isMore]);
});

test("a message whose text was not kept says so", () => {
  expect(straysView([stray]).data).toMatchObject([{ about: null, text: null, times: 2 }]);
});
