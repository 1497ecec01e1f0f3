// Lists of the operator's API: their query parameters.
import { z } from "zod";
import { type IdKind, isId } from "../ground/ids.ts";
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

/** A filter by an object's identity. What is nobody's finds nothing; what is no identity at all is refused. */
export function idField(kind: IdKind) {
  return z
    .string()
    .refine((value) => isId(kind, value), `is not the identity of a ${kind}`)
    .optional();
}

export function limitOf(query: { limit?: string | undefined }): number {
  return Number(query.limit ?? 25);
}
