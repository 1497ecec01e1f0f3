// Goal: what this process dispatches directly overtakes nothing, and is sent or given back once, never before the commit. Method: working
// sets as the lanes hand them over, with events emitted into them; an example of each rule, then random steps counted by hand.
import fc from "fast-check";
import { expect, test } from "vitest";
import { emitEvent, markDue } from "../events/outbox.ts";
import { deliveries } from "../events/outbox.sql.ts";
import { type Micros, SECOND, systemClock } from "../ground/clock.ts";
import { idOf, newId, uuidOf } from "../ground/ids.ts";
import { type Book, bookClocks } from "../merchants/books.ts";
import { WorkingSet } from "../store/working-set.ts";
import { LocalDispatcher } from "./local-dispatcher.ts";

const book: Book = { merchantId: idOf("merchant", "01900000-0000-7000-8000-000000000001"), environment: "sandbox" };
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const now: Micros = systemClock.now();
const LEASE_MS = 12_000;
const finish = (set: WorkingSet, ending: "committed" | "unknown"): void => {
  for (const hook of set.hooksAfter(ending)) hook();
};

/** A dispatcher whose surroundings are these, and what became of the deliveries, by the identities of their events. */
function rig() {
  const state = {
    capacity: true,
    full: false,
    places: 1_000,
    sent: [] as string[],
    givenBack: [] as string[],
    notified: [] as Book[],
  };
  const id = (uuid: string): string => idOf("event", uuid);
  const dispatcher = new LocalDispatcher({
    clock: { now: () => now },
    leaseMs: LEASE_MS,
    hasCapacity: () => state.capacity,
    isFull: () => state.full,
    send: ({ row }) => state.places-- > 0 && state.sent.push(id(row.event_id)) > 0,
    giveBack: ({ row }) => state.givenBack.push(id(row.event_id)),
    notify: (due) => state.notified.push(due),
  });
  return { dispatcher, state };
}

/** A batch that emits events to these hosts, one after another, after the hook has run. */
function batch(
  dispatcher: LocalDispatcher,
  hosts: readonly string[],
  of = book,
): { set: WorkingSet; ids: string[]; leased: string[] } {
  const set = new WorkingSet();
  const ids = hosts.map((host) => {
    const event = {
      type: "payment.created",
      subjectId: undefined,
      url: `https://${host}/x`,
      ownUrl: false,
      data: {},
    } as const;
    return emitEvent({ set, book: of, now, newId: (kind) => newId(kind, now) }, event);
  });
  set.keep();
  dispatcher.dispatch(set);
  set.keep();
  const leased = set.inserted(deliveries).flatMap(({ eventId, lease }) => (lease ? [eventId] : []));
  return { set, ids, leased };
}

const leases = (dispatcher: LocalDispatcher, host = "a", of = book): boolean =>
  batch(dispatcher, [host], of).leased.length > 0;

test("nothing is leased in a queue that was never observed empty, that has no capacity, or that deliveries wait in", () => {
  const { dispatcher, state } = rig();
  expect(leases(dispatcher)).toBe(false);
  dispatcher.observed(book, "a", false);
  expect(leases(dispatcher)).toBe(true);
  expect(leases(dispatcher, "b")).toBe(false);
  expect(leases(dispatcher, "a", { ...book, environment: "production" })).toBe(false);
  dispatcher.observed(book, "a", true);
  expect(leases(dispatcher)).toBe(false);
  dispatcher.observed(book, "a", false);
  state.capacity = false;
  expect(leases(dispatcher)).toBe(false);
  // That delivery waits in the database now: nothing passes it until it was observed that none waits.
  state.capacity = true;
  expect(leases(dispatcher)).toBe(false);
  dispatcher.observed(book, "a", false);
  expect(leases(dispatcher)).toBe(true);
});

test("an observation that began before a delivery came to wait does not say that none waits", () => {
  const { dispatcher, state } = rig();
  dispatcher.observed(book, "a", false);
  const observation = dispatcher.beginObservation();
  state.capacity = false;
  expect(leases(dispatcher)).toBe(false); // this one waits in the database, unseen by that observation
  state.capacity = true;
  dispatcher.observed(book, "a", false, observation);
  expect(leases(dispatcher)).toBe(false);
  dispatcher.observed(book, "a", false, dispatcher.beginObservation());
  expect(leases(dispatcher)).toBe(true);
});

test("a leased delivery is written with its lease and sent after the commit, in order and a few a turn, with the book's clock", async () => {
  const { dispatcher, state } = rig();
  dispatcher.observed(book, "a", false);
  const { set, ids } = batch(
    dispatcher,
    Array.from({ length: 40 }, () => "a"),
  );
  const written = set.inserted(deliveries);
  expect(new Set(written.map(({ lease }) => lease?.until))).toEqual(new Set([now + (LEASE_MS / 1_000) * SECOND]));
  expect(set.writes().map(({ statement }) => statement).length).toBeGreaterThan(0);
  await turn();
  expect(state.sent).toEqual([]);
  finish(set, "committed");
  expect(state.sent).toEqual([]);
  await turn();
  expect(state.sent).toEqual(ids.slice(0, 16));
  await turn();
  await turn();
  expect(state.sent).toEqual(ids);
  expect(state.notified).toEqual([]);
});

