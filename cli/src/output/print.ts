// Prints data to standard output: facts and tables for people, lines of JSON for programs. Sentences go to standard error. Every output goes through
// `write` or `say`, which take no strings: text.ts makes what they print.
import type { List } from "../../../sdk/src/list.ts";
import { pause } from "../pause.ts";
import { paintOf } from "./color.ts";
import { factsOf } from "./facts.ts";
import { type Column, rowOf, tableOf } from "./table.ts";
import { type Printable, cleared, joined, jsonOf, words } from "./text.ts";

/** Interval of `--watch`, which leaves most of the key's quota to the requests of other programs. */
const WATCH_MS = 2_000;
const PAGE_MAX = 100;

export const write = (text: Printable): void => void process.stdout.write(text.toString());

/** Prints sentences for people. */
export const say = (text: Printable): void => void process.stderr.write(`${text.toString()}\n`);

export function printObject(object: object, { json }: { json: boolean }): number {
  write(json ? jsonOf(object) : factsOf(object, paintOf(process.stdout)));
  return 0;
}

export interface Listing<Item> {
  /** Requests a list; `limit` is the size of its pages. */
  ask: (limit: number) => List<Item>;
  columns: readonly Column<Item>[];
  id: (item: Item) => string;
  /** Sentence for an empty list: how to make the first object. */
  empty: string;
}

interface Asked {
  json: boolean;
  limit: string;
  watch: boolean;
}

export async function printList<Item extends object>(listing: Listing<Item>, asked: Asked): Promise<number> {
  const most = Number(asked.limit);
  const read = (): Promise<Item[]> => listing.ask(Math.min(most, PAGE_MAX)).take(most);
  if (asked.watch) return watch(read, listing, asked);
  const items = await read();
  if (asked.json) write(joined(items.map(jsonOf), ""));
  else if (items.length === 0) say(words`${listing.empty}`);
  else write(tableOf(listing.columns, items, paintOf(process.stdout)));
  return 0;
}

/** On a terminal the table is drawn anew; elsewhere a line is printed for each item that is new or has changed. */
async function watch<Item extends object>(
  read: () => Promise<Item[]>,
  { columns, id }: Listing<Item>,
  { json }: Asked,
): Promise<number> {
  const stop = stopped();
  const isDrawn = process.stdout.isTTY && !json;
  const known = new Map<string, string>();
  while (!stop.aborted) {
    const items = await read();
    if (isDrawn) {
      const time = new Date().toISOString().slice(11, 19);
      write(words`${cleared}${tableOf(columns, items, paintOf(process.stdout))}\n${time} UTC, Ctrl-C ends it\n`);
    } else {
      const changed = items.filter((item) => known.get(id(item)) !== JSON.stringify(item)).toReversed();
      for (const item of changed) write(json ? jsonOf(item) : rowOf(columns, item, paintOf(process.stdout)));
    }
    known.clear();
    for (const item of items) known.set(id(item), JSON.stringify(item));
    await pause(WATCH_MS, stop);
  }
  return 0;
}

/** Aborts at Ctrl-C, and when the reader of standard output is gone. */
export function stopped(): AbortSignal {
  const stop = new AbortController();
  const end = (): void => stop.abort();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, end);
  process.stdout.once("error", end);
  return stop.signal;
}
