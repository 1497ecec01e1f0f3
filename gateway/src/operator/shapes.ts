// Schemas that several files of the operator API use in answers.
import { z } from "zod";
import { wholeOrNull } from "../http/shapes.ts";
import { wholeBetween } from "../ground/whole.ts";

export const exactMinor = wholeOrNull(15_000_000, "Minor units; null where JSON cannot carry the sum exactly.");

export const score = wholeBetween(0, 100).meta({ examples: [75] });

export const referenceId = z
  .string()
  .meta({ description: "The merchant's own identity of the order.", examples: ["order-1042"] });
