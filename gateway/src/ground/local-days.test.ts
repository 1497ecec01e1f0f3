// Goal: days begin when the clocks of their zone say so, also where these are put forward or back. Method: known midnights, by table.
import { expect, test } from "vitest";
import { SECOND, parseWireTime, wireTime } from "./clock.ts";
import { hourStarts, localDayStarts } from "./local-days.ts";

const at = (text: string): number => parseWireTime(text)?.at ?? Number.NaN;

test.each([
  ["Asia/Jakarta", "2026-11-23T16:59:59Z", ["2026-11-21T17:00:00Z", "2026-11-22T17:00:00Z"]],
  ["Asia/Jakarta", "2026-11-23T17:00:00Z", ["2026-11-22T17:00:00Z", "2026-11-23T17:00:00Z"]],
  ["Asia/Kolkata", "2026-11-23T12:00:00Z", ["2026-11-21T18:30:00Z", "2026-11-22T18:30:00Z"]],
  ["Asia/Kathmandu", "2026-11-23T18:14:59Z", ["2026-11-21T18:15:00Z", "2026-11-22T18:15:00Z"]],
  ["Asia/Kathmandu", "2026-11-23T18:15:00Z", ["2026-11-22T18:15:00Z", "2026-11-23T18:15:00Z"]],
  ["America/St_Johns", "2026-11-02T12:00:00Z", ["2026-11-01T02:30:00Z", "2026-11-02T03:30:00Z"]],
  ["Pacific/Apia", "2026-11-23T12:00:00Z", ["2026-11-22T11:00:00Z", "2026-11-23T11:00:00Z"]],
  ["Australia/Lord_Howe", "2026-10-05T12:00:00Z", ["2026-10-03T13:30:00Z", "2026-10-04T13:00:00Z"]],
  ["UTC", "2026-11-23T12:00:00Z", ["2026-11-22T00:00:00Z", "2026-11-23T00:00:00Z"]],
  ["Europe/Berlin", "2026-03-29T12:00:00Z", ["2026-03-27T23:00:00Z", "2026-03-28T23:00:00Z"]],
  ["Europe/Berlin", "2026-03-30T12:00:00Z", ["2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"]],
  ["Europe/Berlin", "2026-10-26T12:00:00Z", ["2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"]],
  ["JST", "2026-11-23T12:00:00Z", ["2026-11-21T15:00:00Z", "2026-11-22T15:00:00Z"]], // a name that Intl knows alone
  ["America/Santiago", "2026-09-06T12:00:00Z", ["2026-09-05T04:00:00Z", "2026-09-06T04:00:00Z"]],
])("in %s the two days before %s began at %j", (zone, now, starts) => {
  expect(localDayStarts(zone, at(now), 2).map(wireTime)).toEqual(starts);
});

test("days of every zone begin at a quarter of an hour in UTC, as payments are counted", () => {
  const QUARTER = 900 * SECOND;
  for (const zone of Intl.supportedValuesOf("timeZone")) {
    const starts = [1, 4, 7, 10].flatMap((month) =>
      localDayStarts(zone, at(`2026-${String(month).padStart(2, "0")}-15T12:00:00Z`), 30),
    );
    expect(
      starts.filter((start) => start % QUARTER !== 0),
      zone,
    ).toEqual([]);
  }
});

test("the last of the hours is the one that runs", () => {
  expect(hourStarts(at("2026-11-23T12:34:56Z"), 2).map(wireTime)).toEqual([
    "2026-11-23T11:00:00Z",
    "2026-11-23T12:00:00Z",
  ]);
});
