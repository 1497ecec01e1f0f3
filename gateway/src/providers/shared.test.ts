// Goal: what all providers share keeps no secret and loses none. Method: the pure parts by tables, and a key's file that changes.
import { mkdtempSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { watchedFile } from "../ground/secret-source.ts";
import { maskedBody, exchangeText } from "./mask.ts";
import { capabilitiesOf, channelOf, commonFields } from "./profile.ts";
import { openSecret, secretSource } from "./secrets.ts";

test.each<[string, string | Buffer, string]>([
  ["keys of JSON", '{"server_key":"k","signature_key":"x","order_id":"1"}', '"order_id":"1"'],
  [
    "a form",
    "payment_intent=pi_1&client_secret=cs&metadata[key]=1",
    "payment_intent=pi_1&client_secret=[redacted]&metadata[key]=1",
  ],
  ["a page", "<html><body>Bad Gateway</body></html>", "<html><body>Bad Gateway</body></html>"],
  ["nothing", "", "(empty)"],
  ["bytes", Buffer.from([0xff, 0xfe, 0x00]), "(3 bytes that are no text)"],
])("%s can be read, without what is secret", (_what, body, shown) => {
  const masked = maskedBody(body);
  expect(masked).toContain(shown);
  expect(masked).not.toMatch(/"k"|"x"|=cs\b/);
});

test("a page that shows the request's headers shows no key", () => {
  const basic = `Basic ${Buffer.from("xnd_production_key_of_a_merchant:").toString("base64")}`;
  const page = `<html><pre>GET /v3/payments\nAuthorization: ${basic}\nHost: api.xendit.co</pre></html>`;
  expect(maskedBody(page)).toBe(page.replace(basic, "[redacted]"));
  expect(maskedBody(JSON.stringify({ debug: `headers: authorization=${basic}` }))).not.toContain(basic.slice(6));
});

test("who paid and how to reach them is left out of what was said", () => {
  const said = exchangeText(
    '{"customer":{"email":"a@b.test","phone":"+628123456789"},"amount":1}',
    Buffer.from('{"payer_name":"Ani"}'),
  );
  expect(said).not.toMatch(/a@b|\+628|Ani/);
  expect(said).toContain('"amount":1');
});

test("a key's file that is replaced is noticed; while it is away, and when it is empty, the key before stays", () => {
  const folder = mkdtempSync(join(tmpdir(), "keys-"));
  const path = join(folder, "key");
  expect(() => openSecret({ file: path })).toThrow(`${path} cannot be read (ENOENT)`);
  writeFileSync(path, "first\n");
  let at = 0;
  const file = watchedFile(path, () => at);
  expect(file.read()).toBe("first\n");
  writeFileSync(join(folder, "next"), "second\nfirst\n");
  renameSync(join(folder, "next"), path);
  expect(file.read()).toBe("first\n");
  at += 2_000;
  expect(file.read()).toBe("second\nfirst\n");
  writeFileSync(path, "");
  at += 2_000;
  expect(file.read()).toBe("second\nfirst\n");
  renameSync(path, join(folder, "gone"));
  at += 2_000;
  expect(file.read()).toBe("second\nfirst\n");
});

test("a key of one line has one before it at most; a key of PEM is one", () => {
  const folder = mkdtempSync(join(tmpdir(), "keys-"));
  const path = join(folder, "key");
  writeFileSync(path, "new\nold\nolder\n");
  const secret = openSecret({ file: path });
  expect([secret.current(), secret.accepted()]).toEqual(["new", ["new", "old"]]);
  const pem = "-----BEGIN PRIVATE KEY-----\nabc\ndef\n-----END PRIVATE KEY-----";
  writeFileSync(path, `${pem}\n`);
  expect(openSecret({ file: path }).current()).toBe(pem);
  expect(() => openSecret({ env: "GERBANG_TEST_NO_SUCH_KEY" })).toThrow("GERBANG_TEST_NO_SUCH_KEY");
  for (const wrong of [{}, { env: "lower" }, { env: "A", file: "b" }, "text"])
    expect(secretSource.safeParse(wrong).success).toBe(false);
});

const methods = commonFields.methods.parse([
  {
    method: "va",
    channels: ["bca", "bni"],
    minimum_minor: 1_000_000,
    maximum_minor: 5_000_000_000,
    cost: { basis_points: 0, flat_minor: 400_000 },
  },
  {
    method: "qris",
    on: false,
    minimum_minor: 100,
    maximum_minor: 1_000_000_000,
    cost: { basis_points: 70, flat_minor: 0 },
  },
]);

test("what is taken is what is switched on, in steps of what the provider can say, and given back where it can", () => {
  expect(
    capabilitiesOf(
      methods,
      () => 100n,
      (method) => method !== "va",
    ),
  ).toEqual([
    {
      method: "va",
      currencies: ["IDR"],
      minimumMinor: 1_000_000n,
      maximumMinor: 5_000_000_000n,
      cost: { basisPoints: 0, flatMinor: 400_000n },
      stepMinor: 100n,
      refunds: false,
    },
  ]);
});

test.each([
  [undefined, "bca"],
  [{ channel: "bni" }, "bni"],
  [{ channel: "ovo" }, "bca"],
])("a payment with metadata %j goes through %s", (metadata, channel) => {
  expect(channelOf(methods, { method: "va", currency: "IDR", metadata })).toBe(channel);
  expect(channelOf(methods, { method: "qris", currency: "IDR", metadata })).toBeUndefined();
});

test("one method in one currency is there once", () => {
  const [one] = methods;
  expect(commonFields.methods.safeParse([one, one]).success).toBe(false);
});
