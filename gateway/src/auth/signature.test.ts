// Goal: who a request says it is from, whether that is proved, and what makes it the same request again (section 5 of the interface).
// Method: the pure functions by table, and by property beside an HMAC made here.
import { createHmac } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NOW, book, merchantWith } from "../../test/given.ts";
import { SECOND } from "../ground/clock.ts";
import { SigningKey } from "../ground/signing-key.ts";
import { Fault } from "../ground/fault.ts";
import type { Client } from "../merchants/directory.ts";
import { nonceOf } from "./nonces.ts";
import { SLOTS, nonceKey, slotOf } from "./nonces.sql.ts";
import { claimOf, verifySignature } from "./signature.ts";

const ID = "ak_test_01j0000000abcdefghjkmnpqrs";
const SECRET = "sk_test_secret";
const seconds = NOW / SECOND;
const merchant = merchantWith();
const client: Client = {
  clientId: ID,
  actor: ID,
  merchant,
  book,
  key: new SigningKey(SECRET),
  scopes: new Set(),
  signature: "any",
  expiresAt: undefined,
  allows: undefined,
};
const hmac = (text: string, secret = SECRET): string => createHmac("sha256", secret).update(text).digest("hex");

/** "good", or the code of the refusal. */
function judged(work: () => unknown): string {
  try {
    work();
    return "good";
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return error.code;
  }
}

test.each<[string, string | undefined, string]>([
  ["absent", undefined, "UNAUTHORIZED"],
  ["empty", "", "UNAUTHORIZED"],
  ["only the scheme", "Bearer", "UNAUTHORIZED"],
  ["only the client", ID, "UNAUTHORIZED"],
  ["another scheme", `Basic ${ID}`, "UNAUTHORIZED"],
  ["two spaces", `Bearer  ${ID}`, "UNAUTHORIZED"],
  ["a tab", `Bearer\t${ID}`, "UNAUTHORIZED"],
  ["something behind it", `Bearer ${ID} x`, "UNAUTHORIZED"],
  ["a list", `Bearer ${ID}, Bearer ${ID}`, "UNAUTHORIZED"],
  ["a new line", `Bearer ${ID}\n`, "UNAUTHORIZED"],
  ["garbage for a client", "Bearer ';--", "CLIENT_NOT_FOUND"],
  ["a client in capitals", `Bearer ${ID.toUpperCase()}`, "CLIENT_NOT_FOUND"],
  ["a client of four thousand characters", `Bearer ak_test_${"a".repeat(4000)}`, "CLIENT_NOT_FOUND"],
  ["the secret", `Bearer ${SECRET}`, "CLIENT_NOT_FOUND"],
  ["as documented", `Bearer ${ID}`, "good"],
  ["of production", `Bearer ${ID.replace("test", "live")}`, "good"],
  ["the scheme in small letters", `bearer ${ID}`, "good"],
  ["the scheme in mixed letters", `bEARER ${ID}`, "good"],
])("Authorization: %s", (_name, authorization, expected) => {
  expect(judged(() => claimOf({ authorization, "x-timestamp": "1", "x-signature": "a" }))).toBe(expected);
});

test.each([
  [undefined, "a"],
  ["1", undefined],
  [undefined, undefined],
])(
  "without X-Timestamp or X-Signature (%s, %s) it is SIGNATURE_MISSING, after the header's form and before the client",
  (at, by) => {
    const headers = { "x-timestamp": at, "x-signature": by };
    expect(judged(() => claimOf({ ...headers, authorization: "Bearer nobody" }))).toBe("SIGNATURE_MISSING");
    expect(judged(() => claimOf({ ...headers, authorization: "Basic nobody" }))).toBe("UNAUTHORIZED");
  },
);

const verified = (timestamp: string | string[], signature: string | string[], body = "", realNow = NOW) =>
  verifySignature(client, { clientId: ID, timestamp, signature }, Buffer.from(body), realNow);

test.each([
  ["a fraction", `${seconds}.5`, "SIGNATURE_INVALID"],
  ["a fraction of nothing", `${seconds}.0`, "SIGNATURE_INVALID"],
  ["a plus sign", `+${seconds}`, "SIGNATURE_INVALID"],
  ["a minus sign", `-${seconds}`, "SIGNATURE_INVALID"],
  ["nothing", "", "SIGNATURE_INVALID"],
  ["letters", "now", "SIGNATURE_INVALID"],
  ["hexadecimal", `0x${seconds.toString(16)}`, "SIGNATURE_INVALID"],
  ["an exponent", "18e8", "SIGNATURE_INVALID"],
  ["a new line", `${seconds}\n`, "SIGNATURE_INVALID"],
  ["other digits", "١٨٠٠٠٠٠٠٠٠", "SIGNATURE_INVALID"],
  ["a date", "2027-01-15T08:00:00Z", "SIGNATURE_INVALID"],
  ["milliseconds", `${seconds}000`, "TIMESTAMP_OUT_OF_WINDOW"],
  ["zero", "0", "TIMESTAMP_OUT_OF_WINDOW"],
  ["four hundred digits", "9".repeat(400), "TIMESTAMP_OUT_OF_WINDOW"],
  ["301 seconds ago", `${seconds - 301}`, "TIMESTAMP_OUT_OF_WINDOW"],
  ["301 seconds ahead", `${seconds + 301}`, "TIMESTAMP_OUT_OF_WINDOW"],
  ["exactly 300 seconds ago", `${seconds - 300}`, "good"],
  ["exactly 300 seconds ahead", `${seconds + 300}`, "good"],
])("X-Timestamp, rightly signed: %s", (_name, timestamp, expected) => {
  expect(judged(() => verified(timestamp, hmac(`${timestamp}.`)))).toBe(expected);
  // The last microsecond of a second is of that second.
  expect(judged(() => verified(timestamp, hmac(`${timestamp}.`), "", NOW + 999_999))).toBe(expected);
});

