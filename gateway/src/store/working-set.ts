// The working set of one batch: its rows as loaded, plus the changes of earlier commands of the batch. Pure; no I/O.
import { assert } from "../ground/fault.ts";
import type { Row } from "./database.ts";
import { byLockOrder } from "./lock-order.ts";
import type { Table } from "./table.ts";
import type { Step } from "./transaction.ts";

type AnyTable = Table<unknown, unknown>;

interface Cell {
  value: unknown;
  /** Whether nothing, a new row or a changed row must be written. */
  state: "loaded" | "inserted" | "updated";
}

interface Hook {
  committed: () => void;
  unknown: (() => void) | undefined;
}

/** A row that must be loaded before a command runs. */
export interface Need {
  table: AnyTable;
  key: unknown;
}

/** Names a row for a command's `needs`. A key that finds no row is no error: `get` gives undefined. */
export function need<Key, Value>(table: Table<Key, Value>, key: Key): Need {
  return { table, key };
}

export class WorkingSet {
  private readonly cells = new Map<AnyTable, Map<string, Cell>>();
  private draft = new Map<AnyTable, Map<string, Cell>>();
  private hooks: Hook[] = [];
  private draftHooks: Hook[] = [];

  /** Adds a row that was loaded. Not for commands. */
  fill(table: AnyTable, row: Row): void {
    const value = table.parse?.(row);
    assert(value !== undefined, `${table.name} cannot be loaded`);
    this.put(table, value);
  }

  /** Adds a value as if it had been loaded. Not for commands. */
  put<Key, Value>(table: Table<Key, Value>, value: Value): void {
    cellsOf(this.cells, table).set(table.keyText(table.keyOf(value)), { value, state: "loaded" });
  }

  /** The row with the changes of this command and of earlier ones; undefined when there is none. */
  get<Key, Value>(table: Table<Key, Value>, key: Key): Value | undefined {
    const own = table as unknown as AnyTable;
    const text = table.keyText(key);
    const cell = this.draft.get(own)?.get(text) ?? this.cells.get(own)?.get(text);
    return cell?.value as Value | undefined;
  }

  /** Adds a new row. Asserts that no row of that key exists. */
  insert<Key, Value>(table: Table<Key, Value>, value: Value): void {
    const key = table.keyOf(value);
    assert(this.get(table, key) === undefined, `${table.name} already has ${table.keyText(key)}`);
    cellsOf(this.draft, table).set(table.keyText(key), { value, state: "inserted" });
  }

  /** New rows of a table, of commands whose changes are kept. */
  inserted<Key, Value>(table: Table<Key, Value>): Value[] {
    return this.inState(table, "inserted");
  }

  /** Changed rows of a table, of commands whose changes are kept. */
  updated<Key, Value>(table: Table<Key, Value>): Value[] {
    return this.inState(table, "updated");
  }

  private inState<Key, Value>(table: Table<Key, Value>, wanted: Cell["state"]): Value[] {
    const cells = this.cells.get(table) ?? new Map<string, Cell>();
    return [...cells.values()].filter(({ state }) => state === wanted).map(({ value }) => value as Value);
  }

  /** Replaces an existing row. */
  update<Key, Value>(table: Table<Key, Value>, value: Value): void {
    this.replace(table, value, "updated");
  }

  /** Replaces the row of this key, or adds it when there is none. */
  upsert<Key, Value>(table: Table<Key, Value>, value: Value): void {
    if (this.get(table, table.keyOf(value)) === undefined) this.insert(table, value);
    else this.update(table, value);
  }

  /** Replaces an existing row for the commands that follow, without writing it: another table's statement writes the change. */
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
   * Registers `committed` to run after the commit of this batch, if this command's changes are kept. When the outcome of the commit is
   * unknown, `unknown` runs instead: it must be right whether or not the batch was committed.
   */
  afterCommit(committed: () => void, unknown?: () => void): void {
    this.draftHooks.push({ committed, unknown });
  }

  /** Keeps the changes of the command. */
  keep(): void {
    for (const [table, cells] of this.draft) {
      const target = cellsOf(this.cells, table);
      for (const [text, cell] of cells) target.set(text, cell);
    }
    this.hooks.push(...this.draftHooks);
    this.drop();
  }

  /** Drops all changes since the last `keep`: a rejected command leaves no trace. */
  drop(): void {
    this.draft = new Map();
    this.draftHooks = [];
  }

  /** The statements to write: per table one for new rows and one for changed rows; tables in lock order, rows by key. */
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

  /** What is to run after this ending of the batch. */
  hooksAfter(ending: "committed" | "unknown"): (() => void)[] {
    return this.hooks.flatMap((hook) => hook[ending] ?? []);
  }
}

function cellsOf(map: Map<AnyTable, Map<string, Cell>>, table: unknown): Map<string, Cell> {
  return map.getOrInsertComputed(table as AnyTable, () => new Map());
}
