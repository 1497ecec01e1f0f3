// Goal: what is due is worked off to the last row, and a book whose work fails, or that is in quarantine, holds up no other. Method: rows in memory.
import { expect, test } from "vitest";
import { NOW, book, merchantWith } from "../../test/given.ts";
import { createLog } from "../ground/log.ts";
import { newId, uuidOf } from "../ground/ids.ts";
import { type Book, bookKey } from "../merchants/books.ts";
import { type SweepParts, sweep } from "./sweep.ts";

const other: Book = { ...book, merchantId: newId("merchant", NOW) };

/** Sweeps these rows, at most `most` a round; work of the books in `failing` fails. Gives what was tried, and what is left. */
async function swept(
  rows: Book[],
  { most = 5, failing = [] as Book[], quarantined = [] as Book[], unknown = false } = {},
) {
  let left = rows.map((owner, id) => ({ owner, id }));
  const tried: Book[] = [];
  let rounds = 0;
  const parts = {
    database: {
      query: ({ values }: { values: [number, Book[]] }) => {
        rounds++;
        const [limit, without] = values;
        const names = new Set(without.map(bookKey));
        const due = left.filter(({ owner }) => !names.has(bookKey(owner))).slice(0, limit);
        return Promise.resolve(
          due.map(({ owner, id }) => ({ merchant_id: uuidOf(owner.merchantId), environment: owner.environment, id })),
        );
      },
    },
    lanes: { quarantine: new Map(quarantined.map((each) => [bookKey(each), "impossible"])) },
    directory: { merchant: () => Promise.resolve(unknown ? undefined : merchantWith()) },
    clock: { now: () => NOW },
    log: createLog("silent"),
  } as unknown as SweepParts;
  const done = await sweep(parts, {
    most,
    due: ({ most: limit, without }) => ({ text: "", values: [limit, without] }),
    book: undefined,
    work: (owner, row) => {
      tried.push(owner.book);
      if (failing.some((each) => bookKey(each) === bookKey(owner.book))) return Promise.reject(new Error("it fails"));
      left = left.filter(({ id }) => id !== row.id);
      return Promise.resolve(true);
    },
    failure: "it could not go on",
  });
  return { done, left: left.length, tried: tried.map(bookKey), rounds };
}

const times = (count: number, owner: Book): Book[] => Array<Book>(count).fill(owner);

test("everything is worked off, in rounds", async () => {
  expect(await swept(times(12, book))).toMatchObject({ done: 12, left: 0, rounds: 4 });
  expect(await swept([])).toMatchObject({ done: 0, rounds: 1 });
});

test("a book whose work fails holds up no other, however many of its rows are due first", async () => {
  const { done, left, tried } = await swept([...times(12, book), ...times(7, other)], { failing: [book] });
  expect([done, left]).toEqual([7, 12]);
  // It is tried in one round.
  expect(tried.filter((name) => name === bookKey(book))).toHaveLength(5);
});

test("a book in quarantine is not tried", async () => {
  const { done, tried } = await swept([...times(12, book), ...times(2, other)], { quarantined: [book] });
  expect([done, tried]).toEqual([2, times(2, other).map(bookKey)]);
});

test("rows that nothing can be done about do not keep it going", async () => {
  expect(await swept(times(12, book), { unknown: true })).toMatchObject({ done: 0, rounds: 1 });
});
