// Goal: an acquirer reports about what it was asked for, under the attempt that it was asked under, and about nothing else. Method: the rule by table
// over each step of a payment and a refund; notifications.test.ts has what a report does.
import { expect, test } from "vitest";
import { anOperation, openingParts } from "../../test/acquiring.ts";
import { NOW, book } from "../../test/given.ts";
import { scriptedAcquirer } from "../../test/scripted-acquirer.ts";
import { newId } from "../ground/ids.ts";
import { wasRequested } from "./notifications.routes.ts";
import { type Operation, operationSteps } from "./operation.ts";

const parts = openingParts(
  scriptedAcquirer("kawah"),
  scriptedAcquirer("lawu"),
  scriptedAcquirer("agung", "production"),
);

/** Whether a report of `code` is about what it was asked for. The operation is at its third attempt, at kawah, unless `changes` say otherwise. */
function requested(
  kind: Operation["kind"],
  attempt: number,
  changes: Partial<Operation> = {},
  code = "kawah",
): boolean {
  const id = newId(kind, NOW);
  const operation = anOperation(id, { kind, attempt: 3, step: "polling", ...changes });
  return wasRequested(parts, operation, { book, id, kind, attempt }, code);
}

test.each(operationSteps)("the present attempt of an operation that is %s was requested once it was called", (step) => {
  const wasCalled = step !== "planned" && step !== "retryable";
  expect(requested("payment", 3, { step })).toBe(wasCalled);
  expect(requested("refund", 3, { step })).toBe(wasCalled);
});

test.each<[string, boolean, boolean]>([
  ["an earlier attempt of a payment may have been another acquirer's", requested("payment", 2, {}, "lawu"), true],
  ["a later attempt of a payment was never made", requested("payment", 4), false],
  ["the present attempt is its acquirer's alone", requested("payment", 3, {}, "lawu"), false],
  ["an earlier attempt of a refund was its own acquirer's", requested("refund", 2), true],
  ["and nobody else's", requested("refund", 2, {}, "lawu"), false],
  ["a later attempt of a refund under way was never made", requested("refund", 4), false],
  [
    "a done refund keeps the attempt that made it: later ones were made too",
    requested("refund", 4, { step: "done" }),
    true,
  ],
  ["up to the last that may be", requested("refund", 1_000, { step: "done" }), true],
  ["and no further", requested("refund", 1_001, { step: "done" }), false],
  ["a later attempt of a done payment was never made", requested("payment", 4, { step: "done" }), false],
  ["a done refund is its own acquirer's too", requested("refund", 3, { step: "done" }, "lawu"), false],
  ["an acquirer of production has nothing of the sandbox", requested("payment", 2, {}, "agung"), false],
  ["nor has one that is not configured", requested("payment", 2, {}, "krakatau"), false],
])("%s: %s", (_what, is, expected) => expect(is).toBe(expected));

test("a report about a refund is none about a payment", () => {
  const id = newId("payment", NOW);
  const payment = anOperation(id, { step: "polling" });
  expect(wasRequested(parts, payment, { book, id, kind: "refund", attempt: 1 }, "kawah")).toBe(false);
  const live = { ...book, environment: "production" } as const;
  expect(
    wasRequested(parts, { ...payment, book: live }, { book: live, id, kind: "payment", attempt: 1 }, "kawah"),
  ).toBe(false);
});
