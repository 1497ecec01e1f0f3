// Goal: an event is handled once, however many copies come at once, and never lost. Method: the vectors, the handler on stores that play along, and
// the store in memory on a clock by hand.
import { readFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { type Claim, EventBusyError, type EventStore, handler, memoryStore, sign, unwrap } from "../src/webhooks.ts";
import { vectors } from "./vectors.ts";

const secret = "whsec_b25l";
const event = { id: "evt_01kan3t6b7r9md3kq5x1zc8evw", type: "payment.succeeded" };
const address = "https://shop.example/webhooks";

interface Handling {
  name: string;
  delivery: "genuine" | "forged" | "without headers";
  /** What the store answers, one after the other, the last one again and again. */
  claims?: Claim[];
  on: "ok" | "throws";
  fails?: "claim" | "done" | "release";
  status: number;
  /** Equal ones in a row once. */
  calls: string[];
}

test.each(vectors<Handling>("handling"))("$name", async ({ delivery, claims, on, fails, status, calls }) => {
  const called: string[] = [];
  const note = (name: string): void => {
    if (called.at(-1) !== name) called.push(name);
    if (name === fails) throw new Error("the database is away");
  };
  const left = [...(claims ?? [])];
  const store: EventStore = {
    claim() {
      note("claim");
      return (left.length > 1 ? left.shift() : left[0]) ?? false;
    },
    done: () => note("done"),
    release: () => note("release"),
  };
  let waited = 0;
  const told: unknown[] = [];
  const receive = handler({
    secrets: secret,
    ...(claims && { store }),
    on() {
      note("on");
      if (on === "throws") throw new Error("the queue is away");
    },
    onError: (error) => told.push(error),
    sleep: async (ms) => (waited += ms),
  });
  const sent = await sign({ secret: delivery === "forged" ? "whsec_dHdv" : secret, event });
  const headers = delivery === "without headers" ? {} : sent.headers;
  const answer = await receive(new Request(address, { method: "POST", body: sent.body, headers }));
  expect([answer.status, called]).toEqual([status, calls]);
  expect(waited).toBeLessThanOrEqual(5_000);
  expect(told.length > 0).toBe(status !== 200);
});

test("of two copies at once one runs, and the other one is answered when that is done", async () => {
  const running = Promise.withResolvers<void>();
  const on = vi.fn(() => running.promise);
  const receive = handler({ secrets: secret, store: memoryStore(), on, sleep: () => running.promise });
  const { body, headers } = await sign({ secret, event });
  const copies = [1, 2].map(() => receive(new Request(address, { method: "POST", body, headers })));
  await vi.waitFor(() => expect(on).toHaveBeenCalled(), 30_000);
  running.resolve();
  const answers = await Promise.all(copies);
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(on).toHaveBeenCalledTimes(1);
});

test("unwrap claims, and leaves it to its caller to say what became of the event", async () => {
  const store = memoryStore();
  const { body, headers } = await sign({ secret, event });
  const given = () => unwrap(body, headers, secret, { store, sleep: () => Promise.resolve() });
  expect((await given())?.id).toBe(event.id);
  await expect(given()).rejects.toBeInstanceOf(EventBusyError);
  await store.release(event.id);
  expect((await given())?.id).toBe(event.id);
  await store.done(event.id);
  expect(await given()).toBeUndefined();
});

test("the table of the guide claims, releases, ends a claim after a minute, and keeps what was handled", async () => {
  const guide = readFileSync(new URL("../../docs/guides/client-library.md", import.meta.url), "utf8");
  const [, program = ""] = /^```ts\n\/\/ claims\.mjs\n([^]*?)^```$/m.exec(guide) ?? [];
  // In memory, and with its database in reach: a minute passes by a statement.
  const module = `${program.replace('process.env.CLAIMS ?? "claims.sqlite"', '":memory:"')}\nexport { database };`;
  const { store, database } = (await import(`data:text/javascript,${encodeURIComponent(module)}`)) as {
    store: EventStore;
    database: { exec(sql: string): void };
  };
  expect([store.claim("a"), store.claim("a"), store.claim("b")]).toEqual([true, "busy", true]);
  await store.release("a");
  expect(store.claim("a")).toBe(true);
  database.exec("update events set claimed_until = claimed_until - 60");
  expect([store.claim("a"), store.claim("a")]).toEqual([true, "busy"]);
  await store.done("a");
  await store.release("a");
  database.exec("update events set claimed_until = claimed_until - 60");
  expect([store.claim("a"), store.claim("b")]).toEqual([false, true]);
});

test("the store in memory ends a claim that nobody ended, and forgets the oldest beyond its bound", () => {
  let now = 0;
  const store = memoryStore({ claimMs: 1_000, max: 2, now: () => now });
  expect([store.claim("a"), store.claim("a")]).toEqual([true, "busy"]);
  now = 1_000;
  expect(store.claim("a")).toBe(true);
  store.done("a");
  now = 1_000_000;
  expect(store.claim("a")).toBe(false);
  expect([store.claim("b"), store.claim("c"), store.claim("a")]).toEqual([true, true, true]);
});

test.each([undefined, null])(
  "a store whose claim gives %s has not said that the event was handled: it comes again",
  async (given) => {
    const on = vi.fn();
    const store = { claim: () => given as never, done: () => undefined, release: () => undefined };
    const told: unknown[] = [];
    const receive = handler({
      secrets: secret,
      store,
      on,
      onError: (error) => told.push(error),
      sleep: () => Promise.resolve(),
    });
    const { body, headers } = await sign({ secret, event });
    expect((await receive(new Request(address, { method: "POST", body, headers }))).status).toBe(503);
    expect([on.mock.calls, told]).toEqual([[], [expect.any(EventBusyError)]]);
  },
);

test("the store in memory keeps what was handled, also when another one whose claim had expired releases it", () => {
  let now = 0;
  const store = memoryStore({ claimMs: 1_000, now: () => now });
  expect(store.claim("a")).toBe(true);
  now = 1_000;
  expect(store.claim("a")).toBe(true);
  store.done("a");
  store.release("a");
  expect(store.claim("a")).toBe(false);
});
