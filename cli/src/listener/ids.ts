// Ids of events, as far as a listener reads them: their format, and the time in each. Pure.

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

export const isEventId = (value: unknown): value is string =>
  typeof value === "string" && /^evt_[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(value);

/** The least id of the millisecond of an id: every event of that moment comes after it. */
export const justBefore = (id: string): string => `${id.slice(0, -16)}${"0".repeat(16)}`;

/** Unix milliseconds: the first 48 of the 128 bits of an id, whose first character holds three. */
export function momentOf(id: string): number {
  let value = 0n;
  for (const character of id.slice(-26)) value = value * 32n + BigInt(alphabet.indexOf(character));
  return Number(value >> 80n);
}
