// Goal: an event is sent again once for each time it is asked for, to today's address, whatever became of it before. Method: the pure commands over
// each state of a delivery; resend.test.ts has the statements, the sending and the races.
import { describe, expect, test } from "vitest";
import { NOW, book, given, merchantWith, row } from "../../test/given.ts";
import type { StoredEvent } from "../events/events.sql.ts";
import { dueBooks } from "../events/outbox.ts";
import { deliveries } from "../events/outbox.sql.ts";
import { type Resendable, resendables } from "../events/resend.sql.ts";
import { SECOND } from "../ground/clock.ts";
import { newId } from "../ground/ids.ts";
import { type Chosen, resendEvent, resendEvents } from "./resend.ts";

const TODAY = "https://shop.test/today";
const OWN = "https://shop.test/own";
const owner = { merchant: merchantWith({}, TODAY), book };
const addressless = { merchant: merchantWith(), book };
type Held = NonNullable<Resendable["delivery"]>;

const before: Held = {
  state: "delivered",
  url: "https://shop.test/before",
  attempts: 1,
  nextAttemptAt: NOW - 60 * SECOND,
  leased: false,
  byHand: 0,
  resendOf: undefined,
};

/** An event whose delivery is as `delivery` says, or that has none. */
function anEvent(delivery: Partial<Held> | undefined = {}, callbackUrl?: string): Resendable {
  const eventId = newId("event", NOW);
  return { book, eventId, callbackUrl, delivery: delivery && { ...before, ...delivery } };
}
const without = (callbackUrl?: string): Resendable => ({ ...anEvent({}, callbackUrl), delivery: undefined });
const stored = ({ eventId, delivery }: Resendable): StoredEvent => ({ book, eventId, body: "{}", delivery });
const start = (...all: Resendable[]) => given({ rows: all.map((event) => row(resendables, event)) });

describe("one event", () => {
  test("of the other environment is not sent by this one's key, and one that is not there is not found", () => {
    const event = anEvent();
    const live = { ...stored(event), book: { ...book, environment: "production" } } as const;
    start(event).when(resendEvent(owner, live)).refuses("ENVIRONMENT_MISMATCH");
    start()
      .when(resendEvent(owner, stored(event)))
      .refuses("OBJECT_NOT_FOUND");
    start().when(resendEvent(owner, undefined)).refuses("OBJECT_NOT_FOUND");
  });

  test.each(["delivered", "undelivered"] as const)("that is %s is due now, at today's address", (state) => {
    const event = anEvent({ state });
    start(event)
      .when(resendEvent(owner, stored(event)))
      .then((changes, answer) => {
        const due = { state: "pending", url: TODAY, attempts: 1, nextAttemptAt: NOW, resendOf: state, byHand: 0 };
        expect(changes.updated(resendables)).toMatchObject([{ delivery: due }]);
        expect(changes.inserted(dueBooks)).toEqual([book]);
        expect(answer).toMatchObject({ eventId: event.eventId, delivery: { state: "pending", nextAttemptAt: NOW } });
      });
  });

  test.each([
    ["ahead of its schedule: the attempt is none of the schedule's", NOW + 1, NOW, 3],
    ["due now: it is the schedule's own", NOW, NOW, 2],
    ["overdue: it stays so", NOW - SECOND, NOW - SECOND, 2],
  ])("that waits, %s", (_what, nextAttemptAt, dueAt, byHand) => {
    const event = anEvent({ state: "pending", nextAttemptAt, byHand: 2 });
    start(event)
      .when(resendEvent(owner, stored(event)))
      .then((changes) => {
        const due = { state: "pending", url: TODAY, nextAttemptAt: dueAt, byHand, resendOf: undefined };
        expect(changes.updated(resendables)).toMatchObject([{ delivery: due }]);
      });
  });

  test("that a worker is sending is left to it", () => {
    const event = anEvent({ leased: true });
    start(event)
      .when(resendEvent(owner, stored(event)))
      .then((changes, answer) => {
        expect(changes.updated(resendables)).toEqual([]);
        expect(answer.delivery).toMatchObject({ state: "pending", url: before.url });
      });
  });

  test("goes to its payment's own address, if it has one, and nowhere without any", () => {
    const event = anEvent({}, OWN);
    const { changes } = start(event).when(resendEvent(owner, stored(event)));
    expect(changes.updated(resendables)).toMatchObject([{ delivery: { url: OWN } }]);
    const lost = anEvent();
    start(lost)
      .when(resendEvent(addressless, stored(lost)))
      .refuses("OBJECT_NOT_FOUND", { event_id: lost.eventId });
  });

  test("is tried so often that the schedule's own attempts still find room", () => {
    const last = anEvent({ attempts: 991 });
    expect(
      start(last)
        .when(resendEvent(owner, stored(last)))
        .changes.updated(resendables),
    ).toHaveLength(1);
    const spent = anEvent({ attempts: 992 });
    start(spent)
      .when(resendEvent(owner, stored(spent)))
      .refuses("VALIDATION_ERROR");
  });

  test.each([
    [undefined, TODAY, false],
    [OWN, OWN, true],
  ])("that had nowhere to go gets one delivery, however often it is asked for: to %s", (callbackUrl, url, ownUrl) => {
    const event = without(callbackUrl);
    const moved = { merchant: merchantWith({}, "https://shop.test/since"), book };
    start(event)
      .when(resendEvent(owner, stored(event)))
      .when(resendEvent(moved, stored(event)), NOW + SECOND)
      .then((changes, answer) => {
        const made = { book, eventId: event.eventId, url, ownUrl, nextAttemptAt: NOW };
        expect(changes.inserted(deliveries)).toEqual([made]);
        expect(answer.delivery).toEqual({ state: "pending", attempts: 0, url, nextAttemptAt: NOW });
      });
  });
});

