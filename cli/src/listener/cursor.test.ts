// Goal: a listener's place survives whatever ends its process, and is nobody else's. Method: cursors on a directory of their
// own, opened again, damaged, and claimed by processes that are alive or gone.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import { newId } from "../../../gateway/src/ground/ids.ts";
import { Cursor, finished, handedOn } from "./cursor.ts";

const root = mkdtempSync(join(tmpdir(), "gerbang-cursor-"));
afterAll(() => rmSync(root, { recursive: true }));

const CLIENT = "ak_test_0123456789abcdefghjkmnpqrs";
const [a, b, c, d] = [1, 2, 3, 4].map((ms) => newId("event", ms * 1000)) as [string, string, string, string];
let directory: string;
let count = 0;
beforeEach(() => {
  directory = join(root, String(count++));
});

const file = (ending: string): string => join(directory, `${CLIENT}.${ending}`);

test("what lies below the watermark is behind the cursor, and what is younger is named until it does too", () => {
  expect(handedOn({ after: a, seen: [] }, b, c)).toEqual({ after: b, seen: [] });
  expect(handedOn({ after: a, seen: [] }, c, b)).toEqual({ after: b, seen: [c] });
  expect(handedOn({ after: b, seen: [c] }, d, b)).toEqual({ after: b, seen: [c, d] });
  expect(finished({ after: b, seen: [c, d] }, c)).toEqual({ after: c, seen: [d] });
  expect(finished({ after: c, seen: [d] }, a)).toEqual({ after: c, seen: [d] }); // never back
});

test("it goes on where it stopped, with a whole file and nothing else left behind", () => {
  const first = new Cursor(directory, CLIENT);
  expect([first.position, first.newest]).toEqual([undefined, undefined]);
  first.begin({ after: a, seen: [b] });
  first.handedOn(d, b);
  first.release();
  const second = new Cursor(directory, CLIENT);
  expect(second.position).toEqual({ after: b, seen: [d] });
  expect(second.newest).toBe(d);
  second.finished(d);
  second.release();
  expect(readdirSync(directory)).toEqual([`${CLIENT}.json`]);
  expect(JSON.parse(readFileSync(file("json"), "utf8"))).toEqual({ client_id: CLIENT, after: d, seen: [] });
});

test("it goes back to an event that was handed on, and to no other", () => {
  const cursor = new Cursor(directory, CLIENT);
  expect(() => cursor.goBackTo(a)).toThrow(/has not been forwarded here yet/);
  cursor.begin({ after: c, seen: [d] });
  expect(() => cursor.goBackTo(newId("event", 5_000))).toThrow(/has not been forwarded here yet/);
  cursor.goBackTo(b);
  const { after, seen } = cursor.position ?? { after: "", seen: [] };
  expect([a < after, after < b, seen]).toEqual([true, true, []]);
  cursor.release();
  expect(new Cursor(directory, CLIENT).position).toEqual({ after, seen: [] });
});

test.each(["", "{", "[]", '{"client_id":"x","after":"evt_1","seen":[]}', '{"after":1}'])(
  "a damaged file is not guessed at: %s",
  (text) => {
    new Cursor(directory, CLIENT).release();
    writeFileSync(file("json"), text);
    expect(() => new Cursor(directory, CLIENT)).toThrow(/damaged\. Remove it/);
    expect(existsSync(file("lock"))).toBe(false);
  },
);

test.each(["ak_test_/../../x", "../ak_test_x", "ak_test_", "ak_test_x/../y", "ak_test_X", "ak_test_x\n", ""])(
  "what is no identifier of a key names no file: %j",
  (id) => {
    expect(() => new Cursor(directory, id)).toThrow("is not the client_id of a key");
    expect(existsSync(directory)).toBe(false);
  },
);

test("a place that could not be read again is not kept", () => {
  const cursor = new Cursor(directory, CLIENT);
  cursor.begin({ after: a, seen: [] });
  expect(() => cursor.finished("later")).toThrow("no id of an event");
  expect(() => cursor.handedOn("later", a)).toThrow("no id of an event");
  expect(() => cursor.begin({ after: a, seen: Array<string>(1_001).fill(b) })).toThrow("no id of an event");
  cursor.release();
  const again = new Cursor(directory, CLIENT);
  expect(again.position).toEqual({ after: a, seen: [] });
  again.release();
});

test("two listeners of one client are refused; one whose process is gone counts for nothing", async () => {
  const other = spawn(process.execPath, ["-e", "setTimeout(() => {}, 60000)"]);
  new Cursor(directory, CLIENT).release();
  writeFileSync(file("lock"), String(other.pid));
  expect(() => new Cursor(directory, CLIENT)).toThrow(`process ${other.pid}`);
  new Cursor(directory, "ak_test_another").release(); // another client is none of its business
  other.kill("SIGKILL");
  await once(other, "exit");
  for (const left of [String(other.pid), "", "garbage", "-1", "99999999"]) {
    writeFileSync(file("lock"), left);
    const cursor = new Cursor(directory, CLIENT);
    expect(readFileSync(file("lock"), "utf8")).toBe(String(process.pid));
    cursor.release();
  }
});
