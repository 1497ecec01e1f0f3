// Shapes that several rooms put on the wire. Their descriptions, patterns and examples are read from the contract.
import { z } from "zod";
import { assert, faultCodes } from "../ground/fault.ts";
import { type IdKind, idPattern, isId } from "../ground/ids.ts";
import { MINOR_MAX } from "../ground/money.ts";
import { environments } from "../merchants/books.ts";
import { exampleIds, exampleTimes } from "./examples.ts";

/** Parameters that several operations take, by the name under which the contract says them once. */
export const parameterNames = z.registry<{ name: string }>();

/** Interface 2.1: RFC 3339, UTC, whole seconds. */
export const timestamp = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  .meta({ format: "date-time", examples: [exampleTimes.created] });

/** A day or a second of 1970 to 2199, as far as a pattern can tell. */
const timeOrDay =
  "^(19[7-9]\\d|2[01]\\d\\d)-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])(T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\dZ)?$";
/** A bound of a range in time, as text: `http/lists.ts` reads it. */
export const rangeBound = (description: string) =>
  z
    .string()
    .optional()
    .meta({ description, pattern: timeOrDay, examples: ["2026-11-22"] });

/** An identity as it is shown, and as it is taken where a malformed one is answered like one that names nothing. */
export const identity = (kind: IdKind) => z.string().meta({ pattern: idPattern(kind), examples: [exampleIds[kind]] });

/** An identity of which a malformed one is refused. */
export const checkedIdentity = (kind: IdKind, message: string) =>
  z
    .string()
    .refine((value) => isId(kind, value), message)
    .meta({ pattern: idPattern(kind), examples: [exampleIds[kind]] });

/** A part of a path that names an object; `name` is the parameter's in the contract. */
export const inPath = (kind: IdKind, name: string, description: string) =>
  identity(kind).meta({ description }).register(parameterNames, { name });

/** The cursor of a list whose items are named by identities of this kind. */
export const startingAfter = (kind: IdKind, message: string, description: string) =>
  checkedIdentity(kind, message)
    .optional()
    .meta({ description: `${description} Send \`next_cursor\` of the page before.` });

export const environmentField = z
  .enum(environments)
  .meta({ id: "Environment", description: "Sandbox and production never mix." });

/** ISO 4217, as it is shown. */
export const currencyCode = z
  .string()
  .meta({ description: "ISO 4217 code.", pattern: "^[A-Z]{3}$", examples: ["IDR"] });

/** An amount in minor units that may be zero. */
export const minorAmount = (description: string, ...examples: number[]) =>
  z.int().min(0).max(Number(MINOR_MAX)).meta({ description, examples });

export const exponentField = z
  .int()
  .min(0)
  .max(4)
  .meta({ description: "Decimal places of the currency: with 2, `150000` is 1,500.00.", examples: [2] });

/** What an https address looks like; the rest of its rules are judged where it is taken. */
export const HTTPS_PATTERN = "^[hH][tT][tT][pP][sS]://[^\\s\\\\\\u0000-\\u001f\\u007f]+$";

/** Headers by name, as they were sent. */
export const headersSchema = z
  .record(z.string(), z.string())
  .meta({ id: "Headers", description: "Headers by name.", examples: [{ "content-type": "application/json" }] });

/** A call that takes no fields. */
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

/** Text of so many characters (code points). PostgreSQL keeps neither NUL nor half a surrogate pair, so both are refused. */
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
 * An e-mail address, as far as its form tells. It has nothing that is not seen, which would make two addresses look like one, and PostgreSQL
 * keeps its small letters: a few become longer by that.
 */
export const emailAddress = z
  .string()
  .min(3)
  .max(254)
  .regex(/^[^@\s\p{C}]+@[^@\s\p{C}]+$/u, "must be an e-mail address")
  .refine((email) => email.toLowerCase().length <= 254, "is too long")
  .meta({ examples: ["sari@toko.example"] });

/** A whole number in a query, which arrives as text. The contract calls it an integer. */
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

/** The first example of a shape. Throws when it has none. */
export function exampleOf<Shape extends z.ZodType>(shape: Shape): z.output<Shape> {
  const { examples } = shape.meta() ?? {};
  const [first] = (examples ?? []) as z.output<Shape>[];
  assert(first !== undefined, "a shape has no example");
  return first;
}

/** The list envelope of section 2.8; `id` names it in the contract. */
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
