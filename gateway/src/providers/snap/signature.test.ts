// Goal: our signatures are those of the standard. Method: vectors that DOKU's official client computed, and one change at a time.
import { expect, test } from "vitest";
import { privatePem, publicPem, vectors } from "../../../test/snap-keys.ts";
import {
  isSignedByHmac,
  isSignedByRsa,
  minified,
  privateKeyOf,
  publicKeyOf,
  signedByHmac,
  signedByRsa,
  tokenText,
  transactionText,
} from "./signature.ts";
import { computing, slowness } from "../../../test/slowness.ts";

const { clientId, timestamp, tokenSignature, secret, token, method, path, body, transactionSignature } = vectors;
const request = { method, path, token, body, timestamp };

test("a text that nobody closed is read once, to its end", () => {
  // From each of its quotes anew, it took 22 s: before any signature is compared, and for whoever sends it.
  const unclosed = `{ "a" : "${'\\"'.repeat(125_000)}`;
  const took = computing(() => {
    expect(minified(unclosed)).toBe(unclosed.replace('{ "a" : ', '{"a":'));
    expect(minified(`${unclosed}\\`)).toHaveLength(minified(unclosed).length + 1);
  });
  expect(took).toBeLessThan(2_000 * slowness());
});

test("the signature of a request for a token is the official client's", () => {
  expect(signedByRsa(privateKeyOf(privatePem), tokenText(clientId, timestamp))).toBe(tokenSignature);
  expect(isSignedByRsa(publicKeyOf(publicPem), tokenText(clientId, timestamp), tokenSignature)).toBe(true);
});

test("the signature of a transaction is the official client's", () => {
  expect(signedByHmac(secret, transactionText(request))).toBe(transactionSignature);
  expect(isSignedByHmac(secret, transactionText(request), transactionSignature)).toBe(true);
});

test.for([
  ["method", { method: "GET" }],
  ["path", { path: `${path}?a=1` }],
  ["token", { token: "another" }],
  ["body", { body: body.replace("11500.00", "11501.00") }],
  ["moment", { timestamp: "2026-11-23T21:00:01+07:00" }],
  ["token left out", { token: undefined }],
] as const)("another %s is another signature", ([, change]) => {
  expect(isSignedByHmac(secret, transactionText({ ...request, ...change }), transactionSignature)).toBe(false);
});

test("a transaction under RSA has no token in what is signed", () => {
  expect(transactionText({ ...request, token: undefined }).split(":").length).toBe(
    transactionText({ ...request, token: "t" }).split(":").length - 1,
  );
});

test.for([
  ['{ "a" : 1,\n\t"b": [ 1, 2 ] }', '{"a":1,"b":[1,2]}'],
  ['{"name": "Toko  Kopi \\" \\\\ x"}', '{"name":"Toko  Kopi \\" \\\\ x"}'],
  ['{"a":"\\u0061\\/b", "n": 9007199254740993.00}', '{"a":"\\u0061\\/b","n":9007199254740993.00}'],
  ['{"a":"line\\nbreak"}\n', '{"a":"line\\nbreak"}'],
  ["", ""],
] as const)("white space between the parts of %j is not signed", ([given, expected]) => {
  expect(minified(given)).toBe(expected);
});

test("white space between the parts does not change a signature, and within a text it does", () => {
  const spread = JSON.stringify(JSON.parse(body), null, 2);
  expect(transactionText({ ...request, body: spread })).toBe(transactionText(request));
  expect(transactionText({ ...request, body: body.replace("Toko Kopi", "TokoKopi") })).not.toBe(
    transactionText(request),
  );
});

test.for([["", "a", "%%%", `${"A".repeat(342)}==`, "x".repeat(10_000), tokenSignature.slice(1)]].flat())(
  "%j is no signature by RSA",
  (signature) => {
    expect(isSignedByRsa(publicKeyOf(publicPem), tokenText(clientId, timestamp), signature)).toBe(false);
  },
);

test("what is no key of RSA is refused without being quoted", () => {
  for (const text of ["", "secret words", privatePem.replace("A", "!")]) {
    expect(() => privateKeyOf(text)).toThrow("is no private key in PEM");
  }
  expect(() => publicKeyOf("secret words")).toThrow("is no public key in PEM");
});
