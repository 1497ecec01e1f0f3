// What a command of one merchant has to work with. Everything that it may know comes in through its context, so it is a pure function.
import type { EventType } from "../events/event.ts";
import { emitEvent } from "../events/outbox.ts";
import type { Micros } from "../ground/clock.ts";
import type { Fault } from "../ground/fault.ts";
import type { IdKind } from "../ground/ids.ts";
import type { Journal, JournalDraft } from "../ledger/journal.ts";
import { post } from "../ledger/ledger.ts";
import { type Book, bookClocks, bookNow } from "../merchants/books.ts";
import type { Merchant } from "../merchants/directory.ts";
import type { Command, Moment } from "../store/lane.ts";
import { type Need, type WorkingSet, need } from "../store/working-set.ts";

/** Whose book a command works on, and the merchant's settings at the moment in which it was made. */
export interface BookOwner {
  readonly merchant: Merchant;
  readonly book: Book;
}

export interface CommandContext extends BookOwner {
  /** The rows that the command asked for, plus what earlier commands of its batch did. */
  readonly set: WorkingSet;
  /** The time in the book. */
  readonly now: Micros;
  /** The real time: acquirers and leases do not live in a sandbox's time. */
  readonly realNow: Micros;
  /** A new identity, in the order of the book's time. */
  readonly newId: (kind: IdKind) => string;
  /** Writes an event about an object, delivered to `callbackUrl` or else to the registered address. Gives the event's identity. */
  readonly emit: (event: {
    type: EventType;
    subjectId: string | undefined;
    data: unknown;
    callbackUrl?: string | undefined;
  }) => string;
  /** Adds a journal to the book. Throws UNBALANCED_ENTRY when it is not zero-sum. */
  readonly post: (draft: JournalDraft) => Journal;
}

/** A command of one book, before it is handed to a lane. */
export interface BookCommand<Answer> {
  name: string;
  /** Rows beyond the book's clock. */
  needs: readonly Need[];
  execute: (context: CommandContext) => Answer;
  onLocked?: (table: string) => Fault | undefined;
}

/** The context of one command as it runs. */
export function contextOf({ merchant, book }: BookOwner, set: WorkingSet, { realNow, newId }: Moment): CommandContext {
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

/** The command as lanes run it. */
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
