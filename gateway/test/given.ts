// Pure tests of commands: given rows, when a command runs, then these changes and this answer. No database, no socket, and only a given clock.
import { expect } from "vitest";
import type { BookOwner } from "../src/commands/command-context.ts";
import type { EventType } from "../src/events/event.ts";
import { events } from "../src/events/outbox.sql.ts";
import { type Micros, SECOND } from "../src/ground/clock.ts";
import { Fault, type FaultCode } from "../src/ground/fault.ts";
import { idOf, newId } from "../src/ground/ids.ts";
import type { Minor } from "../src/ground/money.ts";
import { bookBalances, heads, journals } from "../src/ledger/ledger.sql.ts";
import { type Book, bookClocks } from "../src/merchants/books.ts";
import type { Merchant } from "../src/merchants/directory.ts";
import { type MerchantSettings, defaultSettings } from "../src/merchants/settings.ts";
import type { Command } from "../src/store/command.ts";
import type { Table } from "../src/store/table.ts";
import { WorkingSet } from "../src/store/working-set.ts";
import { readsOnlyItsNeeds } from "./needs.ts";

export const book: Book = {
  merchantId: idOf("merchant", "01900000-0000-7000-8000-000000000001"),
  environment: "sandbox",
};
/** The real time of a command, unless a test gives another. */
export const NOW: Micros = 1_800_000_000 * SECOND;

/** A merchant with the settings of a new merchant, changed by `settings`. */
export function merchantWith(settings: Partial<MerchantSettings> = {}, url?: string): Merchant {
  return {
    merchantId: book.merchantId,
    name: "Test Shop",
    suspended: false,
    rateLimitPerMinute: 100,
    settings: { ...defaultSettings, ...settings },
    webhooks: url === undefined ? {} : { sandbox: { url } as never },
  };
}

/** The owner of `book`, with these settings. */
export function ownerWith(settings: Partial<MerchantSettings> = {}, url?: string): BookOwner {
  return { merchant: merchantWith(settings, url), book };
}

/** A row of a table, for `given`. */
export interface GivenRow {
  table: Table<never, never>;
  value: unknown;
}

export function row<Key, Value>(table: Table<Key, Value>, value: Value): GivenRow {
  return { table: table as never, value };
}

export interface Given {
  rows?: readonly GivenRow[];
  /** Balances by `account currency`: debits minus credits, so money that a merchant owns is negative. */
  balances?: Readonly<Record<string, Minor>>;
  /** Seconds by which the book's clock is ahead of the real time. */
  offsetSeconds?: number;
  realNow?: Micros;
  /** Tables of which commands may read what earlier commands of the batch left, without naming the rows as needed. */
  inPassing?: readonly { name: string }[];
}

/** The rows that a command changed, by table. */
interface Changes {
  inserted<Key, Value>(table: Table<Key, Value>): Value[];
  updated<Key, Value>(table: Table<Key, Value>): Value[];
  /** A row as the next command sees it. */
  seen<Key, Value>(table: Table<Key, Value>, key: Key): Value | undefined;
  /** Types of the events that were written, in order. */
  events: EventType[];
  /** Kinds of the journals that were posted, in order, each with the sum of its entries as `account currency: amount`. */
  journals: { kind: string; entries: Record<string, Minor> }[];
  /** True when nothing would be written. */
  isNothing: boolean;
}

type Outcome<Answer> = { answer: Answer } | { fault: Fault };

/**
 * Sets up the rows that a command finds. Further commands may follow; each sees the changes of those before it. A command fails when it finds a row
 * that it did not name as needed: here all rows are loaded, but a lane loads no others.
 */
export function given(what: Given = {}): { when<Answer>(command: Command<Answer>): Then<Answer> } {
  const set = new WorkingSet();
  set.put(bookClocks, { book, offsetSeconds: what.offsetSeconds ?? 0 });
  set.put(heads, { book, seq: 0n, hash: Buffer.alloc(32) });
  set.put(bookBalances, { book, balances: new Map(Object.entries(what.balances ?? {})) });
  for (const { table, value } of what.rows ?? []) set.put(table, value as never);
  const { inPassing = [] } = what;
  return { when: (command) => new Then(run(set, command, what.realNow ?? NOW, inPassing), set, inPassing) };
}

/** Runs a command as a lane does: the changes of a rejected command are dropped, unless its fault has `keepsChanges`. */
function run<Answer>(
  set: WorkingSet,
  command: Command<Answer>,
  realNow: Micros,
  inPassing: readonly { name: string }[],
): Outcome<Answer> {
  try {
    const answer = readsOnlyItsNeeds(command, inPassing).execute(set, { realNow, newId });
    set.keep();
    return { answer };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    if (error.keepsChanges) set.keep();
    else set.drop();
    return { fault: error };
  }
}

export class Then<Answer> {
  readonly outcome: Outcome<Answer>;
  private readonly set: WorkingSet;
  private readonly inPassing: readonly { name: string }[];

  constructor(outcome: Outcome<Answer>, set: WorkingSet, inPassing: readonly { name: string }[]) {
    this.outcome = outcome;
    this.set = set;
    this.inPassing = inPassing;
  }

  get changes(): Changes {
    const { set } = this;
    return {
      inserted: (table) => set.inserted(table),
      updated: (table) => set.updated(table),
      seen: (table, key) => set.get(table, key),
      events: set.inserted(events).map(({ type }) => type),
      journals: set.inserted(journals).map(({ kind, entries }) => ({
        kind,
        entries: Object.fromEntries(
          sumsOf(entries.map(({ account, currency, amountMinor }) => [`${account} ${currency}`, amountMinor])),
        ),
      })),
      isNothing: set.writes().length === 0,
    };
  }

  /** The answer; fails when the command was rejected. */
  get answer(): Answer {
    if ("fault" in this.outcome) expect.unreachable(`refused with ${this.outcome.fault.code}`);
    return this.outcome.answer;
  }

  /** Expects that the command was rejected with this code, and that nothing is written, or with `keeping` that something is. */
  refuses(code: FaultCode, details?: Record<string, unknown>, keeping = false): this {
    if (!("fault" in this.outcome)) expect.unreachable(`answered, and not refused with ${code}`);
    const { fault } = this.outcome;
    expect(fault.code).toBe(code);
    if (details) expect(fault.extras.details).toEqual(details);
    expect(this.changes.isNothing, "whether nothing is written").toBe(!keeping);
    return this;
  }

  /** Passes the changes and the answer to `look`. Expects that each journal sums to zero in each currency. */
  // oxlint-disable-next-line unicorn/no-thenable -- nobody awaits it: a command's outcome is there at once
  then(look: (changes: Changes, answer: Answer) => void): this {
    const { changes } = this;
    for (const { entries } of changes.journals) {
      const sums = sumsOf(Object.entries(entries).map(([name, amount]) => [name.split(" ")[1] ?? "", amount]));
      expect([...sums.values()].every((sum) => sum === 0n)).toBe(true);
    }
    look(changes, this.answer);
    return this;
  }

  /** Runs the next command on the rows that this command left. */
  when<Next>(command: Command<Next>, realNow: Micros = NOW): Then<Next> {
    const { set, inPassing } = this;
    return new Then(run(set, command, realNow, inPassing), set, inPassing);
  }
}

/** Amounts added up by name. */
function sumsOf(amounts: readonly (readonly [name: string, amount: Minor])[]): Map<string, Minor> {
  const sums = new Map<string, Minor>();
  for (const [name, amount] of amounts) sums.set(name, (sums.get(name) ?? 0n) + amount);
  return sums;
}
