// Lists: a page cut from rows, the error for a cursor that is nobody's, and dates in a query (sections 2.8 and 4.9).
import { type Micros, SECOND, parseWireTime } from "../ground/clock.ts";
import { type Fault, validationFault } from "../ground/fault.ts";
import { type Reply, reply } from "../ground/reply.ts";

/** A page from one item more than it has, so that the last page knows it is the last. */
export function page<Item>(
  items: readonly Item[],
  limit: number,
  view: (item: Item) => unknown,
  cursorOf: (item: Item) => string,
): Reply {
  const shown = items.slice(0, limit);
  const last = shown.at(-1);
  const more = items.length > limit;
  return reply(200, {
    data: shown.map(view),
    has_more: more,
    next_cursor: more && last !== undefined ? cursorOf(last) : null,
  });
}

export function unknownCursor(value: string): Fault {
  const message = "starting_after is not the identity of an object of yours in this list.";
  return validationFault("starting_after", value, message);
}

/** Where a range begins: the instant, or the beginning of the day. Throws VALIDATION_ERROR. */
export function rangeFrom(field: string, text: string | undefined): Micros | undefined {
  return timeOf(field, text)?.at;
}

/** Where a range ends, exclusive: after the second, or after the whole day. Throws VALIDATION_ERROR. */
export function rangeBefore(field: string, text: string | undefined): Micros | undefined {
  const time = timeOf(field, text);
  return time && time.at + (time.wholeDay ? 86_400 * SECOND : SECOND);
}

function timeOf(field: string, text: string | undefined): { at: Micros; wholeDay: boolean } | undefined {
  if (text === undefined) return undefined;
  const time = parseWireTime(text);
  if (!time)
    throw validationFault(field, text, `${field} must be YYYY-MM-DD or a timestamp like 2026-01-31T00:00:00Z.`);
  return time;
}
