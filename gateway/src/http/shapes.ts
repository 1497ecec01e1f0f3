// Schemas that several rooms use in the API. The OpenAPI documents show their descriptions, patterns and examples.
import { z } from "zod";
import { assert, faultCodes } from "../ground/fault.ts";
import { type IdKind, idPattern, isId } from "../ground/ids.ts";
import { MINOR_MAX } from "../ground/money.ts";
import { wholeBetween, wholeFrom } from "../ground/whole.ts";
import { environments } from "../merchants/books.ts";
import { exampleIds, exampleTimes } from "./examples.ts";

/** Component names of parameters that several operations take. */
export const parameterNames = z.registry<{ name: string }>();

/** Interface 2.1: RFC 3339, UTC, whole seconds. */
export const timestamp = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  .meta({ format: "date-time", examples: [exampleTimes.created] });

/** A day or a second of the years 1970 to 2199. The pattern accepts days that do not exist, such as 02-31. */
const timeOrDay =
  "^(19[7-9]\\d|2[01]\\d\\d)-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])(T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d{1,6})?(Z|[+-]([01]\\d|2[0-3]):[0-5]\\d))?$";
/** A bound of a time range, as text that `http/lists.ts` parses. */
export const rangeBound = (description: string) =>
  z.optional(z.string()).meta({ description, pattern: timeOrDay, examples: ["2026-11-22"] });

/** An identity in answers, and in requests where a malformed identity is answered like an unknown one. */
export const identity = (kind: IdKind) => z.string().meta({ pattern: idPattern(kind), examples: [exampleIds[kind]] });

/** An identity in requests where a malformed one is refused with VALIDATION_ERROR. */
export const checkedIdentity = (kind: IdKind, message: string) =>
  z
    .string()
    .refine((value) => isId(kind, value), message)
    .meta({ pattern: idPattern(kind), examples: [exampleIds[kind]] });

/** A path parameter that identifies an object; `name` is its component name. */
export const inPath = (kind: IdKind, name: string, description: string) =>
  identity(kind).meta({ description }).register(parameterNames, { name });

/** The cursor of a list whose items have identities of this kind. */
export const startingAfter = (kind: IdKind, message: string, description: string) =>
  checkedIdentity(kind, message)
    .optional()
    .meta({ description: `${description} Send \`next_cursor\` of the page before.` });

export const environmentField = z
  .enum(environments)
  .meta({ id: "Environment", description: "Sandbox and production never mix." });

/** A currency code in answers. */
export const currencyCode = z
  .string()
  .meta({ description: "ISO 4217 code.", pattern: "^[A-Z]{3}$", examples: ["IDR"] });

/** A whole number from 0. */
export const count = (example: number, description?: string) => wholeFrom(0).meta({ description, examples: [example] });

/** A whole number from 1. */
export const positive = (example: number, description?: string) =>
  wholeFrom(1).meta({ description, examples: [example] });

export const wholeOrNull = (example: number, description?: string) =>
  z.nullable(z.int()).meta({ description, examples: [example] });

export const textOrNull = (example: string, description?: string) =>
  z.nullable(z.string()).meta({ description, examples: [example] });

/** A sum in minor units; null when JSON cannot carry it exactly. */
export const sumMinor = (example: number, description: string) =>
  wholeOrNull(example, `${description} Null beyond 2^53 - 1.`);

/** An amount in minor units that may be zero. */
export const minorAmount = (description: string, ...examples: number[]) =>
  wholeBetween(0, Number(MINOR_MAX)).meta({ description, examples });

export const exponentField = wholeBetween(0, 4).meta({
  description: "Decimal places of the currency: with 2, `150000` is 1,500.00.",
  examples: [2],
});

/** The form of an https address. The endpoint that takes the address checks the other rules. */
export const HTTPS_PATTERN = "^[hH][tT][tT][pP][sS]://[^\\s\\\\\\u0000-\\u001f\\u007f]+$";

export const headersSchema = z
  .record(z.string(), z.string())
  .meta({ id: "Headers", description: "Headers by name.", examples: [{ "content-type": "application/json" }] });

/** The body of a call without fields. */
export const nothing = z.strictObject({}).meta({ id: "Nothing", description: "No fields.", examples: [{}] });

export const errorBody = z
  .strictObject({
    code: z
      .enum(faultCodes)
      .meta({ id: "ErrorCode", description: "Stable upper-case identifier; branch on it. The list may grow." }),
    message: z.string().meta({ description: "For people; may change at any time.", examples: ["No such payment."] }),
    request_id: identity("request").meta({ description: "Identity of the request; give it to support." }),
    details: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ description: "More about it, by code: `VALIDATION_ERROR` has the `field` and its `value`." }),
  })
  .meta({ id: "ErrorBody" });

