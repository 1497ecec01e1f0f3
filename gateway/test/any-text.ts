// Text of any characters, for properties.
import fc from "fast-check";

/** Every code point but the halves of surrogate pairs. fast-check's own "binary" takes a second of each process to build its alphabet. */
const character = fc
  .oneof(
    fc.integer({ min: 0, max: 0x7f }),
    fc.integer({ min: 0x80, max: 0xd7ff }),
    fc.integer({ min: 0xe000, max: 0x10ffff }),
  )
  .map((point) => String.fromCodePoint(point));

/** Strings of any Unicode characters. Lengths are counted in characters. */
export const anyText = (lengths: { minLength?: number; maxLength?: number } = {}): fc.Arbitrary<string> =>
  fc.string({ unit: character, ...lengths });
