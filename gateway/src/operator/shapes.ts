// Schemas that several files of the operator API use in answers.
import { z } from "zod";
import { wholeBetween } from "../ground/whole.ts";

export const exactMinor = z
  .int()
  .nullable()
  .meta({ description: "Minor units; null when the sum is beyond what JSON numbers carry exactly." });

export const score = wholeBetween(0, 100).meta({ examples: [75] });

export const referenceId = z
  .string()
  .meta({ description: "The merchant's own identity of the order.", examples: ["order-1042"] });
