// One answer to a listener: which events it gets, and from where it goes on. Pure; what "settled" means stands in settled.ts.

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
export function beginBehind(newest: readonly string[], settled: string): Cursor {
  const seen = newest.slice(0, SEEN_MAX).filter((id) => id > settled);
  return { after: newest[seen.length] ?? settled, seen };
}

/**
 * Whether history has forgotten something that the cursor had still to be told. `lastForgotten` is the newest event that it has
 * forgotten: whoever has heard of that one, and of what lay before it, has missed nothing.
 */
export function hasMissed({ after, seen }: Cursor, lastForgotten: string | undefined): boolean {
  return lastForgotten !== undefined && lastForgotten > after && !seen.includes(lastForgotten);
}

/** A page with which the cursor leaves behind what nobody can be told any more. What is forgotten is long settled. */
export function beyond<Event>(page: Heard<Event>, lastForgotten: string | undefined): Heard<Event> {
  if (lastForgotten === undefined || page.more || page.nextAfter >= lastForgotten) return page;
  return { ...page, nextAfter: lastForgotten };
}

export interface Heard<Event> {
  events: Event[];
  /** From where to go on once all of `events` are handed on: everything up to here is settled, and listed or known. */
  nextAfter: string;
  /** There are more than these. */
  more: boolean;
}

/**
 * `found` are the events behind the cursor that it does not name, oldest first, one more than a page if there are so many;
 * `settled` is an identity up to which nothing more can appear.
 *
 * What lies up to `nextAfter` need not be remembered one by one. The rest, which is younger than half a minute, must be, and a
 * listener can only name so many: beyond that number events wait until older ones are settled. They come late, by half a
 * minute at most, and not at all twice.
 */
export function pageFor<Event extends { eventId: string }>(
  { after, seen }: Cursor,
  found: readonly Event[],
  settled: string,
): Heard<Event> {
  const listed = found.slice(0, PAGE_MAX);
  const last = listed.at(-1)?.eventId ?? after;
  // A full page may end before what is settled does: what comes behind it has not been listed yet.
  const bound = found.length > PAGE_MAX && last < settled ? last : settled;
  const known = [...seen, ...listed.map(({ eventId }) => eventId)].filter((id) => id <= bound);
  const nextAfter = known.reduce((greatest, id) => (id > greatest ? id : greatest), after);
  const named = new Set(seen.filter((id) => id > nextAfter)).size;
  const free = listed.filter(({ eventId }) => eventId <= nextAfter).length;
  const events = listed.slice(0, free + SEEN_MAX - named);
  return { events, nextAfter, more: found.length > events.length };
}
