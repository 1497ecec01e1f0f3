// Goal: what an acquirer is told as the name of an operation names it again when it comes back, and nothing else does. Method: by property and by table.
import fc from "fast-check";
import { expect, test } from "vitest";
import { anOperation } from "../../test/acquiring.ts";
import { NOW, book } from "../../test/given.ts";
import { SECOND } from "../ground/clock.ts";
import { newId } from "../ground/ids.ts";
import { otherBook } from "../merchants/books.ts";
import {
  operationKey,
  operationSteps,
  readOperationKey,
  wasCalled,
  withInquirySoon,
  withProviderIds,
} from "./operation.ts";
import { nextInquiry } from "./planning.ts";

test("an operation key is read back as the operation that it names, in its own environment", () => {
  const named = fc.record({
    kind: fc.constantFrom("payment", "refund"),
    book: fc.constantFrom(book, otherBook(book)),
    attempt: fc.integer({ min: 1, max: 99_999 }),
  });
  fc.assert(
    fc.property(named, (one) => {
      const name = { ...one, id: newId(one.kind, NOW) };
      const key = operationKey(name);
      expect(key).toMatch(/^[a-z0-9.]{1,64}$/);
      expect(readOperationKey(key)).toEqual(name);
    }),
  );
});

const [id, merchant] = ["01mcc5rm00e008c45bff52grxn", book.merchantId.slice(4)];
test.each([
  ["another prefix", `set${id}.${merchant}.s1`],
  ["another environment", `pay${id}.${merchant}.x1`],
  ["no attempt", `pay${id}.${merchant}.s`],
  ["attempt 0", `pay${id}.${merchant}.s0`],
  ["an attempt with a zero before it", `pay${id}.${merchant}.s01`],
  ["more attempts than there are", `pay${id}.${merchant}.s100000`],
  ["capital letters", `PAY${id}.${merchant}.s1`],
  ["something before it", ` pay${id}.${merchant}.s1`],
  ["something after it", `pay${id}.${merchant}.s1 `],
  ["a letter that no identity has", `pay${id.replace("g", "u")}.${merchant}.s1`],
  ["a letter that no merchant has", `pay${id}.${merchant.replace("j", "u")}.s1`],
])("a text with %s is no operation key", (_what, key) => {
  expect(readOperationKey(`pay${id}.${merchant}.s1`)).toMatchObject({ kind: "payment", attempt: 1 });
  expect(readOperationKey(key)).toBeUndefined();
});

test("an attempt is only a number while it is planned or may be retried", () => {
  const called = operationSteps.filter((step) => wasCalled({ step }));
  expect(called).toEqual(["calling", "inquiring", "polling", "done"]);
});

test("an inquiry is due at once, or follows the call that is under way", () => {
  const call = anOperation(newId("payment", NOW), { inquiries: 2 });
  expect(withInquirySoon(call, NOW)).toEqual({ ...call, inquiries: 3 });
  for (const step of operationSteps.filter((one) => one !== "calling")) {
    const soon = withInquirySoon({ ...call, step }, NOW);
    expect(soon).toEqual({ ...call, step: "inquiring", inquiries: 0, dueAt: NOW });
  }
});

test("an acquirer's ids replace those of the same name, and leave the others", () => {
  const before = anOperation(newId("payment", NOW), { providerIds: { order: "o-1", payment: "p-1" } });
  expect(withProviderIds(before, undefined)).toEqual(before);
  expect(withProviderIds(before, { payment: "p-2" }).providerIds).toEqual({ order: "o-1", payment: "p-2" });
});

test.each([
  [0, 1],
  [1, 2],
  [9, 512],
  [10, 600],
  [32_767, 600],
])("after %i inquiries the next one comes in %i seconds", (inquiries, seconds) => {
  expect(nextInquiry(inquiries, NOW)).toBe(NOW + seconds * SECOND);
});
