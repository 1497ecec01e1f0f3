// Lists (sections 2.8 and 4.9): pages, the error for an unknown cursor, and time ranges in query parameters.
import { type Micros, SECOND, parseWireTime } from "../ground/clock.ts";
import { type Fault, validationFault } from "../ground/fault.ts";
import { type Reply, reply } from "../ground/reply.ts";
import type { Book } from "../merchants/books.ts";

/** One page of a list on the wire. */
interface Page {
  data: unknown[];
  has_more: boolean;
  next_cursor: string | null;
}

/** The part of a list's query that says how long a page is. */
type PageLength = { limit?: string | undefined };

/**
 * Makes the body of the page that `query` asks for. `items` has one more when there is a next page. `stoppedAt`: the cursor at which a search, newest first,
 * stopped before it had looked at everything; then a page may be short, or empty, and have a next one. `stoppedAt` comes from a second statement: rows
 * made in between may move it before the last item shown. The cursor is then the last item's, so that none comes twice.
 */
export function pageBody<Item>(
  items: readonly Item[],
  query: PageLength,
  view: (item: Item) => unknown,
  cursorOf: (item: Item) => string,
  stoppedAt?: string,
): Page {
  const limit = limitOf(query);
  const shown = items.slice(0, limit);
  const last = shown.at(-1);
  const end = last === undefined ? undefined : cursorOf(last);
  const goesOnAfterLast = items.length > limit || (stoppedAt !== undefined && end !== undefined && end < stoppedAt);
  const next = goesOnAfterLast ? end : stoppedAt;
  return { data: shown.map(view), has_more: next !== undefined, next_cursor: next ?? null };
}

/** The number of items that a query asks for, as `limitQuery` has it. */
export function limitOf(query: PageLength): number {
  return Number(query.limit ?? 25);
}

/** Answers with the page that `pageBody` makes. */
export function page<Item>(...of: Parameters<typeof pageBody<Item>>): Reply {
  return reply(200, pageBody(...of));
}

/** Answers with a whole list as its only page. */
export function onePage<Item>(items: readonly Item[], view: (item: Item) => unknown): Reply {
  return reply(200, { data: items.map(view), has_more: false, next_cursor: null });
}

/** Makes the VALIDATION_ERROR for a `starting_after` that names no object of the list. */
export function unknownCursor(value: string): Fault {
  const message = "starting_after is not the identity of an object of yours in this list.";
  return validationFault("starting_after", value, message);
}

/** The cursor of a query, if it has one. Throws VALIDATION_ERROR when `find` gives nothing for it. */
export async function cursorOf(
  { starting_after: after }: { starting_after?: string | undefined },
  find: (id: string) => Promise<unknown>,
): Promise<string | undefined> {
  if (after !== undefined && !(await find(after))) throw unknownCursor(after);
  return after;
}

/** Throws VALIDATION_ERROR unless the cursor, if there is one, is an object of this book. `read` finds it in either environment. */
export async function checkCursor(
  { environment }: Book,
  after: string | undefined,
  read: (id: string) => Promise<{ book: Book } | undefined>,
): Promise<void> {
  if (after !== undefined && (await read(after))?.book.environment !== environment) throw unknownCursor(after);
}

/** Start of a range: the instant, or the beginning of the day. Throws VALIDATION_ERROR. */
export function rangeFrom(field: string, text: string | undefined): Micros | undefined {
  return timeOf(field, text)?.at;
}

/** Exclusive end of a range: after the day, or after the second that holds the instant, because times are shown in whole seconds. Throws VALIDATION_ERROR. */
export function rangeBefore(field: string, text: string | undefined): Micros | undefined {
  const time = timeOf(field, text);
  if (!time) return undefined;
  return time.wholeDay ? time.at + 86_400 * SECOND : (Math.floor(time.at / SECOND) + 1) * SECOND;
}

function timeOf(field: string, text: string | undefined): { at: Micros; wholeDay: boolean } | undefined {
  if (text === undefined) return undefined;
  const time = parseWireTime(text);
  if (time) return time;
  const plus = text.includes(" ") ? " In an address, write + as %2B." : "";
  throw validationFault(field, text, `${field} must be YYYY-MM-DD or a timestamp like 2026-01-31T00:00:00Z.${plus}`);
}
