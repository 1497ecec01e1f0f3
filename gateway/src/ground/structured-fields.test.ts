// Goal: a dictionary of RFC 8941 is read as the standard says, and what is not in its one spelling is refused in little time. Method: tables of
// good and malformed texts; properties: what is written anew is what was read, and whatever comes is answered.
import fc from "fast-check";
import { expect, test } from "vitest";
import { innerListText, parseDictionary } from "./structured-fields.ts";
import { computing, slowness } from "../../test/slowness.ts";

const BOUNDS = { characters: 400, members: 3, itemsOfList: 4, parameters: 3 };
const read = (text: string) => parseDictionary(text, BOUNDS);

/** The dictionary written anew, or "malformed". */
function rewritten(text: string): string {
  const members = read(text);
  if (!members) return "malformed";
  return [...members]
    .map(([key, member]) => `${key}=${member.kind === "list" ? innerListText(member.list) : member.item.bare.text}`)
    .join(", ");
}

test.each([
  ["one list", 'sig1=("@method" "@path");created=1;keyid="a"', 'sig1=("@method" "@path");created=1;keyid="a"'],
  ["spaces where they may be", ' a=( "x"  "y" ); b=1 ,\tc=:AAAA: ', 'a=("x" "y");b=1, c=:AAAA:'],
  ["an empty list", "a=()", "a=()"],
  ["parameters of items", 'a=("x";sf "y";key="z")', 'a=("x";sf "y";key="z")'],
  ["a parameter that is true", "a=(1);b=?1;c;d=?0", "a=(1);b;c;d=?0"],
  ["every kind of item", 'a=("s" tok*en/: -1 1.5), b=?1, c=:3q0=:', 'a=("s" tok*en/: -1 1.5), b=?1, c=:3q0=:'],
  ["a member without a value", "a, b=1", "a=?1, b=1"],
  ["escapes", String.raw`a="\"\\"`, String.raw`a="\"\\"`],
  ["a decimal", "a=0.0, b=-1.125", "a=0.0, b=-1.125"],
  ["fifteen digits", "a=999999999999999", "a=999999999999999"],
])("%s is read", (_name, text, expected) => {
  expect(rewritten(text)).toBe(expected);
});

test.each([
  ["nothing", ""],
  ["spaces", "  "],
  ["a key in capitals", "A=1"],
  ["a key of another alphabet", "é=1"],
  ["a key that begins with a digit", "1=1"],
  ["a key of 65 characters", `${"a".repeat(65)}=1`],
  ["a key twice", "a=1, a=2"],
  ["a parameter twice", "a=1;b=1;b=2"],
  ["no value behind the sign", "a="],
  ["a comma at the end", "a=1,"],
  ["a comma too many", "a=1,,b=2"],
  ["no comma", "a=1 b=2"],
  ["a tab at the end", "a=1\t"],
  ["a space before the semicolon", "a=1 ;b"],
  ["an open list", 'a=("x"'],
  ["a list in a list", "a=((1))"],
  ["items without a space", 'a=("x""y")'],
  ["a comma in a list", 'a=("x", "y")'],
  ["an open text", 'a="x'],
  ["a text with another escape", String.raw`a="\n"`],
  ["a text with a new line", 'a="\n"'],
  ["a text beyond ASCII", 'a="é"'],
  ["bytes without their end", "a=:AAAA"],
  ["bytes that are no base64", "a=:A-_A:"],
  ["bytes without padding", "a=:AA:"],
  ["bytes with loose bits", "a=:AB==:"],
  ["a leading zero", "a=01"],
  ["minus zero", "a=-0"],
  ["minus zero as a decimal", "a=-0.0"],
  ["sixteen digits", "a=1234567890123456"],
  ["a decimal with a zero too many", "a=1.50"],
  ["a decimal with four places", "a=1.1234"],
  ["an exponent", "a=1e3"],
  ["a plus sign", "a=+1"],
  ["another boolean", "a=?2"],
  ["a date", "a=@1659578233"],
  ["single quotes", "a='x'"],
  ["a new line", "a=1\r\nb=2"],
  ["a NUL", "a=1\0"],
  ["a member too many", "a, b, c, d"],
  ["an item too many", "a=(1 2 3 4 5)"],
  ["a parameter too many", "a;b;c;d;e"],
  ["a character too many", `a="${"x".repeat(400)}"`],
  ["the prototype", "__proto__=1"],
])("%s is malformed", (_name, text) => {
  expect(rewritten(text)).toBe("malformed");
});

test("whatever comes is read or refused, and what is written anew is read as the same", () => {
  const text = fc.oneof(
    fc.string(),
    fc
      .array(fc.constantFrom("a", "b", "=", "(", ")", '"x"', ";", ",", " ", ":AAAA:", "1", "?1", "\t", "*"))
      .map((parts) => parts.join("")),
  );
  fc.assert(
    fc.property(text, (text) => {
      const once = rewritten(text);
      if (once === "malformed" || /;/.test(once)) return;
      expect(rewritten(once)).toBe(once);
    }),
    { numRuns: 2_000 },
  );
});

test("length costs little", () => {
  const many = { characters: 100_000, members: 10, itemsOfList: 10, parameters: 10 };
  const took = computing(() => {
    for (const part of ["(", '"', ":", ";a", " ", "\t", "a=", '\\"', ", "])
      parseDictionary(`a=${part.repeat(100_000 / part.length - 2)}`, many);
  });
  expect(took).toBeLessThan(500 * slowness());
});
