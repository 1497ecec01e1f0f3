// Goal: what the audit keeps of a body is useful, short and without a secret. Method: properties over any JSON, and examples.
import fc from "fast-check";
import { expect, test } from "vitest";
import { anyText } from "../../test/any-text.ts";
import { BODY_MAX_BYTES, keptBody } from "./audit.ts";

test("whatever is sent, what is kept is JSON of at most 16 KiB without a secret", () => {
  const secret = "sk_test_0123456789abcdefghjkmnpq";
  const leaf = fc.oneof(anyText({ maxLength: 4_000 }), fc.constant(secret), fc.integer());
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 6 },
      leaf,
      fc.array(tie("tree"), { maxLength: 6 }),
      fc.dictionary(fc.oneof(fc.string(), fc.constantFrom("secret", "token", secret)), tie("tree"), { maxKeys: 6 }),
    ),
  }));
  fc.assert(
    fc.property(fc.dictionary(fc.string({ maxLength: 20 }), tree, { maxKeys: 30 }), (body) => {
      const kept = keptBody(body) ?? "";
      expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(BODY_MAX_BYTES);
      expect(kept).not.toContain(secret);
      JSON.parse(kept);
    }),
  );
  let deep: unknown = secret;
  for (let at = 0; at < 1_900; at++) deep = at % 2 === 0 ? [deep] : { deep };
  expect(keptBody({ deep })).not.toContain(secret);
});

test.each([
  [undefined, null],
  [{}, "{}"],
  [
    { secret: "a", token: { b: 1 }, api_key: 5, keyboard: "c" },
    { secret: "(secret)", token: "(secret)", api_key: "(secret)", keyboard: "c" },
  ],
  [{ name: ["whsec_x", "key sk_live_1"] }, { name: ["(secret)", "(secret)"] }],
  [{ payer: { email: "sari@pelanggan.id" } }, { payer: "(personal)" }],
  [{ name: "task_test_1" }, { name: "task_test_1" }],
  [{ name: "op_4f8k2m7q1x9v5c3b6n0zt2w8h5rd7yje" }, { name: "(secret)" }],
  [
    { name: "shop_12345678", note: "op_hands" },
    { name: "shop_12345678", note: "op_hands" },
  ],
  [{ url: "https://a.example/hook?token=b#c" }, { url: "https://a.example/hook?(secret)" }],
  [{ url: " HTTPS://me:pass@a.example/@b" }, { url: " HTTPS://(secret)@a.example/@b" }],
  [{ name: "Who? Me" }, { name: "Who? Me" }],
])("of %j is kept %j", (body, kept) => {
  expect(keptBody(body)).toBe(typeof kept === "object" && kept !== null ? JSON.stringify(kept) : kept);
});

test("of a body that is too long the short fields stay, or its size when there are too many", () => {
  expect(keptBody({ note: "x".repeat(20_000), suspended: true })).toBe(
    '{"note":"(left out: 20002 bytes)","suspended":true}',
  );
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`field_${at}`, at]));
  expect(keptBody(many)).toMatch(/^\{"left_out":"\d+ bytes"\}$/);
});
