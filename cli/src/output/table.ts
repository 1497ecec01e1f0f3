// Tables for people: columns that line up, amounts to the right. Pure.
import { UnexpectedAnswer } from "../answers.ts";
import type { Paint, Tone } from "./color.ts";
import { type Printable, joined, lineOf, shown, widthOf } from "./text.ts";

/** A longer cell moves the ones after it, and widens no other row. */
const WIDTH_MAX = 200;

export interface Column<Item> {
  head: string;
  cell: (item: Item) => string;
  align?: "right";
  tone?: (item: Item) => Tone | undefined;
}

export function tableOf<Item>(columns: readonly Column<Item>[], items: readonly Item[], paint: Paint): Printable {
  return joined(tableLines(columns, items, paint), "");
}

/** The head, and a line for each item. */
function tableLines<Item>(columns: readonly Column<Item>[], items: readonly Item[], paint: Paint): Printable[] {
  const cells = items.map((item) => columns.map((column) => cellOf(column, item)));
  const widths = columns.map(({ head }, at) =>
    cells.reduce((width, row) => Math.max(width, Math.min(WIDTH_MAX, widthOf(row[at] ?? ""))), head.length),
  );
  const padded = (text: string, at: number): string => {
    const space = " ".repeat(Math.max(0, (widths[at] ?? 0) - widthOf(text)));
    return columns[at]?.align === "right" ? space + text : text + space;
  };
  const head = lineOf(columns.map(({ head: text }, at) => paint("dim", padded(text, at))));
  const rows = items.map((item, row) =>
    lineOf(columns.map(({ tone }, at) => paint(tone?.(item), padded(cells[row]?.[at] ?? "", at)))),
  );
  return [head, ...rows];
}

/** A row without the head of the table: other rows are printed later. */
export function rowOf<Item>(columns: readonly Column<Item>[], item: Item, paint: Paint): Printable {
  return joined(tableLines(columns, [item], paint).slice(1), "");
}

/** Throws `UnexpectedAnswer` when the item lacks what the column shows. */
function cellOf<Item>({ head, cell }: Column<Item>, item: Item): string {
  const text: unknown = cell(item);
  if (typeof text === "string") return shown(text);
  throw new UnexpectedAnswer(`a row has no ${head === "" ? "text" : head}`);
}
