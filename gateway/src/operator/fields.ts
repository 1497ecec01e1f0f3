// Fields that several schemas of the operator API have.
import { z } from "zod";

export const count = (description: string, example: number) =>
  z
    .int()
    .min(0)
    .meta({ description, examples: [example] });

export const nullableText = (description: string, example: string) =>
  z
    .string()
    .nullable()
    .meta({ description, examples: [example] });
