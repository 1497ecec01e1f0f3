// A small table of settings: few rows, each with its name first and what can be changed last.
import type { ReactNode } from "react";

interface Props {
  label: string;
  heads: readonly string[];
  rows: readonly { key: string; cells: readonly ReactNode[] }[];
}

export function Plain({ label, heads, rows }: Props) {
  const end = (at: number): string => (at > 0 && at === heads.length - 1 ? "text-right" : "text-left");
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
            {heads.map((head, at) => (
              <th key={head} scope="col" className={`px-3 py-2 font-medium first:pl-4 last:pr-4 ${end(at)}`}>
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
                  <th key={heads[at]} scope="row" className="py-1.5 pr-3 pl-4 text-left font-medium">
                    {cell}
                  </th>
                ) : (
                  <td key={heads[at]} className={`px-3 py-1.5 last:pr-4 ${end(at)}`}>
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
