// The working set of one batch: rows as loaded, plus what earlier commands of the batch did. Pure; no I/O.
import { assert } from "../ground/fault.ts";
import type { Row } from "./database.ts";
import { byLockOrder } from "./lock-order.ts";
import type { Table } from "./table.ts";
import type { Step } from "./transaction.ts";

type AnyTable = Table<unknown, unknown>;

interface Cell {
  value: unknown;
  /** What must be written: nothing, a new row or a changed one. */
  state: "loaded" | "inserted" | "updated";
}

interface Hook {
  committed: () => void;
  unknown: (() => void) | undefined;
}

/** What a command needs to have loaded before it runs. */
export interface Need {
  table: AnyTable;
  key: unknown;
}

export function need<Key, Value>(table: Table<Key, Value>, key: Key): Need {
  return { table: table, key };
}

export class WorkingSet {
  private readonly cells = new Map<AnyTable, Map<string, Cell>>();
  private draft = new Map<AnyTable, Map<string, Cell>>();
  private hooks: Hook[] = [];
  private draftHooks: Hook[] = [];

  /** Puts a row in as it was loaded. Not for commands. */
  fill(table: AnyTable, row: Row): void {
    const value = table.parse?.(row);
    assert(value !== undefined, `${table.name} cannot be loaded`);
    this.put(table, value);
  }

  /** Puts a value in as if it had been loaded. Not for commands. */
  put<Key, Value>(table: Table<Key, Value>, value: Value): void {
    cellsOf(this.cells, table).set(table.keyText(table.keyOf(value)), { value, state: "loaded" });
  }

  /** The row as this command sees it, or undefined. */
  get<Key, Value>(table: Table<Key, Value>, key: Key): Value | undefined {
    const own = table as unknown as AnyTable;
    const text = table.keyText(key);
    const cell = this.draft.get(own)?.get(text) ?? this.cells.get(own)?.get(text);
    return cell?.value as Value | undefined;
  }

  /** Adds a row. A row of that key must not be there. */
  insert<Key, Value>(table: Table<Key, Value>, value: Value): void {
    const key = table.keyOf(value);
    assert(this.get(table, key) === undefined, `${table.name} already has ${table.keyText(key)}`);
    cellsOf(this.draft, table).set(table.keyText(key), { value, state: "inserted" });
  }

  /** Every row of a table that was added and is kept. */
  inserted<Key, Value>(table: Table<Key, Value>): Value[] {
    return this.inState(table, "inserted");
  }

  /** Every row of a table that was there, was changed and is kept. */
  updated<Key, Value>(table: Table<Key, Value>): Value[] {
    return this.inState(table, "updated");
  }

  private inState<Key, Value>(table: Table<Key, Value>, wanted: Cell["state"]): Value[] {
    const cells = this.cells.get(table) ?? new Map<string, Cell>();
    return [...cells.values()].filter(({ state }) => state === wanted).map(({ value }) => value as Value);
  }

  /** Replaces a row that is there. */
  update<Key, Value>(table: Table<Key, Value>, value: Value): void {
    this.replace(table, value, "updated");
  }

  /** Replaces a row that is there for the commands that follow. What is new in it another table writes. */
  show<Key, Value>(table: Table<Key, Value>, value: Value): void {
    this.replace(table, value, "loaded");
  }

  private replace<Key, Value>(table: Table<Key, Value>, value: Value, state: "updated" | "loaded"): void {
    const own = table as unknown as AnyTable;
    const text = table.keyText(table.keyOf(value));
    const before = this.draft.get(own)?.get(text) ?? this.cells.get(own)?.get(text);
    assert(before, `${table.name} has no ${text} to update`);
    cellsOf(this.draft, own).set(text, { value, state: before.state === "loaded" ? state : before.state });
  }

  /**
   * Runs after the commit of this batch, if this command is kept. When nobody can know whether it was committed, `unknown` runs
   * instead: it must be right in either case.
   */
  afterCommit(committed: () => void, unknown?: () => void): void {
    this.draftHooks.push({ committed, unknown });
  }

  /** Keeps what the command did. */
  keep(): void {
    for (const [table, cells] of this.draft) {
      const target = cellsOf(this.cells, table);
      for (const [text, cell] of cells) target.set(text, cell);
    }
    this.hooks.push(...this.draftHooks);
    this.drop();
  }

  /** Forgets what the command did since it was last kept: a refused command leaves no trace. */
  drop(): void {
    this.draft = new Map();
    this.draftHooks = [];
  }

  /** What is to be written: one statement a table for new rows and one for changed ones; tables in lock order, rows by key. */
  writes(): Step[] {
    const writes: Step[] = [];
    for (const table of [...this.cells.keys()].sort(byLockOrder)) {
      const cells = [...cellsOf(this.cells, table)].filter(([, cell]) => cell.state !== "loaded");
      cells.sort(([a], [b]) => (a < b ? -1 : 1));
      const inserted = cells.filter(([, cell]) => cell.state === "inserted").map(([, cell]) => cell.value);
      const updated = cells.filter(([, cell]) => cell.state === "updated").map(([, cell]) => cell.value);
      if (inserted.length > 0 && table.insert) writes.push({ table: table.name, statement: table.insert(inserted) });
      if (updated.length > 0 && table.update) writes.push({ table: table.name, statement: table.update(updated) });
    }
    return writes;
  }

  committed(): void {
    for (const { committed } of this.hooks) committed();
  }

  unknown(): void {
    for (const { unknown } of this.hooks) unknown?.();
  }
}

function cellsOf(map: Map<AnyTable, Map<string, Cell>>, table: unknown): Map<string, Cell> {
  const own = table as AnyTable;
  let cells = map.get(own);
  if (!cells) map.set(own, (cells = new Map()));
  return cells;
}
