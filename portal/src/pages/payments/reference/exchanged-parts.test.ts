// Goal: an exchange is shown whole and unchanged. Method: text as connectors write them; any JSON, by property, against the platform's own
// way to write it in lines.
import fc from "fast-check";
import { expect, test } from "vitest";
import { inLines, partsOf } from "./exchanged-parts.ts";

test.each<[text: string, parts: [title: string, text: string][]]>([
  [
    '> {"a":1}\n< {"b":2}',
    [
      ["Asked", '{\n  "a": 1\n}'],
      ["Answered", '{\n  "b": 2\n}'],
    ],
  ],
  [
    "> a=1&b=[redacted]\n< no answer after 5 s",
    [
      ["Asked", "a=1&b=[redacted]"],
      ["Answered", "no answer after 5 s"],
    ],
  ],
  ["< (empty)", [["Answered", "(empty)"]]],
  ['> {"cut', [["Asked", '{"cut']]],
  ['{"order_id":"x"}', [["Message", '{\n  "order_id": "x"\n}']]],
  [
    "> a\n< <html>\n< more",
    [
      ["Asked", "a"],
      ["Answered", "<html>\n< more"],
    ],
  ],
  ["", [["Message", ""]]],
])("%o has its parts", (text, parts) => {
  expect(partsOf(text)).toEqual(parts.map(([title, text]) => ({ title, text })));
});

test("any JSON is written in lines as the platform does", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat(3), (value, spaces) => {
      expect(inLines(JSON.stringify(value, null, spaces))).toBe(JSON.stringify(value, null, 2));
    }),
  );
});

test("long numbers keep every digit", () => {
  expect(inLines('{"id":12345678901234567890.10}')).toBe('{\n  "id": 12345678901234567890.10\n}');
});
