// One page of events for a listener, and the cursor after it. Pure; watermark.ts explains the watermark.

/** The most event ids that a cursor's `seen` names. */
export const SEEN_MAX = 200;
export const PAGE_MAX = 100;

export interface Cursor {
  /** All events up to this one, itself included, were delivered. */
  after: string;
  /** Delivered events after `after`. */
  seen: readonly string[];
}

/** The first cursor, behind all events that are visible now. `newest`: ids of the newest events, newest first, up to SEEN_MAX + 1. */
export function beginBehind(newest: readonly string[], watermark: string): Cursor {
  const seen = newest.slice(0, SEEN_MAX).filter((id) => id > watermark);
  return { after: newest[seen.length] ?? watermark, seen };
}

/** Whether retention has deleted an event that the listener lacks. One that knows `lastForgotten`, the newest deleted, lacks none. */
export function hasMissed({ after, seen }: Cursor, lastForgotten: string | undefined): boolean {
  return lastForgotten !== undefined && lastForgotten > after && !seen.includes(lastForgotten);
}

/** Moves the page's cursor past deleted events, which nobody can receive any more. Deleted events lie far below the watermark. */
export function beyond<Event>(page: ListenPage<Event>, lastForgotten: string | undefined): ListenPage<Event> {
  if (lastForgotten === undefined || page.more || page.nextAfter >= lastForgotten) return page;
  return { ...page, nextAfter: lastForgotten };
}

interface ListenPage<Event> {
  events: Event[];
  /** The next `after`, once all of `events` are delivered. Events up to it are below the watermark, and in `events` or known. */
  nextAfter: string;
  /** There are more events than `events`. */
  more: boolean;
}

/**
 * Makes a page. `found`: the events after the cursor that it does not name, oldest first, up to PAGE_MAX + 1. `watermark`: the id up to which no
 * further event can appear. The cursor has to name each event after `nextAfter`, which is younger than half a minute, and can name only
 * SEEN_MAX. Beyond that number, events wait until older ones are below the watermark: they come up to half a minute late, but never twice.
 */
export function pageFor<Event extends { eventId: string }>(
  { after, seen }: Cursor,
  found: readonly Event[],
  watermark: string,
): ListenPage<Event> {
  const listed = found.slice(0, PAGE_MAX);
  const last = listed.at(-1)?.eventId ?? after;
  // A full page may end before the watermark: the events after the page were not listed yet.
  const bound = found.length > PAGE_MAX && last < watermark ? last : watermark;
  const known = [...seen, ...listed.map(({ eventId }) => eventId)].filter((id) => id <= bound);
  const nextAfter = known.reduce((greatest, id) => (id > greatest ? id : greatest), after);
  const named = new Set(seen.filter((id) => id > nextAfter)).size;
  const free = listed.filter(({ eventId }) => eventId <= nextAfter).length;
  const events = listed.slice(0, free + SEEN_MAX - named);
  return { events, nextAfter, more: found.length > events.length };
}
