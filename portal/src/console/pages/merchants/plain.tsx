// A small table: few rows, each with its name first.
import type { ReactNode } from "react";
import { classes } from "../../../ui/classes.ts";

interface Head {
  head: string;
  align?: "right";
  /** Left out on phones. */
  from?: "wide";
}

interface Props {
  label: string;
  heads: readonly Head[];
  rows: readonly { key: string; cells: readonly ReactNode[] }[];
}

export function Plain({ label, heads, rows }: Props) {
  const shape = (at: number, more: string): string =>
    classes(
      "px-2 first:pl-3 last:pr-3 sm:px-3 sm:first:pl-4 sm:last:pr-4",
      heads[at]?.align === "right" ? "text-right" : "text-left",
      heads[at]?.from === "wide" && "hidden sm:table-cell",
      more,
    );
  return (
    <div
      tabIndex={0}
      role="region"
      aria-label={label}
      className="overflow-x-auto rounded-md border border-line bg-panel"
    >
      <table className="w-full border-collapse">
        <thead className="border-b border-line text-xs text-muted">
          <tr>
            {heads.map(({ head }, at) => (
              <th key={head} scope="col" className={shape(at, "py-2 font-medium")}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, cells }) => (
            <tr key={key} className="border-b border-line last:border-b-0">
              {cells.map((cell, at) =>
                at === 0 ? (
                  <th key={heads[at]?.head} scope="row" className={shape(at, "py-1.5 font-medium")}>
                    {cell}
                  </th>
                ) : (
                  <td key={heads[at]?.head} className={shape(at, "py-1.5")}>
                    {cell}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