test("what is sent directly is what a claim would have found", async () => {
  const rows: unknown[] = [];
  const dispatcher = new LocalDispatcher({
    clock: { now: () => now },
    leaseMs: LEASE_MS,
    hasCapacity: () => true,
    isFull: () => false,
    send: ({ row, ...others }) => rows.push({ ...row, ...others }) > 0,
    giveBack: () => undefined,
    notify: () => undefined,
  });
  dispatcher.observed(book, "shop.example:8443", false);
  const set = new WorkingSet();
  set.put(bookClocks, { book, offsetSeconds: 60 });
  const url = "https://Shop.example:8443/hook?x=1";
  const at = now + 60 * SECOND;
  const event = { type: "refund.failed", subjectId: undefined, url, ownUrl: true, data: { x: 1 } } as const;
  const eventId = emitEvent({ set, book, now: at, newId: (kind) => newId(kind, at) }, event);
  set.keep();
  dispatcher.dispatch(set);
  set.keep();
  const token = set.inserted(deliveries)[0]?.lease?.token;
  finish(set, "committed");
  await turn();
  expect(rows).toEqual([
    {
      merchant_id: uuidOf(book.merchantId),
      environment: "sandbox",
      event_id: uuidOf(eventId),
      url,
      own_url: true,
      host: "shop.example:8443",
      attempts: 0,
      by_hand: 0,
      resend_of: null,
      type: "refund.failed",
      body: expect.stringContaining('"data":{"x":1}'),
      event_created_at: now + 60 * SECOND,
      next_attempt_at: now + 60 * SECOND,
      clock_offset_seconds: 60n,
      merchantUuid: uuidOf(book.merchantId),
      token,
      claimedAt: now,
    },
  ]);
});

test("for the others their books are notified after the commit, unless a claim would find no capacity", () => {
  const { dispatcher, state } = rig();
  const { set } = batch(dispatcher, ["a"]);
  expect(state.notified).toEqual([]);
  finish(set, "committed");
  expect(state.notified).toEqual([book]);
  finish(batch(dispatcher, ["a"]).set, "unknown");
  expect(state.notified).toEqual([book]);
  state.full = true;
  finish(batch(dispatcher, ["a"]).set, "committed");
  expect(state.notified).toEqual([book]);
});

test("a delivery without its event in the batch, and a book that was marked due, are left to be claimed", () => {
  const { dispatcher, state } = rig();
  dispatcher.observed(book, "a", false);
  state.full = true;
  const set = new WorkingSet();
  const production: Book = { ...book, environment: "production" };
  set.insert(deliveries, { book, eventId: newId("event", now), url: "https://a/", ownUrl: false, nextAttemptAt: now });
  markDue(set, production);
  set.keep();
  dispatcher.dispatch(set);
  set.keep();
  expect(set.inserted(deliveries)[0]?.lease).toBeUndefined();
  finish(set, "committed");
  expect(state.notified).toEqual([production]);
});

test("after a commit with an unknown outcome nothing is sent, and every lease is given back", async () => {
  const { dispatcher, state } = rig();
  dispatcher.observed(book, "a", false);
  const { set, ids } = batch(dispatcher, ["a", "a"]);
  finish(set, "unknown");
  await turn();
  expect([state.sent, state.givenBack]).toEqual([[], ids]);
});

test("a delivery that finds no place is given back, and so is one that comes after the end", async () => {
  const { dispatcher, state } = rig();
  dispatcher.observed(book, "a", false);
  const late = batch(dispatcher, ["a"]);
  const waiting = batch(dispatcher, ["a"]);
  const full = batch(dispatcher, ["a"]);
  state.places = 0;
  finish(full.set, "committed");
  await turn();
  expect(leases(dispatcher)).toBe(false);
  finish(waiting.set, "committed");
  expect(dispatcher.close().map(({ row }) => idOf("event", row.event_id))).toEqual(waiting.ids);
  dispatcher.observed(book, "a", false);
  expect(leases(dispatcher)).toBe(false);
  finish(late.set, "committed");
  expect(state.givenBack).toEqual([...full.ids, ...late.ids]);
});

test("whatever happens: each delivery that is leased and committed is sent, given back or returned at the end, once", async () => {
  const step = fc.record({
    hosts: fc.array(fc.constantFrom("a", "b"), { maxLength: 3 }),
    waiting: fc.constantFrom(true, false, undefined),
    capacity: fc.boolean(),
    places: fc.nat(4),
    turns: fc.boolean(),
    end: fc.constantFrom<("committed" | "unknown" | undefined)[]>("committed", "unknown", undefined),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step), async (steps) => {
      const { dispatcher, state } = rig();
      const taken: string[] = [];
      for (const { hosts, waiting, capacity, places, turns, end } of steps) {
        Object.assign(state, { capacity, places });
        for (const host of hosts) if (waiting !== undefined) dispatcher.observed(book, host, waiting);
        const { set, leased } = batch(dispatcher, hosts);
        if (end) {
          finish(set, end);
          taken.push(...leased);
        }
        if (turns) await turn();
      }
      const left = dispatcher.close().map(({ row }) => idOf("event", row.event_id));
      expect([...state.sent, ...state.givenBack, ...left].toSorted()).toEqual(taken.toSorted());
    }),
  );
});