describe("several events", () => {
  const named = (...eventIds: string[]): Chosen => ({ eventIds, elsewhere: new Set() });
  const found = (state: "delivered" | "undelivered" | "all", ...all: Resendable[]): Chosen => ({
    found: all.map(({ eventId }) => eventId),
    state,
  });

  test("that are named are sent all or none", () => {
    const [good, spent] = [anEvent(), anEvent({ attempts: 992 })];
    const both = start(good, spent).when(resendEvents(owner, named(good.eventId, spent.eventId)));
    both.refuses("VALIDATION_ERROR");
    const missing = newId("event", NOW);
    start(good)
      .when(resendEvents(owner, named(good.eventId, missing)))
      .refuses("OBJECT_NOT_FOUND", { event_id: missing });
    const chosen = { eventIds: [good.eventId, missing], elsewhere: new Set([missing]) };
    start(good).when(resendEvents(owner, chosen)).refuses("ENVIRONMENT_MISMATCH", { event_id: missing });
    const other = anEvent({ state: "undelivered" });
    const all = start(good, other).when(resendEvents(owner, named(good.eventId, other.eventId)));
    expect([all.answer, all.changes.updated(resendables).length]).toEqual([2, 2]);
    expect(all.changes.inserted(dueBooks)).toEqual([book]);
  });

  test("that were found are sent as far as they can be, and those in another state by now are left", () => {
    const [late, delivered, spent] = [anEvent({ state: "undelivered" }), anEvent(), anEvent({ attempts: 992 })];
    const all = start(late, delivered, spent);
    const undelivered = all.when(resendEvents(owner, found("undelivered", late, delivered, without())));
    expect(undelivered.answer).toBe(1);
    expect(undelivered.changes.updated(resendables)).toMatchObject([{ eventId: late.eventId }]);
    expect(start(late, delivered, spent).when(resendEvents(owner, found("all", late, delivered, spent))).answer).toBe(
      2,
    );
  });

  test("that were found, and of which none can be sent, are refused", () => {
    const [one, two] = [anEvent(), anEvent()];
    start(one, two)
      .when(resendEvents(addressless, found("all", one, two)))
      .refuses("OBJECT_NOT_FOUND");
    expect(start(one).when(resendEvents(owner, found("undelivered", one))).answer).toBe(0);
  });
});
