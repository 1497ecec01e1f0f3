// Goal: both ends of a range of time are included, in the seconds that bodies show, and nothing beyond them; a page says where the next one begins.
// Method: tables.
import { expect, test } from "vitest";
import { type Micros, parseWireTime, wireTime } from "../ground/clock.ts";
import { page, rangeBefore, rangeFrom } from "./lists.ts";

const microsOf = (text: string): Micros => parseWireTime(text)?.at ?? Number.NaN;

test.each([
  ["2026-11-22", "2026-11-23T00:00:00Z"],
  ["2026-11-22T10:00:00Z", "2026-11-22T10:00:01Z"],
  ["2026-11-22T10:00:00.000Z", "2026-11-22T10:00:01Z"],
  ["2026-11-22T10:00:00.900Z", "2026-11-22T10:00:01Z"],
  ["2026-11-22T10:00:00.999999+07:00", "2026-11-22T03:00:01Z"],
  ["2026-12-31T23:59:59.5Z", "2027-01-01T00:00:00Z"],
])("a range to %s ends before %s", (to, before) => {
  expect(rangeBefore("created_to", to)).toBe(microsOf(before));
});

test("an offset whose + was not escaped is told how it is written in an address, and another mistake is not", () => {
  expect(() => rangeFrom("created_from", "2026-11-22T10:00:00 07:00")).toThrow(/Z\. In an address, write \+ as %2B\.$/);
  expect(() => rangeFrom("created_from", "yesterday")).toThrow(/Z\.$/);
});

test("a range from and to one instant holds what is shown with its second", () => {
  const bound = "2026-11-22T10:00:00.900Z";
  const [from = 0, before = 0] = [rangeFrom("created_from", bound), rangeBefore("created_to", bound)];
  expect([wireTime(from), wireTime(before - 1)]).toEqual(["2026-11-22T10:00:00Z", "2026-11-22T10:00:00Z"]);
});

test.each<[what: string, items: string[], stoppedAt: string | undefined, next: string | null]>([
  ["a whole list", ["c", "b"], undefined, null],
  ["a page of a longer one", ["d", "c", "b"], undefined, "c"],
  ["a search that found enough", ["d", "c", "b"], "a", "c"],
  ["one that stopped behind what it found", ["d"], "b", "b"],
  ["one that found nothing so far", [], "b", "b"],
  ["one whose end moved meanwhile before what it found", ["c", "b"], "d", "b"],
])("%s goes on behind the last item that was looked at", (_, items, stoppedAt, next) => {
  const { body } = page(
    items,
    { limit: "2" },
    (item) => item,
    (item) => item,
    stoppedAt,
  );
  expect(JSON.parse(body)).toMatchObject({ has_more: next !== null, next_cursor: next });
});
