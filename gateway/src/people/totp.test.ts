// Goal: codes are those of every authenticator, good for a short while, and once. Method: the vectors of RFC 4226 and 6238, and properties.
import fc from "fast-check";
import { expect, test } from "vitest";
import { SECOND } from "../ground/clock.ts";
import { base32, codeOf, enrolmentUri, stepOfCode } from "./totp.ts";

const SECRET = Buffer.from("12345678901234567890");

test("codes are those of RFC 4226, appendix D", () => {
  const expected = ["755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489"];
  expect(expected.map((_, step) => codeOf(SECRET, step))).toEqual(expected);
});

test.each([
  [59, "287082"],
  [1_111_111_109, "081804"],
  [1_111_111_111, "050471"],
  [1_234_567_890, "005924"],
  [2_000_000_000, "279037"],
  [20_000_000_000, "353130"],
])("at %i seconds the code is that of RFC 6238, appendix B: %s", (seconds, code) => {
  expect(stepOfCode(SECRET, code, seconds * SECOND, undefined)).toBe(Math.floor(seconds / 30));
});

test("a code is good a step before and after its own, and no longer", () => {
  const step = 60_000_000;
  const code = codeOf(SECRET, step);
  const good = (offset: number): boolean => stepOfCode(SECRET, code, (step + offset) * 30 * SECOND, undefined) === step;
  expect([-2, -1, 0, 1, 2].map(good)).toEqual([false, true, true, true, false]);
});

test("of a step that was used, and of those before it, no code is good again", () => {
  const step = 60_000_000;
  const now = step * 30 * SECOND;
  expect(stepOfCode(SECRET, codeOf(SECRET, step), now, step)).toBeUndefined();
  expect(stepOfCode(SECRET, codeOf(SECRET, step - 1), now, step)).toBeUndefined();
  expect(stepOfCode(SECRET, codeOf(SECRET, step + 1), now, step)).toBe(step + 1);
});

test.each(["", "12345", "1234567", "28708２", " 287082", "287082\0", "abcdef"])("%j is no code", (code) => {
  expect(stepOfCode(SECRET, code, 59 * SECOND, undefined)).toBeUndefined();
});

test("a guess is right about three times in a million", () => {
  const now = 60_000_000 * 30 * SECOND;
  const good = new Set([-1, 0, 1].map((offset) => codeOf(SECRET, 60_000_000 + offset)));
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 999_999 }), (guess) => {
      const code = String(guess).padStart(6, "0");
      expect(stepOfCode(SECRET, code, now, undefined) !== undefined).toBe(good.has(code));
    }),
  );
});

test("what an authenticator reads names the account, with everything escaped", () => {
  expect(base32(SECRET)).toBe("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
  expect(base32(Buffer.from("f"))).toBe("MY");
  expect(enrolmentUri("Kopi & Co", "a+b@kopi.example", SECRET)).toBe(
    "otpauth://totp/Kopi%20%26%20Co:a%2Bb%40kopi.example?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Kopi%20%26%20Co",
  );
});
