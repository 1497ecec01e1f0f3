// The context of a command of one merchant. A command gets all its inputs from the context, so it is a pure function.
import type { EventType } from "../events/event.ts";
import { emitEvent } from "../events/outbox.ts";
import type { Micros } from "../ground/clock.ts";
import type { Fault } from "../ground/fault.ts";
import type { IdKind } from "../ground/ids.ts";
import type { Journal, JournalDraft } from "../ledger/journal.ts";
import { post } from "../ledger/ledger.ts";
import { type Book, bookClocks, bookNow } from "../merchants/books.ts";
import type { Merchant } from "../merchants/directory.ts";
import type { Command, Moment } from "../store/command.ts";
import { type Need, type WorkingSet, need } from "../store/working-set.ts";

/** The book that a command works on, and its merchant with the settings at the time when the command was made. */
export interface BookOwner {
  readonly merchant: Merchant;
  readonly book: Book;
}

export interface CommandContext extends BookOwner {
  /** The rows that the command needs, with the changes of earlier commands of its batch. */
  readonly set: WorkingSet;
  /** The time by the book's clock. */
  readonly now: Micros;
  /** The real time, for acquirers and leases, which do not follow a sandbox's clock. */
  readonly realNow: Micros;
  /** Makes an identity that sorts by the book's time. */
  readonly newId: (kind: IdKind) => string;
  /** Writes an event about an object, to be delivered to `callbackUrl`, else to the registered address. Gives the event's identity. */
  readonly emit: (event: {
    type: EventType;
    subjectId: string | undefined;
    data: unknown;
    callbackUrl?: string | undefined;
  }) => string;
  /** Adds a journal to the book. Throws UNBALANCED_ENTRY when the journal is not zero-sum. */
  readonly post: (draft: JournalDraft) => Journal;
}

/** A command of one book, before `bookCommand` turns it into the form that lanes run. */
interface BookCommand<Answer> {
  name: string;
  /** Rows to load, besides the book's clock. */
  needs: readonly Need[];
  execute: (context: CommandContext) => Answer;
  onLocked?: (table: string) => Fault | undefined;
}

/** Makes the context of one run of a command. */
function contextOf({ merchant, book }: BookOwner, set: WorkingSet, { realNow, newId }: Moment): CommandContext {
  const now = bookNow(set, book, realNow);
  const context: CommandContext = {
    merchant,
    book,
    set,
    now,
    realNow,
    newId: (kind) => newId(kind, now),
    emit: ({ callbackUrl, ...event }) =>
      emitEvent(context, {
        ...event,
        url: callbackUrl ?? merchant.webhooks[book.environment]?.url,
        ownUrl: callbackUrl !== undefined,
      }),
    post: (draft) => post(context, draft),
  };
  return context;
}

/** Turns a command of a book into the form that lanes run. */
export function bookCommand<Answer>(owner: BookOwner, command: BookCommand<Answer>): Command<Answer> {
  const { name, needs, execute, onLocked } = command;
  return {
    name,
    book: owner.book,
    needs: [need(bookClocks, owner.book), ...needs],
    execute: (set, moment) => execute(contextOf(owner, set, moment)),
    ...(onLocked && { onLocked }),
  };
}
