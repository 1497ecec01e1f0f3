// Lists of the operator's API: their query parameters.
import { z } from "zod";
import { type IdKind, idPattern, isId } from "../ground/ids.ts";
import { exampleIds } from "../http/examples.ts";
import { checkedIdentity, limitQuery } from "../http/shapes.ts";

/** `limit` and `starting_after`. `isCursor` tells what could name an object of this list at all. */
export function pageFields(field: string, isCursor: (text: string) => boolean, pattern: string, example: string) {
  const starting_after = z
    .string()
    .refine(isCursor, `is not a ${field}`)
    .optional()
    .meta({
      description: `\`${field}\` of the last object received. Send \`next_cursor\` of the page before.`,
      pattern,
      examples: [example],
    });
  return { limit: limitQuery, starting_after };
}

/** The same for a list whose objects are named by identities of a kind. */
export function pageFieldsOf(kind: IdKind, field: string) {
  return pageFields(field, (value) => isId(kind, value), idPattern(kind), exampleIds[kind]);
}

/** A filter by an object's identity. What is nobody's finds nothing; what is no identity at all is refused. */
export function idField(kind: IdKind) {
  return checkedIdentity(kind, `is not the identity of a ${kind}`)
    .optional()
    .meta({ description: `Only what belongs to this ${kind}.` });
}

export function limitOf(query: { limit?: string | undefined }): number {
  return Number(query.limit ?? 25);
}
