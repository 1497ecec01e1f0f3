// Prints data to standard output: facts for people, lines of JSON for programs. Sentences go to standard error. Every output goes through
// `write` or `say`, which take no strings: text.ts makes what they print.
import { paintOf } from "./color.ts";
import { factsOf } from "./facts.ts";
import { type Column, tableOf } from "./table.ts";
import { type Printable, jsonOf } from "./text.ts";

export const write = (text: Printable): void => void process.stdout.write(text.toString());

/** Prints sentences for people. */
export const say = (text: Printable): void => void process.stderr.write(`${text.toString()}\n`);

export function printObject(object: object, { json }: { json: boolean }): number {
  write(json ? jsonOf(object) : factsOf(object, paintOf(process.stdout)));
  return 0;
}

/** Prints a table, folded where the terminal is too narrow for its rows. */
export function printTable<Item>(columns: readonly Column<Item>[], items: readonly Item[]): void {
  const width = process.stdout.isTTY ? process.stdout.columns : undefined;
  write(tableOf(columns, items, paintOf(process.stdout), width));
}

let stopping: AbortController | undefined;

/** Aborts at Ctrl-C, and when the reader of standard output is gone. One signal is for all that a program does until then. */
export function stopped(): AbortSignal {
  if (stopping?.signal.aborted === false) return stopping.signal;
  const stop = (stopping = new AbortController());
  const end = (): void => stop.abort();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, end);
  process.stdout.once("error", end);
  return stop.signal;
}
