// Goal: downloads leave room for each other, and go on only while their reader may have them. Method: the streams themselves.
import { PassThrough, type Readable } from "node:stream";
import { expect, onTestFinished, test, vi } from "vitest";
import { Downloads, whileAllowed } from "./downloads.ts";

async function* chunks(...texts: string[]): AsyncGenerator<string> {
  for (const text of texts) yield await Promise.resolve(text);
}

test("so many at once of one, and so many in all; whoever has done or has gone leaves room", async () => {
  const downloads = new Downloads({ inAll: 3, each: 2 });
  const begin = (whose: string, text = chunks("one", "two")): Readable => {
    const download = { chunks: text, contentType: "text/plain", saveAs: "book.txt" };
    const { stream } = downloads.begin(download, { whose, stillAllowed: () => Promise.resolve() });
    if (!stream) throw new Error("a download is a stream");
    return stream;
  };
  async function* failing(): AsyncGenerator<string> {
    yield await Promise.resolve("one");
    throw new Error("the database is gone");
  }
  const [first, second] = [begin("sari"), begin("sari")];
  expect(() => begin("sari")).toThrow(expect.objectContaining({ code: "RATE_LIMITED" }));
  const third = begin("budi", failing());
  expect(() => begin("wati")).toThrow(expect.objectContaining({ code: "SERVICE_UNAVAILABLE" }));
  // One is read to its end; one fails; of the other nobody reads a word.
  expect((await first.toArray()).join("")).toBe("onetwo");
  await expect(third.toArray()).rejects.toThrow("the database is gone");
  second.destroy();
  await new Promise((done) => second.once("close", done));
  begin("sari");
  begin("sari");
  expect(() => begin("sari")).toThrow(expect.objectContaining({ code: "RATE_LIMITED" }));
});

test("an answer that nobody reads to its end is cut off after half an hour, and leaves its place", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const downloads = new Downloads({ inAll: 2, each: 1 });
  const answer = new PassThrough();
  downloads.take("sari")(answer);
  vi.advanceTimersByTime(30 * 60_000 - 1);
  expect(answer.destroyed).toBe(false);
  expect(() => downloads.enter("sari")).toThrow(expect.objectContaining({ code: "RATE_LIMITED" }));
  vi.advanceTimersByTime(1);
  expect(answer.destroyed).toBe(true);
  vi.useRealTimers();
  await vi.waitFor(() => downloads.enter("sari"), 30_000);
});

test("a download goes on only while whoever asked may have it", async () => {
  const heard = async (stillAllowed: () => Promise<void>, everyMs: number): Promise<string[]> => {
    const got: string[] = [];
    try {
      for await (const chunk of whileAllowed(chunks("one", "two", "three"), stillAllowed, everyMs)) got.push(chunk);
    } catch (error) {
      got.push((error as Error).message);
    }
    return got;
  };
  let asked = 0;
  const losesIt = (): Promise<void> => (++asked > 1 ? Promise.reject(new Error("lost")) : Promise.resolve());
  expect(await heard(losesIt, 0)).toEqual(["one", "lost"]);
  // Not at every chunk: a book is read in thousands of them.
  asked = 1;
  expect(await heard(losesIt, 60_000)).toEqual(["one", "two", "three"]);
});
