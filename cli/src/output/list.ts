// Prints lists: a table for people, a line of JSON for each object for programs, once or until Ctrl-C.
import { GerbangError } from "../../../sdk/src/errors.ts";
import type { List } from "../../../sdk/src/list.ts";
import { pause } from "../pause.ts";
import { paintOf } from "./color.ts";
import { printTable, say, stopped, write } from "./print.ts";
import { type Column, rowOf, tableOf } from "./table.ts";
import { cleared, cut, joined, jsonOf, words } from "./text.ts";

/** Between two looks: most of the key's quota is left to the requests of other programs. */
const EVERY_MS = 2_000;
const PAGE_MAX = 100;
/** Rows of the terminal around the watched items: the head, an empty one, the time, and that of the cursor. */
const ROWS_AROUND = 4;

interface Listing<Item> {
  /** Requests a list; `limit` is the size of its pages. */
  ask: (limit: number, options: { signal?: AbortSignal }) => List<Item>;
  columns: readonly Column<Item>[];
  id: (item: Item) => string;
  /** Sentence for an empty list: how to make the first object. */
  empty: string | (() => Promise<string>);
}

interface Asked {
  json: boolean;
  limit: string;
  watch: boolean;
}

export async function printList<Item extends object>(listing: Listing<Item>, asked: Asked): Promise<number> {
  const most = Number(asked.limit);
  const read = (options: { signal?: AbortSignal }): Promise<Item[]> =>
    listing.ask(Math.min(most, PAGE_MAX), options).take(most);
  if (asked.watch) return watch((signal) => read({ signal }), listing, asked);
  const items = await read({});
  if (asked.json) write(joined(items.map(jsonOf), ""));
  else if (items.length === 0) say(words`${typeof listing.empty === "string" ? listing.empty : await listing.empty()}`);
  else printTable(listing.columns, items);
  return 0;
}

/** On a terminal the table is drawn anew; elsewhere a line is printed for each item that is new or has changed. */
async function watch<Item extends object>(
  read: (signal: AbortSignal) => Promise<Item[]>,
  { columns, id }: Listing<Item>,
  { json }: Asked,
): Promise<number> {
  const isDrawn = process.stdout.isTTY && !json;
  const known = new Map<string, string>();
  await follow(read, (items) => {
    if (isDrawn) {
      const time = new Date().toISOString().slice(11, 19);
      // Of more than fit, the newest would leave the screen at its top.
      const fitting = items.slice(0, Math.max(1, process.stdout.rows - ROWS_AROUND));
      const hidden = items.length - fitting.length;
      const rest = hidden === 0 ? "" : `; older ones that do not fit: ${hidden}`;
      const table = cut(tableOf(columns, fitting, paintOf(process.stdout)));
      write(words`${cleared}${table}\n${time} UTC, Ctrl-C ends it${rest}\n`);
    } else {
      const changed = items.filter((item) => known.get(id(item)) !== JSON.stringify(item)).toReversed();
      for (const item of changed) write(json ? jsonOf(item) : rowOf(columns, item, paintOf(process.stdout)));
    }
    known.clear();
    for (const item of items) known.set(id(item), JSON.stringify(item));
  });
  return 0;
}

/**
 * Reads and shows again and again until Ctrl-C, which also ends the requests that are given the signal. A service that is away after the first time is
 * asked until it is back. Throws an error that would come again.
 */
export async function follow<Read>(
  read: (signal: AbortSignal) => Promise<Read>,
  show: (read: Read) => void,
): Promise<void> {
  const stop = stopped();
  let [hasRead, isAway] = [false, false];
  while (!stop.aborted) {
    try {
      const answer = await read(stop);
      if (isAway) say(words`The service is back.`);
      show(answer);
      [hasRead, isAway] = [true, false];
    } catch (error) {
      if (stop.aborted) return;
      if (!hasRead || !(error instanceof GerbangError && error.retryable)) throw error;
      if (!isAway) say(words`Lost the service: ${error.code}: ${error.message} Trying again until it is back …`);
      isAway = true;
    }
    await pause(EVERY_MS, stop);
  }
}
