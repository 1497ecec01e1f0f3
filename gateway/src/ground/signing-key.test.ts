// Goal: our HMAC is everybody's HMAC. Method: against Node's, over keys and messages of any length, in one part and in several; and RFC 4231's vectors.
import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { anyText } from "../../test/any-text.ts";
import fc from "fast-check";
import { SigningKey } from "./signing-key.ts";

const bytes = (maxLength: number) => fc.uint8Array({ maxLength });

test("equals Node's for every key, message, division into parts and encoding", () => {
  const encodings = ["hex", "base64", "base64url"] as const;
  const part = fc.oneof(bytes(300), anyText({ maxLength: 200 }));
  fc.assert(
    fc.property(bytes(200), fc.array(part, { maxLength: 4 }), fc.constantFrom(...encodings), (key, parts, encoding) => {
      const theirs = createHmac("sha256", key);
      for (const each of parts) theirs.update(each);
      const ours = new SigningKey(key);
      const expected = theirs.digest(encoding);
      expect(ours.sign(encoding, ...parts)).toBe(expected);
      // The key keeps nothing of a message.
      ours.sign("hex", "another message");
      expect(ours.sign(encoding, ...parts)).toBe(expected);
    }),
  );
});

test.each([
  ["0b".repeat(20), "Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"],
  [
    Buffer.from("Jefe").toString("hex"),
    "what do ya want for nothing?",
    "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
  ],
  [
    "aa".repeat(131),
    "Test Using Larger Than Block-Size Key - Hash Key First",
    "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
  ],
])("RFC 4231: key %s", (key, message, mac) => {
  expect(new SigningKey(Buffer.from(key, "hex")).sign("hex", message)).toBe(mac);
});

test("a key that is text is its UTF-8", () => {
  expect(new SigningKey("sk_ü").sign("hex", "")).toBe(createHmac("sha256", "sk_ü").update("").digest("hex"));
});
