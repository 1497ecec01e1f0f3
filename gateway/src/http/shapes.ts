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
