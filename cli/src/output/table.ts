// Tables for people: columns that line up, amounts to the right. Pure.
import { UnexpectedAnswer } from "../answers.ts";
import type { Paint, Tone } from "./color.ts";
import { type Printable, joined, lineOf, shown, widthOf, words } from "./text.ts";

/** A longer cell moves the ones after it, and widens no other row. */
const WIDTH_MAX = 200;
/** Columns of a terminal between two cells, and before the later lines of a row that is folded. */
const GAP = 2;
const INDENT = words``;

export interface Column<Item> {
  head: string;
  cell: (item: Item) => string;
  align?: "right";
  tone?: (item: Item) => Tone | undefined;
}

/** `width`: that of a terminal; a row that is wider is folded between its cells. Without one, a row is a line. */
export function tableOf<Item>(
  columns: readonly Column<Item>[],
  items: readonly Item[],
  paint: Paint,
  width?: number,
): Printable {
  const { head, rows } = tableLines(columns, items, paint, width);
  return joined([head, ...rows], "");
}

/** The head, and one text for each item. */
function tableLines<Item>(
  columns: readonly Column<Item>[],
  items: readonly Item[],
  paint: Paint,
  width = Number.POSITIVE_INFINITY,
): { head: Printable; rows: Printable[] } {
  const cells = items.map((item) => columns.map((column) => cellOf(column, item)));
  const widths = columns.map(({ head }, at) =>
    cells.reduce((most, row) => Math.max(most, Math.min(WIDTH_MAX, widthOf(row[at] ?? ""))), head.length),
  );
  const lines = foldedOf(columns, widths, width);
  const padded = (text: string, at: number): string => {
    const space = " ".repeat(Math.max(0, (widths[at] ?? 0) - widthOf(text)));
    return columns[at]?.align === "right" ? space + text : text + space;
  };
  const line = (places: readonly number[], at: number, cell: (at: number) => Printable): Printable =>
    lineOf([...(at === 0 ? [] : [INDENT]), ...places.map(cell)]);
  const head = lines.map((places, at) =>
    line(places, at, (column) => paint("dim", padded(columns[column]?.head ?? "", column))),
  );
  const rows = items.map((item, row) => {
    const cellAt = (column: number): string => cells[row]?.[column] ?? "";
    const filled = lines.filter((places, at) => at === 0 || places.some((column) => cellAt(column) !== ""));
    return filled.map((places, at) =>
      line(places, at, (column) => paint(columns[column]?.tone?.(item), padded(cellAt(column), column))),
    );
  });
  return { head: joined(head, ""), rows: rows.map((texts) => joined(texts, "")) };
}

/** The columns of each line of a row, by their places. One without a head stays beside the one before it, such as the currency of an amount. */
function foldedOf<Item>(columns: readonly Column<Item>[], widths: readonly number[], width: number): number[][] {
  const lines: number[][] = [[]];
  let taken = 0;
  for (const [at, { head }] of columns.entries()) {
    const joins = at > 0 && head === "";
    const next = columns[at + 1]?.head === "" ? GAP + (widths[at + 1] ?? 0) : 0;
    if (at > 0 && !joins && taken + (widths[at] ?? 0) + next > width) {
      lines.push([]);
      taken = GAP;
    }
    lines.at(-1)?.push(at);
    taken += (widths[at] ?? 0) + GAP;
  }
  return lines;
}

/** A row without the head of the table: other rows are printed later. */
export function rowOf<Item>(columns: readonly Column<Item>[], item: Item, paint: Paint): Printable {
  return joined(tableLines(columns, [item], paint).rows, "");
}

/** Throws `UnexpectedAnswer` when the item lacks what the column shows. */
function cellOf<Item>({ head, cell }: Column<Item>, item: Item): string {
  const text: unknown = cell(item);
  if (typeof text === "string") return shown(text);
  throw new UnexpectedAnswer(`a row has no ${head === "" ? "text" : head}`);
}