/** Interface 7.1. */
export const errorSchema = z
  .strictObject({ error: errorBody })
  .meta({ id: "Error", description: "The one envelope of every error." });

const isText = (value: string): boolean => value.isWellFormed() && !value.includes("\0");

/** Text with a number of code points within bounds. PostgreSQL stores neither NUL nor a lone surrogate, so both are refused. */
export const text = (minimum: number, maximum: number) =>
  z
    .string()
    .refine((value) => {
      const { length } = [...value];
      return length >= minimum && length <= maximum;
    }, `must have ${minimum} to ${maximum} characters`)
    .refine(isText, "must be Unicode text without NUL")
    .meta({ ...(minimum > 0 ? { minLength: minimum } : {}), maxLength: maximum, pattern: "^[^\\u0000]*$" });

/**
 * A name that others read among other texts, on pages and in terminals: one line with at least one visible character. Of the characters that change how
 * others are displayed it may have the two joiners that scripts and emoji need.
 */
export const displayName = (maximum: number) =>
  text(1, maximum)
    .refine((name) => /[\p{L}\p{N}\p{P}\p{S}]/u.test(name), "must show something")
    .refine(
      (name) => !/[\p{Cc}\p{Zl}\p{Zp}]|(?![\u200C\u200D])\p{Cf}/u.test(name),
      "must be one line without control characters",
    );

/** An e-mail address in contracts, where `\p{C}` would be other characters, or an error, to the programs of many languages. */
export const emailPattern = "^[^@\\s\\u0000-\\u001f\\u007f]+@[^@\\s\\u0000-\\u001f\\u007f]+$";
/** The form of an e-mail address. Without invisible characters, which make two look alike. In lower case a few are longer. */
export const emailAddress = z
  .string()
  .min(3)
  .max(254)
  .regex(/^[^@\s\p{C}]+@[^@\s\p{C}]+$/u, "must be an e-mail address")
  .refine((email) => email.toLowerCase().length <= 254, "is too long")
  .meta({ pattern: emailPattern, examples: ["sari@toko.example"] });

/** An integer in a query parameter, which arrives as text. The OpenAPI document shows it as an integer. */
export const wholeNumber = (form: RegExp, minimum: number, maximum: number, standard: number, description: string) =>
  z
    .string()
    .regex(form, `must be ${minimum} to ${maximum}`)
    .optional()
    .meta({ type: "integer", pattern: undefined, minimum, maximum, default: standard, description });

/** The page size of lists (section 8). */
export const limitQuery = wholeNumber(/^([1-9]\d?|100)$/, 1, 100, 25, "Objects on a page.").register(parameterNames, {
  name: "Limit",
});

/** The first example of a schema. Throws when it has none. */
export function exampleOf<Shape extends z.ZodType>(shape: Shape): z.output<Shape> {
  const { examples } = shape.meta() ?? {};
  const [first] = (examples ?? []) as z.output<Shape>[];
  assert(first !== undefined, "a shape has no example");
  return first;
}

/**
 * Names an object, with the examples of its fields as its own. A field without one has those of its items, null where it may be null, else the first of its options;
 * `given` has what is to be another.
 */
export function withExample<Shape extends z.ZodObject>(
  fields: Shape,
  meta: { id: string; description?: string },
  given: Partial<z.output<Shape>> = {},
): Shape {
  const examples = Object.entries(fields.shape as Record<string, z.ZodType>).map(([name, field]) => {
    const [first] = (field.meta()?.examples ?? []) as unknown[];
    const [option = null] = field instanceof z.ZodEnum ? field.options : [];
    const items = field instanceof z.ZodArray ? (field.element as z.ZodType).meta()?.examples : undefined;
    return [name, name in given ? given[name as keyof typeof given] : (first ?? items ?? option)];
  });
  return fields.meta({ ...meta, examples: [Object.fromEntries(examples)] });
}

/** The list envelope of section 2.8; `id` is its component name. */
export const listSchema = <Item extends z.ZodType>(item: Item, id: string) =>
  z
    .strictObject({
      data: z.array(item),
      has_more: z.boolean().meta({ description: "True when there is a further page." }),
      next_cursor: z
        .string()
        .nullable()
        .meta({ description: "`starting_after` of the next page; null when there is none." }),
    })
    .meta({
      id,
      description: "A page, and where the next one begins.",
      examples: [{ data: [exampleOf(item)], has_more: false, next_cursor: null } as never],
    });
