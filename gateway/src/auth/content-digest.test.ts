// Goal: a Content-Digest is believed only when it is that of the bytes that arrived. Method: the examples of RFC 9530 and RFC 9421; a table of
// wrong ones; every single bit of generated bodies.
import fc from "fast-check";
import { expect, test } from "vitest";
import { contentDigest, digestProblem } from "./content-digest.ts";

const HELLO = '{"hello": "world"}';
const sha256 = "sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:";
const sha512 = "sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:";
const ofLine256 = "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:";
const ofLine512 = "sha-512=:YMAam51Jz/jOATT6/zvHrLVgOYTGFy1d6GJiOHTohq4yP+pgk4vf2aCsyRZOtw8MjkM7iw7yZ/WkppmM44T3qg==:";
const ofNothing = "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:";

test.each([
  ["RFC 9421, appendix B.2, sha-256", sha256, HELLO, undefined],
  ["RFC 9421, appendix B.2, sha-512", sha512, HELLO, undefined],
  ["RFC 9530, appendix B, sha-256", ofLine256, `${HELLO}\n`, undefined],
  ["RFC 9530, appendix B, sha-512", ofLine512, `${HELLO}\n`, undefined],
  ["the empty body", ofNothing, "", undefined],
  ["two that are right", `${sha256}, ${sha512}`, HELLO, undefined],
  ["one that is right beside an unknown one", `md5=:AAAA:, ${sha256}`, HELLO, undefined],
  ["of another body", sha256, `${HELLO}\n`, "digest_differs"],
  ["of no body", ofNothing, HELLO, "digest_differs"],
  ["the second of two is wrong", `${sha256}, ${ofLine512}`, HELLO, "digest_differs"],
  ["the first of two is wrong", `${ofLine256}, ${sha512}`, HELLO, "digest_differs"],
  ["cut short", "sha-256=:AAAA:", HELLO, "digest_differs"],
  ["one algorithm's digest under another's name", sha256.replace("256", "512"), HELLO, "digest_differs"],
  ["only an unknown algorithm", "sha-384=:AAAA:", HELLO, "digest_unknown"],
  ["absent", "", HELLO, "digest_malformed"],
  ["the same twice", `${sha256}, ${sha256}`, HELLO, "digest_malformed"],
  ["in capitals", sha256.replace("sha", "SHA"), HELLO, "digest_malformed"],
  ["as the older header Digest has it", sha256.replaceAll(":", ""), HELLO, "digest_malformed"],
  ["a text", `sha-256="${"a".repeat(43)}="`, HELLO, "digest_malformed"],
  ["with a parameter", `${sha256};a=1`, HELLO, "digest_malformed"],
  ["a list", "sha-256=(:AAAA:)", HELLO, "digest_malformed"],
  ["a thousand of them", Array.from({ length: 1_000 }, (_, n) => `x${n}=:AAAA:`).join(", "), HELLO, "digest_malformed"],
])("%s", (_name, header, body, expected) => {
  expect(digestProblem(header, Buffer.from(body))).toBe(expected);
});

test("the digest of any body is its own, and not that of a body with another bit", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 100 }), fc.nat(), (body, flip) => {
      const header = contentDigest(body);
      expect(digestProblem(header, Buffer.from(body))).toBeUndefined();
      const changed = Buffer.from(body);
      const at = flip % changed.length;
      changed[at] = (changed[at] ?? 0) ^ (1 << (flip % 8));
      expect(digestProblem(header, changed)).toBe("digest_differs");
    }),
  );
});
