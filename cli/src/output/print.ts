// Prints data to standard output: facts and tables for people, lines of JSON for programs. Sentences go to standard error.
import type { List } from "../../../sdk/src/list.ts";
import { say } from "../../../gateway/src/cli/say.ts";
import { pause } from "../pause.ts";
import { paintOf } from "./color.ts";
import { factsOf } from "./facts.ts";
import { type Column, tableOf } from "./table.ts";

/** Interval of `--watch`, which leaves most of the key's quota to the requests of other programs. */
const WATCH_MS = 2_000;
const PAGE_MAX = 100;

export const write = (text: string): void => void process.stdout.write(text);

export function printObject(object: object, { json }: { json: boolean }): number {
  write(json ? `${JSON.stringify(object)}\n` : factsOf(object, paintOf(process.stdout)));
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
  if (asked.json) write(items.map((item) => `${JSON.stringify(item)}\n`).join(""));
  else if (items.length === 0) say(listing.empty);
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
      write(`\u001B[H\u001B[2J${tableOf(columns, items, paintOf(process.stdout))}\n${time} UTC, Ctrl-C ends it\n`);
    } else {
      const changed = items.filter((item) => known.get(id(item)) !== JSON.stringify(item)).toReversed();
      for (const item of changed) write(json ? `${JSON.stringify(item)}\n` : rowOf(columns, item));
    }
    known.clear();
    for (const item of items) known.set(id(item), JSON.stringify(item));
    await pause(WATCH_MS, stop);
  }
  return 0;
}

/** A row without the head of the table: other rows are printed later. */
function rowOf<Item>(columns: readonly Column<Item>[], item: Item): string {
  const paint = paintOf(process.stdout);
  return tableOf(columns, [item], paint).split("\n").slice(1).join("\n");
}

/** Aborts at Ctrl-C, and when the reader of standard output is gone. */
export function stopped(): AbortSignal {
  const stop = new AbortController();
  const end = (): void => stop.abort();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, end);
  process.stdout.once("error", end);
  return stop.signal;
}
