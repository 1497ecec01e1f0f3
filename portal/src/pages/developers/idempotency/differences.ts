// What differs between two JSON objects, by the dotted path of each field. Pure.

export interface Difference {
  field: string;
  /** As JSON; undefined where the field is absent. */
  before: string | undefined;
  after: string | undefined;
}

const SHOWN_MAX = 20;
const VALUE_MAX = 120;

/** The first differences in the order of the fields; undefined where one of the texts is not there or no JSON. */
export function differences(before: string | null, after: string | null): Difference[] | undefined {
  if (before === null || after === null) return undefined;
  try {
    const [old, now] = [leavesOf(JSON.parse(before)), leavesOf(JSON.parse(after))];
    return [...new Set([...old.keys(), ...now.keys()])]
      .filter((field) => old.get(field) !== now.get(field))
      .slice(0, SHOWN_MAX)
      .map((field) => ({ field, before: cut(old.get(field)), after: cut(now.get(field)) }));
  } catch {
    return undefined;
  }
}

function leavesOf(value: unknown, at = "", into = new Map<string, string>()): Map<string, string> {
  if (typeof value !== "object" || value === null || Object.keys(value).length === 0) {
    into.set(at, JSON.stringify(value));
    return into;
  }
  for (const [name, inner] of Object.entries(value)) leavesOf(inner, at === "" ? name : `${at}.${name}`, into);
  return into;
}

function cut(text: string | undefined): string | undefined {
  return text !== undefined && text.length > VALUE_MAX ? `${text.slice(0, VALUE_MAX)}…` : text;
}
