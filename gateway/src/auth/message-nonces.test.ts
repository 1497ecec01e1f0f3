// Goal: a nonce of RFC 9421 makes a request one, whatever its time, and never the same as another client's or another scheme's. Method: properties
// over the moments at which two requests come and the times that they say.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ID, NONCE, seconds } from "../../test/messages.ts";
import { messageNonces, nonceOf } from "./nonces.ts";
import { SLOTS, nonceKey, slotOf } from "./nonces.sql.ts";

describe("the nonce", () => {
  const merchantId = "mer_01j00000000000000000000000";
  const of = (changes: Partial<Parameters<typeof messageNonces>[0]> = {}) =>
    messageNonces({ merchantId, clientId: ID, nonce: NONCE, created: seconds, now: seconds, ...changes });
  const keys = ({ spanMarks }: ReturnType<typeof of>): Set<string> => new Set(spanMarks.map(nonceKey));
  const skew = fc.integer({ min: -300, max: 300 });

  test("of two requests within the time of the first, with whatever created, at least one row is the same", () => {
    fc.assert(
      fc.property(fc.nat({ max: 100_000 }), skew, fc.nat({ max: 600 }), skew, (at, first, later, second) => {
        const [begun, then] = [seconds + at, seconds + at + later];
        fc.pre(then <= begun + first + 300);
        const before = keys(of({ now: begun, created: begun + first }));
        const after = keys(of({ now: then, created: then + second }));
        expect([...before].some((key) => after.has(key))).toBe(true);
      }),
    );
  });

  test("its rows are two or three, live until it may be forgotten, and never in a slot that is being emptied", () => {
    fc.assert(
      fc.property(fc.nat({ max: 100_000 }), skew, fc.integer({ min: -60, max: 60 }), (at, ahead, clocks) => {
        const now = seconds + at;
        const { nonce, spanMarks } = of({ now, created: now + ahead });
        expect(nonce.validUntil).toBe(now + ahead + 300);
        expect(spanMarks.length).toBeLessThanOrEqual(3);
        expect(Math.max(...spanMarks.map(({ validUntil }) => validUntil))).toBeGreaterThanOrEqual(nonce.validUntil);
        const minute = Math.floor((now + clocks) / 60);
        const emptied = [3, 4, 5, 6, 7].map((back) => (minute - back + SLOTS) % SLOTS);
        for (const span of [nonce, ...spanMarks]) expect(emptied).not.toContain(slotOf(span));
      }),
    );
  });

  test("of another client, another nonce or the other scheme is another one", () => {
    const { digest } = of().nonce;
    expect(of({ clientId: `${ID.slice(0, -1)}0` }).nonce.digest).not.toBe(digest);
    expect(of({ nonce: `${NONCE}0` }).nonce.digest).not.toBe(digest);
    for (const method of ["GET", "HEAD", "POST", "rfc9421"]) {
      const other = { merchantId, method, target: NONCE, signature: ID, validUntil: seconds };
      expect(nonceOf(other).digest, method).not.toBe(digest);
    }
  });
});
