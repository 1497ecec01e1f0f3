// Goal: emitting an event changes the working set and nothing else. Method: the function and a set, without a database.
import { expect, test } from "vitest";
import { systemClock } from "../ground/clock.ts";
import { idOf, newId } from "../ground/ids.ts";
import type { Book } from "../merchants/books.ts";
import { WorkingSet } from "../store/working-set.ts";
import { hostOf } from "./event.ts";
import { dueBooks, emitEvent, markDue } from "./outbox.ts";
import { deliveries, events } from "./outbox.sql.ts";

const book: Book = { merchantId: idOf("merchant", "01900000-0000-7000-8000-000000000001"), environment: "sandbox" };
const url = "https://Shop.example:8443/hook?x=1";
const now = systemClock.now();

/** The set after one event. */
function emitted(to: string | undefined): { set: WorkingSet; eventId: string } {
  const set = new WorkingSet();
  const event = { type: "payment.created", subjectId: undefined, url: to, ownUrl: false, data: { x: 1 } } as const;
  const eventId = emitEvent({ set, book, now, newId: (kind) => newId(kind, now) }, event);
  set.keep();
  return { set, eventId };
}

test("an event is written with its envelope, and a delivery that nobody has yet", () => {
  const { set, eventId } = emitted(url);
  const [event, ...others] = set.inserted(events);
  expect(others).toEqual([]);
  expect(event).toMatchObject({ book, eventId, type: "payment.created", createdAt: now, subjectId: undefined });
  expect(JSON.parse(event?.body ?? "")).toMatchObject({ id: eventId, type: "payment.created", data: { x: 1 } });
  expect(set.inserted(deliveries)).toEqual([{ book, eventId, url, ownUrl: false, nextAttemptAt: now }]);
});

test("without an address there is an event and no delivery", () => {
  const { set } = emitted(undefined);
  expect([set.inserted(events).length, set.inserted(deliveries).length]).toEqual([1, 0]);
});

test("a book that is marked due is in the set once, and nothing of it is written", () => {
  const set = new WorkingSet();
  markDue(set, book);
  set.keep();
  markDue(set, book);
  set.keep();
  expect(set.inserted(dueBooks)).toEqual([book]);
  expect(set.writes()).toEqual([]);
});

test("a host is what stands between the scheme and what follows it, in small letters", () => {
  for (const [address, host] of [
    ["https://a.example", "a.example"],
    ["https://A.Example/", "a.example"],
    ["https://a.example:1?b/c", "a.example:1"],
    ["https://a.example#b", "a.example"],
    ["https://[::1]:8443/x", "[::1]:8443"],
  ] as const)
    expect(hostOf(address)).toBe(host);
});
