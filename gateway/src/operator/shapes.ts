// Schemas that several files of the operator API use in answers.
import { z } from "zod";
import { exampleIds } from "../http/examples.ts";

export const score = z
  .int()
  .min(0)
  .max(100)
  .meta({ examples: [75] });

export const referenceId = z
  .string()
  .meta({ description: "The merchant's own identity of the order.", examples: ["order-1042"] });

/** The object of an acquirer operation. */
export const operationObject = z
  .string()
  .meta({ description: "The payment's reference or the refund's uuid.", examples: [exampleIds.payment] });
