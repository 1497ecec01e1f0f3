// The names under which Midtrans knows our operations can be read back, and are such as it takes.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encode } from "../../ground/ids.ts";
import { idempotencyKeyOf, operationKeyOfOrder, operationKeyOfRefund, orderIdOf, refundKeyOf } from "./names.ts";

const id = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => encode(bytes));
const keyOf = (kind: "pay" | "rfd"): fc.Arbitrary<string> =>
  fc
    .tuple(id, id, fc.constantFrom("s", "p"), fc.integer({ min: 1, max: 0x1fff }))
    .map(([body, merchant, environment, attempt]) => `${kind}${body}.${merchant}.${environment}${attempt}`);

const PAYMENT = "pay01ksz3v0fm8m2k2ry6e5q4t7ag.01ksz3v0fnf7krx6a1b2c3d4e5.s1";

describe("an order id", () => {
  test("has at most 50 of the characters that Midtrans takes, and gives the operation key back", () => {
    fc.assert(
      fc.property(keyOf("pay"), (key) => {
        const name = orderIdOf(key);
        expect(name).toMatch(/^[A-Za-z0-9_-]{50}$/);
        expect(operationKeyOfOrder(name)).toBe(key);
      }),
    );
  });

  test("begins with the payment's reference, so that a person finds it in their dashboard", () => {
    expect(orderIdOf(PAYMENT).slice(0, 26)).toBe("01ksz3v0fm8m2k2ry6e5q4t7ag");
  });

  test("differs between environments and between attempts", () => {
    const keys = [PAYMENT, PAYMENT.replace(".s1", ".p1"), PAYMENT.replace(".s1", ".s2")];
    expect(new Set(keys.map(orderIdOf)).size).toBe(3);
  });

  test("of a short key is the key itself", () => {
    expect(orderIdOf("exam.1.s1")).toBe("exam.1.s1");
    expect(operationKeyOfOrder("exam.1.s1")).toBe("exam.1.s1");
  });

  test.each([
    ["a refund's key", PAYMENT.replace("pay", "rfd")],
    ["an attempt beyond what its place holds", PAYMENT.replace(".s1", ".s8192")],
    ["a long key of another form", "x".repeat(60)],
    ["a long key with a letter that identifiers do not have", PAYMENT.replace("pay0", "payu")],
  ])("is refused for %s", (_, key) => {
    expect(() => orderIdOf(key)).toThrow("cannot be told to Midtrans");
  });

  test.each(["", "Order-5100", "u".repeat(50), `${"0".repeat(26)}${"A".repeat(24)}`, "a".repeat(51)])(
    "that somebody else made (%s) is none of ours",
    (name) => {
      expect(operationKeyOfOrder(name)).toBeUndefined();
    },
  );
});

describe("a refund key", () => {
  test("has letters, digits, - and _ alone, and gives the operation key back", () => {
    fc.assert(
      fc.property(keyOf("rfd"), (key) => {
        expect(refundKeyOf(key)).toMatch(/^[A-Za-z0-9_-]{50}$/);
        expect(operationKeyOfRefund(refundKeyOf(key))).toBe(key);
      }),
    );
    expect(refundKeyOf("exam.1.s1")).toBe("exam_1_s1");
    expect(operationKeyOfRefund("exam_1_s1")).toBe("exam.1.s1");
  });
});

test("an idempotency key is short enough not to be ignored, and each call has its own", () => {
  const keys = (["charge", "page", "refund"] as const).map((verb) => idempotencyKeyOf(verb, PAYMENT));
  expect(new Set(keys).size).toBe(3);
  for (const key of keys) expect(key).toMatch(/^[A-Za-z0-9_-]{1,46}$/);
});
