// Checks in pure tests that a command reads only rows that it named as needs: a lane loads no others, but a pure test has all its rows loaded.
import { assert } from "../src/ground/fault.ts";
import type { Command } from "../src/store/command.ts";
import type { Table } from "../src/store/table.ts";
import type { WorkingSet } from "../src/store/working-set.ts";

type AnyTable = Table<unknown, unknown>;

/** Wraps a command so that it fails when it finds a row that it did not name as needed. Tables that are only written are exempt, and `inPassing`. */
export function readsOnlyItsNeeds<Answer>(
  command: Command<Answer>,
  inPassing: readonly { name: string }[],
): Command<Answer> {
  const nameOf = (table: AnyTable, key: unknown): string => `${table.name} ${table.keyText(key)}`;
  const named = new Set(command.needs.map(({ table, key }) => nameOf(table, key)));
  const read = (set: WorkingSet, table: AnyTable, key: unknown): unknown => {
    const found = set.get(table, key);
    const isExempt = !table.load || inPassing.some(({ name }) => name === table.name);
    const allowed = found === undefined || isExempt || named.has(nameOf(table, key));
    assert(allowed, `${command.name} does not need ${nameOf(table, key)}`);
    return found;
  };
  const watched = (set: WorkingSet): WorkingSet =>
    new Proxy(set, {
      get(target, name) {
        if (name === "get") return (table: AnyTable, key: unknown) => read(target, table, key);
        const member: unknown = Reflect.get(target, name, target);
        return typeof member === "function" ? (member.bind(target) as unknown) : member;
      },
    });
  return { ...command, execute: (set, moment) => command.execute(watched(set), moment) };
}
