// The signature of a notification, against the values that the documentation and the official client's own means give.
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { isSignedBy, signatureKeyOf } from "./signature.ts";

// https://docs.midtrans.com/reference/receiving-notifications: the fields and the key of its example.
const example = { order_id: "1111", status_code: "200", gross_amount: "100000.00" };
const KEY = "askvnoibnosifnboseofinbofinfgbiufglnbfg";

describe("a notification's signature", () => {
  test("is SHA-512 over order id, status code, amount and server key, one after the other", () => {
    const expected = createHash("sha512").update(`1111200100000.00${KEY}`).digest("hex");
    expect(signatureKeyOf(example, KEY)).toBe(expected);
    expect(isSignedBy(example, expected, [KEY])).toBe(true);
  });

  test.each([
    ["another order", { ...example, order_id: "1112" }],
    ["another status code", { ...example, status_code: "201" }],
    ["another amount", { ...example, gross_amount: "100000.01" }],
  ])("does not hold for %s", (_, changed) => {
    expect(isSignedBy(changed, signatureKeyOf(example, KEY), [KEY])).toBe(false);
  });

  test("may be by the server key before, while two are accepted", () => {
    const before = signatureKeyOf(example, "the key before");
    expect(isSignedBy(example, before, [KEY, "the key before"])).toBe(true);
    expect(isSignedBy(example, before, [KEY])).toBe(false);
    expect(isSignedBy(example, before, [])).toBe(false);
  });

  test.each(["", "0".repeat(128), signatureKeyOf(example, KEY).toUpperCase(), signatureKeyOf(example, KEY).slice(1)])(
    "is exactly 128 hex digits in lower case, not %s",
    (signature) => {
      expect(isSignedBy(example, signature, [KEY])).toBe(false);
    },
  );
});
