// Query parameters of lists in the operator API.
import { z } from "zod";
import { type IdKind, idPattern, isId } from "../ground/ids.ts";
import { exampleIds } from "../http/examples.ts";
import { checkedIdentity, limitQuery } from "../http/shapes.ts";

/** `limit` and `starting_after`. `isCursor` rejects texts that cannot be the identity of a listed object. */
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

/** `pageFields` for a list whose cursors are identities of one kind. */
export function pageFieldsOf(kind: IdKind, field: string) {
  return pageFields(field, (value) => isId(kind, value), idPattern(kind), exampleIds[kind]);
}

/** A filter by an object's identity. An unknown identity gives an empty list, a malformed one is rejected. */
export function idField(kind: IdKind) {
  return checkedIdentity(kind, `is not the identity of a ${kind}`)
    .optional()
    .meta({ description: `Only what belongs to this ${kind}.` });
}
