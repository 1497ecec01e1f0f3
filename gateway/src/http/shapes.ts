// Shapes that several rooms put on the wire.
import { z } from "zod";

/** Interface 2.1: RFC 3339, UTC, whole seconds. */
export const timestamp = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  .meta({ format: "date-time" });

/** Interface 7.1. */
export const errorSchema = z.strictObject({
  error: z.strictObject({
    code: z.string().meta({ description: "Stable upper-case identifier; branch on it." }),
    message: z.string().meta({ description: "For people; may change at any time." }),
    request_id: z.string(),
    details: z.record(z.string(), z.unknown()).optional(),
  }),
});

const isText = (value: string): boolean => value.isWellFormed() && !value.includes("\0");

/** Text of so many characters (code points). PostgreSQL keeps neither NUL nor half a surrogate pair, so both are refused. */
export const text = (minimum: number, maximum: number) =>
  z
    .string()
    .refine((value) => {
      const { length } = [...value];
      return length >= minimum && length <= maximum;
    }, `must have ${minimum} to ${maximum} characters`)
    .refine(isText, "must be Unicode text without NUL")
    .meta({ minLength: minimum, maxLength: maximum });

/** The page size of lists (section 8). */
export const limitQuery = z
  .string()
  .regex(/^([1-9]\d?|100)$/, "must be 1 to 100")
  .optional()
  .meta({ description: "Page size, 1 to 100; 25 when absent." });

/** The list envelope of section 2.8. */
export const listSchema = <Item extends z.ZodType>(item: Item) =>
  z.strictObject({ data: z.array(item), has_more: z.boolean(), next_cursor: z.string().nullable() });
