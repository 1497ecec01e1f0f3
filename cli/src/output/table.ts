// Tables for people: columns that line up, amounts to the right. Pure.
import type { Paint, Tone } from "./color.ts";
import { shown } from "./text.ts";

export interface Column<Item> {
  head: string;
  cell: (item: Item) => string;
  align?: "right";
  tone?: (item: Item) => Tone | undefined;
}

export function tableOf<Item>(columns: readonly Column<Item>[], items: readonly Item[], paint: Paint): string {
  const cells = items.map((item) => columns.map(({ cell }) => shown(cell(item))));
  const widths = columns.map(({ head }, at) => Math.max(head.length, ...cells.map((row) => widthOf(row[at] ?? ""))));
  const padded = (text: string, at: number): string => {
    const space = " ".repeat(Math.max(0, (widths[at] ?? 0) - widthOf(text)));
    return columns[at]?.align === "right" ? space + text : text + space;
  };
  const line = (texts: readonly string[]): string => texts.join("  ").trimEnd();
  const head = line(columns.map(({ head: text }, at) => paint("dim", padded(text, at))));
  const rows = items.map((item, row) =>
    line(columns.map(({ tone }, at) => paint(tone?.(item), padded(cells[row]?.[at] ?? "", at)))),
  );
  return [head, ...rows].map((text) => `${text}\n`).join("");
}

/** Width in columns of a terminal, if each character takes one. */
const widthOf = (text: string): number => [...text].length;
