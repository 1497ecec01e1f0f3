// Lists of the operator's API: their query parameters, and a page cut from rows.
import { z } from "zod";
import { type Fault, validationFault } from "../ground/fault.ts";
import { type Reply, reply } from "../http/envelope.ts";
import { limitQuery } from "../http/shapes.ts";

/** `limit` and `starting_after`. `isCursor` tells what could name an object of this list at all. */
export function pageFields(field: string, isCursor: (text: string) => boolean) {
  const starting_after = z
    .string()
    .refine(isCursor, `is not a ${field}`)
    .optional()
    .meta({ description: `\`${field}\` of the last object received.` });
  return { limit: limitQuery, starting_after };
}

export function limitOf(query: { limit?: string | undefined }): number {
  return Number(query.limit ?? 25);
}

/** A page of the list from one row more than the page has, so that the last page knows it is the last. */
export function page<Item>(items: readonly Item[], limit: number, cursorOf: (item: Item) => string): Reply {
  const data = items.slice(0, limit);
  const last = data.at(-1);
  const more = items.length > limit;
  return reply(200, { data, has_more: more, next_cursor: more && last !== undefined ? cursorOf(last) : null });
}

export function unknownCursor(value: string): Fault {
  return validationFault("starting_after", value, "starting_after is not the identity of an object in this list.");
}
