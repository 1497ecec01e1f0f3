// One answer to a listener: which events it gets, and from where it goes on. Pure; watermark.ts says what the watermark is.

/** The most identities that a listener names. */
export const SEEN_MAX = 200;
export const PAGE_MAX = 100;

export interface Cursor {
  /** Everything up to here, this one included, was handed on. */
  after: string;
  /** What was handed on beyond it. */
  seen: readonly string[];
}

/** Where to begin: behind what is visible now. `newest` are the newest events there are, newest first, one beyond SEEN_MAX. */
export function beginBehind(newest: readonly string[], watermark: string): Cursor {
  const seen = newest.slice(0, SEEN_MAX).filter((id) => id > watermark);
  return { after: newest[seen.length] ?? watermark, seen };
}

/**
 * Whether history has forgotten something that the cursor had still to be told. `lastForgotten` is the newest event that it has
 * forgotten: whoever has heard of that one, and of what lay before it, has missed nothing.
 */
export function hasMissed({ after, seen }: Cursor, lastForgotten: string | undefined): boolean {
  return lastForgotten !== undefined && lastForgotten > after && !seen.includes(lastForgotten);
}

/** A page with which the cursor leaves behind what nobody can be told any more. What is forgotten lies long below the watermark. */
export function beyond<Event>(page: Heard<Event>, lastForgotten: string | undefined): Heard<Event> {
  if (lastForgotten === undefined || page.more || page.nextAfter >= lastForgotten) return page;
  return { ...page, nextAfter: lastForgotten };
}

export interface Heard<Event> {
  events: Event[];
  /** From where to go on once all of `events` are handed on: everything up to here is below the watermark, and listed or known. */
  nextAfter: string;
  /** There are more than these. */
  more: boolean;
}

/**
 * `found` are the events behind the cursor that it does not name, oldest first, one more than a page if there are so many;
 * `watermark` is an identity up to which nothing more can appear.
 *
 * What lies up to `nextAfter` need not be remembered one by one. The rest, which is younger than half a minute, must be, and a
 * listener can only name so many: beyond that number events wait until older ones are below the watermark. They come late, by half a
 * minute at most, and not at all twice.
 */
export function pageFor<Event extends { eventId: string }>(
  { after, seen }: Cursor,
  found: readonly Event[],
  watermark: string,
): Heard<Event> {
  const listed = found.slice(0, PAGE_MAX);
  const last = listed.at(-1)?.eventId ?? after;
  // A full page may end before the watermark: what comes behind it has not been listed yet.
  const bound = found.length > PAGE_MAX && last < watermark ? last : watermark;
  const known = [...seen, ...listed.map(({ eventId }) => eventId)].filter((id) => id <= bound);
  const nextAfter = known.reduce((greatest, id) => (id > greatest ? id : greatest), after);
  const named = new Set(seen.filter((id) => id > nextAfter)).size;
  const free = listed.filter(({ eventId }) => eventId <= nextAfter).length;
  const events = listed.slice(0, free + SEEN_MAX - named);
  return { events, nextAfter, more: found.length > events.length };
}
