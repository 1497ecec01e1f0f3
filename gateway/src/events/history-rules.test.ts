// Goal: what is needed is not deleted: what is young, pending, tried not long ago, or may still be read under an older watermark. Method: pure. One
// round of deletion before a database that answers from a list and keeps what it is asked.
import { expect, test } from "vitest";
import { DAY, SECOND, sqlTime } from "../ground/clock.ts";
import { leastIdOf, newId, uuidOf } from "../ground/ids.ts";
import type { Database, Row, Statement } from "../store/database.ts";
import { forgetHistory } from "./history.ts";
import type { OldEventRow } from "./history.sql.ts";

const now = Date.UTC(2026, 5, 30) * 1_000;
const before = now - 30 * DAY;
const sweptTo = uuidOf(newId("event", before - 2 * DAY));
const merchant = uuidOf(newId("merchant", now));

/** One round over these old events. Gives the statements in their order; `locked` events are held by somebody else. */
async function round(old: readonly OldEventRow[], locked: readonly string[] = []): Promise<Statement[]> {
  const asked: Statement[] = [];
  const answers: Record<string, (values: readonly unknown[]) => Row[]> = {
    "books with old events": () => [
      { merchant_id: merchant, environment: "sandbox", forgotten_before: before, swept_to: sweptTo },
    ],
    "old events": () => [...old],
    "forget events": ([, , ids]) =>
      (ids as string[]).filter((id) => !locked.includes(id)).map((id) => ({ event_id: id })),
  };
  const query = (statement: Statement): Promise<Row[]> => {
    asked.push(statement);
    return Promise.resolve(answers[statement.name ?? ""]?.(statement.values ?? []) ?? []);
  };
  const forgotten = await forgetHistory({ query } as unknown as Database, now, 30);
  const asking = asked.filter(({ name }) => name === "forget events");
  const ids = asking.flatMap(({ values }) => values?.[2] as string[]);
  expect(forgotten).toBe(ids.filter((id) => !locked.includes(id)).length);
  return asked;
}

const named = (asked: readonly Statement[], name: string): unknown[][] =>
  asked.filter((statement) => statement.name === name).map(({ values }) => values ?? []);
const event = (changes: Partial<OldEventRow> = {}): OldEventRow => ({
  event_id: uuidOf(newId("event", before - DAY)),
  pending: false,
  last_attempt_at: null,
  ...changes,
});

test("the watermark is written before anything is deleted, and a minute below it events stay for those who read the one before", async () => {
  const asked = await round([event()]);
  expect(asked.map(({ name }) => name).slice(0, 3)).toEqual([
    "books with old events",
    "move retention watermarks",
    "old events",
  ]);
  expect(named(asked, "move retention watermarks")[0]?.[2]).toEqual([sqlTime(before)]);
  // From where the round before it ended.
  expect(named(asked, "old events")[0]?.slice(2)).toEqual([sweptTo, leastIdOf(before - 60 * SECOND)]);
});

test.each<[name: string, event: OldEventRow, lookAt: number | undefined]>([
  ["never tried", event(), undefined],
  ["pending", event({ pending: true }), now + DAY],
  ["pending, and tried long ago", event({ pending: true, last_attempt_at: before - DAY }), now + DAY],
  ["tried long ago", event({ last_attempt_at: before - 1 }), undefined],
  ["tried 30 days ago to the microsecond", event({ last_attempt_at: before }), now + SECOND],
  ["tried a day less ago", event({ last_attempt_at: before + DAY }), now + DAY + SECOND],
])("an old event that is %s", async (_name, old, lookAt) => {
  const asked = await round([old]);
  const [kept] = named(asked, "retain events");
  const [deleted] = named(asked, "forget events");
  expect(kept?.slice(2)).toEqual(lookAt === undefined ? undefined : [[old.event_id], [sqlTime(lookAt)]]);
  expect(deleted?.slice(2)).toEqual([lookAt === undefined ? [old.event_id] : [], old.event_id]);
});

test("what stays is noted before the sweep moves on, and what somebody holds is examined a day later", async () => {
  const [stays, held, goes] = [event({ pending: true }), event(), event()];
  const asked = await round([stays, held, goes], [held.event_id]);
  expect(asked.map(({ name }) => name).slice(3, 6)).toEqual(["retain events", "forget events", "retain events"]);
  expect(named(asked, "forget events")[0]?.slice(2)).toEqual([[held.event_id, goes.event_id], goes.event_id]);
  expect(named(asked, "retain events").map((values) => values.slice(2))).toEqual([
    [[stays.event_id], [sqlTime(now + DAY)]],
    [[held.event_id], [sqlTime(now + DAY)]],
  ]);
});
