// Schemas of whole numbers within bounds, which the API and settings share.
import { z } from "zod";

export const wholeFrom = (minimum: number) => z.int().min(minimum);

export const wholeBetween = (minimum: number, maximum: number) => z.int().min(minimum).max(maximum);
