// A list as a table: dense, usable by keyboard, one page at a time. Its empty state shows the call that would fill it.
import type { UseQueryResult } from "@tanstack/react-query";
import type { KeyboardEvent, MouseEvent, ReactNode } from "react";
import type { ApiError } from "../api/error.ts";
import { useGo } from "../address.ts";
import { pagesRoot } from "../face.ts";
import { Button } from "./button.tsx";
import { classes } from "./classes.ts";
import { ErrorFace, useErrorShown } from "./face.tsx";
import { To } from "./link.tsx";
import type { Cursor, ListOf } from "./list.ts";

export interface Column<Row> {
  head: string;
  cell: (row: Row) => ReactNode;
  /** `right` for amounts and counts. */
  align?: "right";
  /** `wide` columns need the room of a landscape tablet, `full` columns that of a desktop: the table is measured, not the window. */
  from?: "wide" | "full";
}

interface Props<Row> {
  /** The name of the rows: "Refunds". */
  label: string;
  list: UseQueryResult<ListOf<Row>, ApiError>;
  columns: readonly Column<Row>[];
  id: (row: Row) => string;
  /** The address of a row's page. The first column links to it. */
  to?: ((row: Row) => string) | undefined;
  cursor?: Cursor | undefined;
  /** The oldest row comes first; by default the newest. */
  oldestFirst?: boolean;
  /** Shown when there are no rows. */
  empty: ReactNode;
}

const SKELETON_ROWS = 8;

export function Table<Row>({ label, list, columns, id, to, cursor, oldestFirst = false, empty }: Props<Row>) {
  const go = useGo();
  const { data, isPlaceholderData } = list;
  const error = useErrorShown(list);
  if (error && (!data || error.status === 403)) return <ErrorFace error={error} retry={() => list.refetch()} />;
  if (data?.data.length === 0)
    return cursor?.isFirst === false && !data.has_more ? <Beyond cursor={cursor} oldestFirst={oldestFirst} /> : empty;
  const open = (event: MouseEvent, row: Row): void => {
    if (!to || event.defaultPrevented || (event.target as Element).closest("a,button,input,label,select")) return;
    // Selecting text in a row must not open its page.
    if (getSelection()?.isCollapsed === false) return;
    if (event.metaKey || event.ctrlKey) window.open(`${pagesRoot}${to(row)}`, "_blank", "noopener");
    else void go(to(row));
  };
  return (
    <div className="@container">
      {/* The table may scroll sideways where it is narrow, so it can be focused. */}
      <div
        tabIndex={-1}
        role="group"
        aria-label={label}
        className="overflow-x-auto rounded-md border border-line bg-panel"
      >
        <table
          className={classes("w-full border-collapse text-left", isPlaceholderData && "opacity-60")}
          aria-busy={!data || isPlaceholderData}
        >
          <thead className="border-b border-line text-xs text-muted">
            <tr>
              {columns.map((column, at) => (
                <th key={column.head} scope="col" className={cellClass(columns, at, "py-2 font-medium")}>
                  {column.head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody onKeyDown={walk}>
            {data?.data.map((row) => (
              <tr
                key={id(row)}
                className={classes("border-b border-line last:border-b-0", to && "cursor-pointer hover:bg-hover")}
                onClick={(event) => open(event, row)}
              >
                {columns.map((column, at) => (
                  <td key={column.head} className={cellClass(columns, at, "h-9 py-1.5")}>
                    {to && at === 0 ? (
                      <To
                        to={to(row)}
                        className="inline-flex min-h-6 items-center font-medium text-ink hover:underline"
                      >
                        {column.cell(row)}
                      </To>
                    ) : (
                      column.cell(row)
                    )}
                  </td>
                ))}
              </tr>
            ))}
            {!data && Array.from({ length: SKELETON_ROWS }, (_, at) => <SkeletonRow key={at} columns={columns} />)}
          </tbody>
        </table>
      </div>
      {cursor && data && <Pages cursor={cursor} list={data} oldestFirst={oldestFirst} />}
    </div>
  );
}

function cellClass(columns: readonly Column<never>[], at: number, more: string): string {
  const { align, from } = columns[at] ?? {};
  const shown = from === "full" ? "hidden ample:table-cell" : from === "wide" && "hidden roomy:table-cell";
  // The last cell that is shown ends as far from the frame as the first one begins, whatever is hidden behind it.
  const isLastWithout = (...hidden: Column<never>["from"][]): boolean =>
    columns.slice(at + 1).every((later) => hidden.includes(later.from));
  return classes(
    "px-1.5 first:pl-3 roomy:px-3 roomy:first:pl-4",
    isLastWithout("wide", "full") && "pr-3",
    isLastWithout("full") && "roomy:pr-4",
    isLastWithout() ? "ample:pr-4" : "ample:pr-3",
    align === "right" && "text-right",
    shown,
    more,
  );
}

function SkeletonRow({ columns }: { columns: readonly Column<never>[] }) {
  return (
    <tr aria-hidden="true" className="border-b border-line last:border-b-0">
      {columns.map((column, at) => (
        <td key={column.head} className={cellClass(columns, at, "h-9 py-1.5")}>
          <div className={classes("skeleton inline-block h-3", at === 0 ? "w-40" : "w-20")} />
        </td>
      ))}
    </tr>
  );
}

/** Moves the focus to the link of the next or previous row with the arrow keys, j and k. */
function walk(event: KeyboardEvent<HTMLTableSectionElement>): void {
  const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
  const target = event.target as Element;
  if (step === undefined || target.matches("input,select,textarea")) return;
  const row = target.closest("tr");
  const rows = [...event.currentTarget.rows];
  const next = row && rows[rows.indexOf(row) + step]?.querySelector<HTMLElement>("a,button");
  if (!next) return;
  event.preventDefault();
  next.focus();
}

interface Turns {
  cursor: Cursor;
  oldestFirst: boolean;
}

function Pages({ cursor, oldestFirst, list }: Turns & { list: ListOf<unknown> }) {
  const { has_more: more, next_cursor: next } = list;
  if (cursor.isFirst && !more) return null;
  return (
    <nav aria-label="Pages" className="mt-3 flex justify-end gap-2 print:hidden">
      <Button disabled={cursor.isFirst} onClick={() => cursor.newer()}>
        {oldestFirst ? "← Earlier" : "← Newer"}
      </Button>
      <Button disabled={!more || next === null} onClick={() => next !== null && cursor.older(next)}>
        {oldestFirst ? "Later →" : "Older →"}
      </Button>
    </nav>
  );
}

function Beyond({ cursor, oldestFirst }: Turns) {
  return (
    <div className="rounded-md border border-line bg-panel p-5">
      <p className="mb-3">Nothing {oldestFirst ? "later" : "older"} is here.</p>
      <Button onClick={() => cursor.newer()}>{oldestFirst ? "← Earlier" : "← Newer"}</Button>
    </div>
  );
}
