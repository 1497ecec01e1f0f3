// Writes one object of the API for people: a line for each field, amounts with their currency. Pure.
import { UnexpectedAnswer } from "../answers.ts";
import { type Paint, toneOf } from "./color.ts";
import { digitsOf } from "./money.ts";
import { type Printable, joined, lineOf, shown, widthOf } from "./text.ts";

/** Limits of what stands on many lines: the levels of an object, the letters of a name, and those of a currency. */
const DEPTH_MAX = 30;
const NAME_MAX = 100;
const CURRENCY_MAX = 20;

interface Currency {
  currency: string | undefined;
  exponent: number | undefined;
}

export function factsOf(object: object, paint: Paint): Printable {
  const lines = factLines(object, 0, { currency: undefined, exponent: undefined });
  const width = lines.reduce((most, { name }) => Math.max(most, widthOf(shown(name))), 0);
  return joined(
    lines.map(({ name, value, isStatus }) =>
      lineOf([
        paint("dim", name + " ".repeat(width - widthOf(shown(name)))),
        paint(isStatus ? toneOf(value) : undefined, value),
      ]),
    ),
    "",
  );
}

interface Line {
  name: string;
  value: string;
  isStatus?: boolean;
}

/** Throws `UnexpectedAnswer` for an object in more levels than those of the API have. */
function factLines(object: object, depth: number, around: Currency): Line[] {
  if (depth > DEPTH_MAX) throw new UnexpectedAnswer(`it has more than ${DEPTH_MAX} levels`);
  const { currency = around.currency, exponent = around.exponent } = object as Partial<Currency>;
  const indent = "  ".repeat(depth);
  return Object.entries(object).flatMap(([sent, value]: [string, unknown]): Line[] => {
    const name = sent.length > NAME_MAX ? `${sent.slice(0, NAME_MAX)}…` : sent;
    if (name === "exponent") return [];
    if (name.endsWith("_minor") && (typeof value === "number" || value === null) && exponent !== undefined)
      return [
        {
          name: indent + name.slice(0, -6),
          value: value === null ? textOf(value) : moneyOf(value, exponent, currency),
        },
      ];
    if (Array.isArray(value) && value.some((item) => typeof item === "object" && item !== null))
      return value.flatMap((item: unknown, at) =>
        typeof item === "object" && item !== null
          ? [{ name: `${indent}${name} ${at + 1}`, value: "" }, ...factLines(item, depth + 1, { currency, exponent })]
          : [{ name: `${indent}${name} ${at + 1}`, value: textOf(item) }],
      );
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      const inner = factLines(value, depth + 1, { currency, exponent });
      return inner.length === 0
        ? [{ name: indent + name, value: "–" }]
        : [{ name: indent + name, value: "" }, ...inner];
    }
    return [
      {
        name: indent + name,
        value: textOf(value),
        isStatus: name === "status" || name === "state" || name === "outcome",
      },
    ];
  });
}

function moneyOf(minor: number, exponent: number, currency: unknown): string {
  const unit = typeof currency === "string" ? currency.slice(0, CURRENCY_MAX) : "";
  return `${digitsOf(minor, exponent)} ${unit}`.trimEnd();
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return "–";
  if (Array.isArray(value)) return value.length === 0 ? "–" : value.map(textOf).join(", ");
  return typeof value === "string" ? value : JSON.stringify(value);
}
