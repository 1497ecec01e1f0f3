// Goal: whoever moves a sandbox's clock hears how their own move went. Method: two moves of one book, without a database.
import { expect, test } from "vitest";
import { book } from "../../test/given.ts";
import { Clocks } from "./clock.ts";

test("a move that waited for one that failed goes on by itself", async () => {
  let moves = 0;
  const clocks = new Clocks({
    catchUp: async () => {
      if (++moves === 1) throw new Error("of the first");
    },
    database: { query: async () => [{ target: null, next_due_at: null }] } as never,
    lanes: {} as never,
    clock: { now: () => 0 },
  });
  const ends = await Promise.allSettled([clocks.move(book), clocks.move(book)]);
  expect(ends).toMatchObject([{ reason: { message: "of the first" } }, { status: "fulfilled" }]);
  expect(moves).toBe(2);
});
