// Goal: what this process takes as it is made overtakes nothing, and is sent or handed back once. Method: an example of each
// rule, then random comings and goings counted by hand.
import fc from "fast-check";
import { expect, test } from "vitest";
import type { ClaimedRow } from "../events/claim.sql.ts";
import { systemClock } from "../ground/clock.ts";
import { idOf, uuidOf } from "../ground/ids.ts";
import type { Book } from "../merchants/books.ts";
import { Newborns } from "./local-dispatcher.ts";

const book: Book = { merchantId: idOf("merchant", "01900000-0000-7000-8000-000000000001"), environment: "sandbox" };
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Newborns whose surroundings are these, and what became of them. */
function nursery() {
  const [sent, away]: [string[], string[]] = [[], []];
  const state = { open: true, places: 1_000, sent, away };
  const newborns = new Newborns({
    clock: systemClock,
    leaseSeconds: 45,
    isOpen: () => state.open,
    isFull: () => !state.open,
    enter: ({ row }) => state.places-- > 0 && sent.push(row.event_id) > 0,
    turnAway: ({ row }) => away.push(row.event_id),
  });
  return { newborns, state };
}

function row(host: string, eventId: string): ClaimedRow {
  const at = systemClock.now();
  return {
    merchant_id: uuidOf(book.merchantId),
    environment: book.environment,
    event_id: eventId,
    url: `https://${host}/`,
    host,
    attempts: 0,
    by_hand: 0,
    resend_of: null,
    type: "payment.created",
    body: "{}",
    event_created_at: at,
    next_attempt_at: at,
    clock_offset_seconds: 0n,
  };
}

test("nothing is taken for a queue that was never seen empty, that is closed, or that something waits in", () => {
  const { newborns, state } = nursery();
  expect(newborns.leaseFor(book, "a")).toBeUndefined();
  newborns.saw(book, "a", false);
  expect(newborns.leaseFor(book, "a")).toBeDefined();
  expect(newborns.leaseFor(book, "b")).toBeUndefined();
  expect(newborns.leaseFor({ ...book, environment: "production" }, "a")).toBeUndefined();
  newborns.saw(book, "a", true);
  expect(newborns.leaseFor(book, "a")).toBeUndefined();
  newborns.saw(book, "a", false);
  state.open = false;
  expect(newborns.leaseFor(book, "a")).toBeUndefined();
  // That one waits in the database now: nobody passes it until it has been seen that it is gone.
  state.open = true;
  expect(newborns.leaseFor(book, "a")).toBeUndefined();
  newborns.saw(book, "a", false);
  expect(newborns.leaseFor(book, "a")).toBeDefined();
});

test("a look that began before something came to wait does not say that nothing waits", () => {
  const { newborns, state } = nursery();
  newborns.saw(book, "a", false);
  const look = newborns.look();
  state.open = false;
  expect(newborns.leaseFor(book, "a")).toBeUndefined(); // this one waits in the database, unseen by that look
  state.open = true;
  newborns.saw(book, "a", false, look);
  expect(newborns.leaseFor(book, "a")).toBeUndefined();
  newborns.saw(book, "a", false, newborns.look());
  expect(newborns.leaseFor(book, "a")).toBeDefined();
});

test("a lease is longer than the wait for a seat and a call, and the taken are sent in their order, a few a turn", async () => {
  const { newborns, state } = nursery();
  newborns.saw(book, "a", false);
  const before = systemClock.now();
  const lease = newborns.leaseFor(book, "a");
  if (!lease) throw new Error("no lease");
  expect(lease.until - before).toBeGreaterThanOrEqual(45_000_000);
  const names = Array.from({ length: 40 }, (_, number) => `event ${number}`);
  for (const name of names) newborns.take(row("a", name), lease);
  expect(state.sent).toEqual([]);
  await turn();
  expect(state.sent).toEqual(names.slice(0, 16));
  await turn();
  await turn();
  expect(state.sent).toEqual(names);
});

test("one that finds no place is handed back, and so is one that comes after the end", async () => {
  const { newborns, state } = nursery();
  newborns.saw(book, "a", false);
  const lease = newborns.leaseFor(book, "a");
  if (!lease) throw new Error("no lease");
  state.places = 0;
  newborns.take(row("a", "full"), lease);
  await turn();
  expect(newborns.leaseFor(book, "a")).toBeUndefined();
  newborns.take(row("a", "waiting"), lease);
  expect(newborns.close().map(({ row: { event_id: id } }) => id)).toEqual(["waiting"]);
  newborns.saw(book, "a", false);
  expect(newborns.leaseFor(book, "a")).toBeUndefined();
  newborns.take(row("a", "late"), lease);
  expect(state.away).toEqual(["full", "late"]);
});

test("whatever comes and goes: each that is taken is sent, handed back or given at the end, once", async () => {
  const step = fc.record({
    host: fc.constantFrom("a", "b"),
    seen: fc.constantFrom(true, false, undefined),
    open: fc.boolean(),
    places: fc.nat(4),
    turns: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step), async (steps) => {
      const { newborns, state } = nursery();
      const taken: string[] = [];
      for (const [number, { host, seen, open, places, turns }] of steps.entries()) {
        Object.assign(state, { open, places });
        if (seen !== undefined) newborns.saw(book, host, seen);
        const lease = newborns.leaseFor(book, host);
        if (lease) {
          taken.push(`event ${number}`);
          newborns.take(row(host, `event ${number}`), lease);
        }
        if (turns) await turn();
      }
      const left = newborns.close().map(({ row: { event_id: id } }) => id);
      expect([...state.sent, ...state.away, ...left].toSorted()).toEqual(taken.toSorted());
    }),
  );
});
