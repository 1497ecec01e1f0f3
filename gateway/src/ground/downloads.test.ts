// Goal: exports of books leave room for each other, and go to nobody who may not have them. Method: the streams themselves, on a book in which
// something happened.
import type { Readable } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestService, openDatabase, paymentBody, startService } from "../../test/kit.ts";
import type { Book } from "../merchants/books.ts";
import type { Database } from "../store/database.ts";
import { BookExports, whileAllowed } from "./exports.ts";

let service: TestService;
let database: Database;
let book: Book;
beforeAll(async () => {
  service = await startService({ roles: ["api"] });
  database = openDatabase(service.database);
  const { client, merchantId } = await service.merchant();
  const { reference } = (await client.post("/v1/payments", paymentBody())).json;
  await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  book = { merchantId, environment: "sandbox" };
});
afterAll(async () => {
  await database.end();
  await service.stop();
});

const mayHaveIt = (): Promise<void> => Promise.resolve();

test("so many at once of one, and so many in all; whoever has done or has gone leaves room", async () => {
  const exports = new BookExports(database, { inAll: 3, each: 2 });
  const begin = (whose: string): Readable => {
    const { stream } = exports.begin({ book, format: "jsonl", whose, stillAllowed: mayHaveIt });
    if (!stream) throw new Error("an export is a stream");
    return stream;
  };
  const [first, second] = [begin("sari"), begin("sari")];
  expect(() => begin("sari")).toThrow(expect.objectContaining({ code: "RATE_LIMITED" }));
  begin("budi");
  expect(() => begin("wati")).toThrow(expect.objectContaining({ code: "SERVICE_UNAVAILABLE" }));
  // One is read to its end; of the other nobody reads a word.
  expect((await first.toArray()).join("")).toMatch(/^\{"seq":"1".*\}\n$/);
  second.destroy();
  await expect.poll(() => (begin("sari"), true)).toBe(true);
  begin("sari");
});

test("an export goes on only while whoever asked may have it", async () => {
  async function* chunks(): AsyncGenerator<string> {
    for (const chunk of ["one", "two", "three"]) yield await Promise.resolve(chunk);
  }
  const heard = async (stillAllowed: () => Promise<void>, everyMs: number): Promise<string[]> => {
    const got: string[] = [];
    try {
      for await (const chunk of whileAllowed(chunks(), stillAllowed, everyMs)) got.push(chunk);
    } catch (error) {
      got.push((error as Error).message);
    }
    return got;
  };
  let asked = 0;
  const losesIt = (): Promise<void> => (++asked > 1 ? Promise.reject(new Error("lost")) : Promise.resolve());
  expect(await heard(losesIt, 0)).toEqual(["one", "lost"]);
  // Not at every chunk: the book is read in thousands of them.
  asked = 1;
  expect(await heard(losesIt, 60_000)).toEqual(["one", "two", "three"]);
});
