// Time: the only file that reads the real clock, and the text forms of instants. Business rules take instants as arguments.
import { remembered } from "./remembered.ts";

/** Microseconds since 1970-01-01T00:00:00Z. Exact as a number until the year 2255. */
export type Micros = number;

export const SECOND: Micros = 1_000_000;
export const MINUTE: Micros = 60 * SECOND;
export const HOUR: Micros = 60 * MINUTE;
export const DAY: Micros = 24 * HOUR;
/** What is stored or sent in seconds is reckoned in these. */
export const HOUR_SECONDS = 3_600;
export const DAY_SECONDS = 24 * HOUR_SECONDS;

export interface Clock {
  /** The real time now. */
  now(): Micros;
}

const origin = Math.round(performance.timeOrigin * 1000);
let last = 0;

/** When the machine's clock is set back by more than this, `systemClock` follows; otherwise it only creeps on until the clock catches up. */
const CORRECTION: Micros = SECOND;

/** The machine's clock in microseconds. It goes on while the machine sleeps, and follows corrections in either direction. */
export const systemClock: Clock = {
  now() {
    const wall = Date.now() * 1000;
    const fine = origin + Math.floor(performance.now() * 1000);
    // performance.now() does not follow clock adjustments, Date.now() does: trust the wall beyond 2 ms of difference.
    const instant = Math.abs(fine - wall) < 2000 ? fine : wall;
    last = instant > last || last - instant > CORRECTION ? instant : last + 1;
    return last;
  },
};

/** Milliseconds of a monotonic stopwatch, for measuring durations. */
export function stopwatchMs(): number {
  return performance.now();
}

// A cache of texts by second: most written times share few seconds.
const written = new Map<number, string>();
const REMEMBERED_MAX = 256;

/** Writes an instant as in interface 2.1: RFC 3339, UTC, whole seconds (rounded down), ending in Z. */
export function wireTime(at: Micros): string {
  return remembered(written, REMEMBERED_MAX, Math.floor(at / SECOND), secondAsText);
}

function secondAsText(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 19) + "Z";
}

/** `wireTime` of an instant that there may be none of. */
export function wireTimeOrNull(at: Micros | null | undefined): string | null {
  return at === undefined || at === null ? null : wireTime(at);
}

/** Writes an instant in the format of RFC 822, which RSS requires: `Sun, 06 Sep 2026 00:05:09 GMT`. */
export function rssTime(at: Micros): string {
  return new Date(at / 1000).toUTCString();
}

/** Writes an instant with its microseconds, as PostgreSQL's timestamptz reads it. */
export function sqlTime(at: Micros): string {
  const micros = Math.floor(at % SECOND);
  return `${wireTime(at).slice(0, 19)}.${micros.toString().padStart(6, "0")}Z`;
}

/** `sqlTime` of an instant that there may be none of. */
export function sqlTimeOrNull(at: Micros | undefined): string | null {
  return at === undefined ? null : sqlTime(at);
}

// Caches: the times of one row are often equal, and many rows share a second.
let read: { text: string; at: Micros } | undefined;
const secondsRead = new Map<string, Micros>();
const SECOND_LENGTH = "2026-01-01 00:00:00".length;

/** Reads PostgreSQL's text form of timestamptz without losing microseconds. */
export function parseSqlTime(text: string): Micros {
  if (read?.text !== text) read = { text, at: parseFresh(text) };
  return read.at;
}

function parseFresh(text: string): Micros {
  const second = text.slice(0, SECOND_LENGTH);
  const known = text.endsWith("+00") ? secondsRead.get(second) : undefined;
  if (known !== undefined) return known + fractionOf(text.slice(SECOND_LENGTH + 1, -3));
  const match = /^(\d{4,}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?([+-]\d\d)(?::?(\d\d))?$/.exec(text);
  if (!match) throw new Error(`not a timestamptz: ${text}`);
  const [, day, time, fraction = "", hours, minutes = "00"] = match;
  const at = Date.parse(`${day}T${time}${hours}:${minutes}`) * 1000;
  if (hours === "+00" && second.length === `${day} ${time}`.length) {
    if (secondsRead.size >= REMEMBERED_MAX) secondsRead.clear();
    secondsRead.set(second, at);
  }
  return at + fractionOf(fraction);
}

function fractionOf(digits: string): Micros {
  return Number(digits.padEnd(6, "0"));
}

/** Reads `YYYY-MM-DD` or an RFC 3339 timestamp of 1970 to 2199; undefined when it is neither. */
export function parseWireTime(text: string): { at: Micros; wholeDay: boolean } | undefined {
  const match = /^(\d{4}-\d\d-\d\d)(T(?!24)\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d))?$/.exec(text);
  if (!match) return undefined;
  const wholeDay = match[2] === undefined;
  const ms = Date.parse(wholeDay ? `${text}T00:00:00Z` : text);
  // Date.parse rolls 31 February over to March: this check rejects days that do not exist.
  const day = Date.parse(`${match[1]}T00:00:00Z`);
  if (Number.isNaN(ms) || Number.isNaN(day) || new Date(day).toISOString().slice(0, 10) !== match[1]) return undefined;
  const micros = fractionOf(`000${(match[3] ?? "").slice(4)}`);
  return ms >= 0 && ms < Date.UTC(2200, 0) ? { at: ms * 1000 + micros, wholeDay } : undefined;
}
