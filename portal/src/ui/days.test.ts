// Goal: a day of a list's filter is the day that the page's times show, and a field of date and time is read as it is shown. Method: known instants, by table, also where clocks change.
import { expect, test } from "vitest";
import { dayBegin, dayEnd, fieldTime, instantOf } from "./days.ts";

test.each([
  ["UTC", "2026-11-27", "2026-11-27T00:00:00Z", "2026-11-27T23:59:59Z"],
  ["Asia/Jakarta", "2026-11-27", "2026-11-26T17:00:00Z", "2026-11-27T16:59:59Z"],
  ["Asia/Kolkata", "2026-11-27", "2026-11-26T18:30:00Z", "2026-11-27T18:29:59Z"],
  ["Asia/Kathmandu", "2026-11-27", "2026-11-26T18:15:00Z", "2026-11-27T18:14:59Z"],
  ["America/St_Johns", "2026-11-27", "2026-11-27T03:30:00Z", "2026-11-28T03:29:59Z"],
  ["Pacific/Apia", "2026-11-27", "2026-11-26T11:00:00Z", "2026-11-27T10:59:59Z"],
  ["Europe/Berlin", "2026-03-28", "2026-03-27T23:00:00Z", "2026-03-28T22:59:59Z"],
  ["Europe/Berlin", "2026-03-29", "2026-03-28T23:00:00Z", "2026-03-29T21:59:59Z"],
  ["Europe/Berlin", "2026-03-30", "2026-03-29T22:00:00Z", "2026-03-30T21:59:59Z"],
  ["Europe/Berlin", "2026-10-25", "2026-10-24T22:00:00Z", "2026-10-25T22:59:59Z"],
  ["Australia/Lord_Howe", "2026-10-04", "2026-10-03T13:30:00Z", "2026-10-04T12:59:59Z"],
  // Midnight is left out, and the day begins at one o'clock; or there are two, and it begins with the first.
  ["America/Santiago", "2026-09-06", "2026-09-06T04:00:00Z", "2026-09-07T02:59:59Z"],
  ["America/Santiago", "2026-04-04", "2026-04-04T03:00:00Z", "2026-04-05T03:59:59Z"],
  ["America/Havana", "2026-11-01", "2026-11-01T04:00:00Z", "2026-11-02T04:59:59Z"],
])("in %s %s is from %s to %s", (zone, day, begin, end) => {
  expect([dayBegin(day, zone), dayEnd(day, zone)]).toEqual([begin, end]);
});

test.each([
  ["Asia/Jakarta", "1970-01-01", "1970-01-01T00:00:00Z", "1970-01-01T16:59:59Z"],
  ["America/New_York", "2199-12-31", "2199-12-31T05:00:00Z", "2199-12-31T23:59:59Z"],
])("in %s %s is no longer than the years that the API knows", (zone, day, begin, end) => {
  expect([dayBegin(day, zone), dayEnd(day, zone)]).toEqual([begin, end]);
});

test.each([
  "",
  "today",
  "2026-11",
  "2026-13-01",
  "2026-02-31",
  "2027-02-29",
  "1969-12-31",
  "12026-01-01",
  "2026-11-27T00:00:00Z",
])("%j is no day and stays", (text) => {
  expect([dayBegin(text, "Asia/Jakarta"), dayEnd(text, "Asia/Jakarta")]).toEqual([text, text]);
});

test.each([
  ["UTC", "2026-12-08T15:23", "2026-12-08T15:23:00Z"],
  ["Asia/Jakarta", "2026-12-08T22:23", "2026-12-08T15:23:00Z"],
  ["Asia/Kathmandu", "2026-12-08T21:08", "2026-12-08T15:23:00Z"],
  ["America/St_Johns", "2026-12-08T11:53", "2026-12-08T15:23:00Z"],
  ["Europe/Berlin", "2026-03-29T01:59", "2026-03-29T00:59:00Z"],
  ["Europe/Berlin", "2026-03-29T03:00", "2026-03-29T01:00:00Z"],
  ["Europe/Berlin", "2026-10-25T01:59", "2026-10-24T23:59:00Z"],
  ["Europe/Berlin", "2026-10-25T03:00", "2026-10-25T02:00:00Z"],
])("in %s the clocks show %s at %s, and a field says so", (zone, shown, instant) => {
  expect([fieldTime(instant, zone), instantOf(shown, zone)]).toEqual([shown, instant]);
});

test("a time that the clocks leave out is as much later, and of one that comes twice the first is meant", () => {
  expect(instantOf("2026-03-29T02:30", "Europe/Berlin")).toBe("2026-03-29T01:30:00Z");
  expect(instantOf("2026-10-25T02:30", "Europe/Berlin")).toBe("2026-10-25T00:30:00Z");
});