const good = hmac(`${seconds}.{}`);
test.each<[string, string | string[]]>([
  ["in capitals", good.toUpperCase()],
  ["one character short", good.slice(1)],
  ["one character long", `${good}0`],
  ["empty", ""],
  ["not hexadecimal", "z".repeat(64)],
  ["a list", `${good}, ${good}`],
  ["twice", [good, good]],
  ["with a new line", `${good}\n`],
  ["by the client_id", hmac(`${seconds}.{}`, ID)],
  ["by the secret in capitals", hmac(`${seconds}.{}`, SECRET.toUpperCase())],
  ["of a text without its dot", hmac(`${seconds}{}`)],
  ["of a body that was not sent", hmac(`${seconds}.{} `)],
  ["of no body", hmac(`${seconds}.`)],
  ["of another second", hmac(`${seconds - 1}.{}`)],
])("X-Signature: %s", (_name, signature) => {
  expect(judged(() => verified(`${seconds}`, signature, "{}"))).toBe("SIGNATURE_INVALID");
});

test("a time out of the window prevails over a wrong signature, and two times are a wrong one", () => {
  expect(judged(() => verified("0", "wrong"))).toBe("TIMESTAMP_OUT_OF_WINDOW");
  expect(judged(() => verified([`${seconds}`, `${seconds}`], good, "{}"))).toBe("SIGNATURE_INVALID");
});

test("a credential of RFC 9421 takes no X-Signature, and its time is looked at first, too", () => {
  const demanding: Client = { ...client, signature: "rfc9421" };
  const at = (time: number): string => {
    const claim = { clientId: ID, timestamp: `${time}`, signature: hmac(`${time}.`) };
    return judged(() => verifySignature(demanding, claim, Buffer.alloc(0), NOW));
  };
  expect([at(seconds), at(seconds - 301)]).toEqual(["SIGNATURE_INVALID", "TIMESTAMP_OUT_OF_WINDOW"]);
});

test("whatever the bytes and the second, what is rightly signed is good until 300 seconds after its time, and one other bit is not", () => {
  const bodies = fc.uint8Array({ maxLength: 200 });
  fc.assert(
    fc.property(bodies, fc.integer({ min: -300, max: 300 }), fc.nat(), (body, skew, flip) => {
      const timestamp = `${seconds + skew}`;
      const signature = createHmac("sha256", SECRET).update(`${timestamp}.`).update(body).digest("hex");
      const claim = { clientId: ID, timestamp, signature };
      expect(verifySignature(client, claim, Buffer.from(body), NOW)).toEqual({
        signature,
        validUntil: seconds + skew + 300,
      });
      const changed = Buffer.from(body);
      if (changed.length === 0) return;
      const at = flip % changed.length;
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(judged(() => verifySignature(client, claim, changed, NOW))).toBe("SIGNATURE_INVALID");
    }),
  );
});

describe("the same request again", () => {
  const request = {
    merchantId: book.merchantId,
    method: "POST",
    target: "/v1/payments",
    signature: good,
    validUntil: 1,
  };
  const same = (changes: Partial<typeof request>, of: Partial<typeof request> = {}): boolean =>
    nonceKey(nonceOf({ ...request, ...of, ...changes })) === nonceKey(nonceOf({ ...request, ...of }));

  test.each([
    ["a write wherever it is sent", { target: "/v1/refunds" }, {}, true],
    ["a write by any method that writes", { method: "PUT" }, {}, true],
    ["a write of another signature", { signature: hmac("x") }, {}, false],
    ["a read of the same target", {}, { method: "GET" }, true],
    ["a read of another target", { target: "/v1/payments?limit=5" }, { method: "GET" }, false],
    ["a read by another method", { method: "HEAD" }, { method: "GET" }, false],
    ["a read of another signature", { signature: hmac("x") }, { method: "GET" }, false],
    ["a read that becomes a write", { method: "POST" }, { method: "GET" }, false],
    ["one of another second", { validUntil: 2 }, {}, false],
  ])("%s: %s", (_name, changes, of, expected) => expect(same(changes, of)).toBe(expected));

  test("is remembered in the slot of the minute in which it ends", () => {
    for (const validUntil of [0, 59, 60, 1_199, 1_200, 1_800_000_300])
      expect(slotOf({ validUntil })).toBe(Math.trunc(validUntil / 60) % SLOTS);
  });
});
