// Lists of the operator's API: their query parameters.
import { z } from "zod";
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
