import { finished } from "node:stream/promises";
import { expect, test } from "vitest";
import { stopwatchMs } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { type EventStreamLimits, EventStreams } from "./event-streams.ts";

const limits: EventStreamLimits = { pollMs: 5, heartbeatMs: 60_000, inAll: 2, unreadBytes: 100 };
const after = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test("polls for open streams only, one poll at a time, and forgets its position once none is open", async () => {
  const seen = { polls: 0, atOnce: 0, most: 0, resets: 0 };
  const poll = async () => {
    seen.polls += 1;
    seen.most = Math.max(seen.most, ++seen.atOnce);
    await after(20);
    seen.atOnce -= 1;
  };
  const streams = new EventStreams<string>({ limits, poll, reset: () => (seen.resets += 1) });
  await after(20);
  expect(seen.polls).toBe(0);
  const stream = streams.open("a");
  await expect.poll(() => seen.polls).toBeGreaterThan(1);
  expect([seen.most, seen.resets]).toEqual([1, 0]);
  streams.end(stream);
  await expect.poll(() => seen.resets).toBe(1);
  const polls = seen.polls;
  await after(40);
  expect([seen.polls, seen.resets]).toEqual([polls, 1]);
});

test("refuses more streams than its limit, and any once it is stopped; readers see all of it, what is first first, and an orderly end", async () => {
  const streams = new EventStreams<string>({ limits, poll: async () => undefined });
  const [first, second] = [streams.open("a"), streams.open("b")];
  expect(() => streams.open("c")).toThrow(Fault);
  first.readable.destroy();
  await expect.poll(() => streams.size).toBe(1);
  second.write("data: last words\n\n");
  second.begin("data: first words\n\n");
  streams.stop();
  expect(await second.readable.setEncoding("utf8").toArray()).toEqual(["data: first words\n\ndata: last words\n\n"]);
  expect(() => streams.refuseTooMany()).toThrow(Fault);
});

test("takes nothing more once it has ended, though its first text is still being looked up", async () => {
  const streams = new EventStreams<string>({ limits, poll: async () => undefined });
  const [begun, early] = [streams.open("a"), streams.open("b")];
  begun.begin("data: 1\n\n");
  streams.stop();
  for (const stream of [begun, early]) {
    stream.begin("data: late\n\n");
    stream.write("data: later\n\n");
  }
  const read = ({ readable }: typeof begun) => readable.setEncoding("utf8").toArray();
  expect([await read(begun), await read(early)]).toEqual([["data: 1\n\n"], []]);
});

test("disconnects a reader that leaves more unread than the limit", async () => {
  const streams = new EventStreams<string>({ limits, poll: async () => undefined });
  const stream = streams.open("a");
  stream.begin("");
  stream.write("x".repeat(limits.unreadBytes));
  expect(stream.readable.destroyed).toBe(false);
  stream.write("x");
  await finished(stream.readable).catch(() => undefined);
  expect([stream.readable.destroyed, streams.size]).toEqual([true, 0]);
  stream.write("y");
});

test.each([true, false])("counts the bytes of a text, not its characters: it has begun, %j", (begun) => {
  const streams = new EventStreams<string>({ limits, poll: async () => undefined });
  const stream = streams.open("a");
  if (begun) stream.begin("");
  stream.write("é".repeat(30));
  expect(stream.readable.destroyed).toBe(false);
  stream.write("é".repeat(21)); // 102 bytes with the first, 51 characters
  expect(stream.readable.destroyed).toBe(true);
});

test("writes a comment to a stream that is quiet", async () => {
  const streams = new EventStreams<string>({ limits: { ...limits, heartbeatMs: 30 }, poll: async () => undefined });
  const stream = streams.open("a");
  stream.begin("");
  const [comment] = (await stream.readable.setEncoding("utf8").take(1).toArray()) as string[];
  expect(comment).toBe(": still here\n\n");
  expect(stopwatchMs() - stream.openedAtMs).toBeGreaterThanOrEqual(30);
  streams.stop();
});
