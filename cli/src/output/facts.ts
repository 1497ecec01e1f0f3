// Writes one object of the API for people: a line for each field, amounts with their currency. Pure.
import { type Paint, toneOf } from "./color.ts";
import { digitsOf } from "./money.ts";
import { shown } from "./text.ts";

interface Currency {
  currency: string | undefined;
  exponent: number | undefined;
}

export function factsOf(object: object, paint: Paint): string {
  const lines = linesOf(object, 0, { currency: undefined, exponent: undefined });
  const width = Math.max(0, ...lines.map(({ name }) => name.length));
  return lines
    .map(
      ({ name, value, isStatus }) =>
        `${paint("dim", name.padEnd(width))}  ${paint(isStatus ? toneOf(value) : undefined, value)}`.trimEnd() + "\n",
    )
    .join("");
}

interface Line {
  name: string;
  value: string;
  isStatus?: boolean;
}

function linesOf(object: object, depth: number, around: Currency): Line[] {
  const { currency = around.currency, exponent = around.exponent } = object as Partial<Currency>;
  const indent = "  ".repeat(depth);
  return Object.entries(object).flatMap(([sent, value]: [string, unknown]): Line[] => {
    const name = shown(sent);
    if (name === "exponent") return [];
    if (name.endsWith("_minor") && typeof value === "number" && exponent !== undefined)
      return [{ name: indent + name.slice(0, -6), value: `${digitsOf(value, exponent)} ${currency ?? ""}`.trimEnd() }];
    if (Array.isArray(value) && value.some((item) => typeof item === "object" && item !== null))
      return value.flatMap((item: unknown, at) =>
        typeof item === "object" && item !== null
          ? [{ name: `${indent}${name} ${at + 1}`, value: "" }, ...linesOf(item, depth + 1, { currency, exponent })]
          : [{ name: `${indent}${name} ${at + 1}`, value: textOf(item) }],
      );
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      const inner = linesOf(value, depth + 1, { currency, exponent });
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

function textOf(value: unknown): string {
  if (value === null || value === undefined) return "–";
  if (Array.isArray(value)) return value.length === 0 ? "–" : value.map(textOf).join(", ");
  return shown(typeof value === "string" ? value : JSON.stringify(value));
}
