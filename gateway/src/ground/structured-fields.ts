// Dictionaries of HTTP's structured fields (RFC 8941), read strictly: text that is not in its canonical spelling, or has a key twice, is rejected.

/** The value of an item or a parameter. `text` is its canonical spelling. */
interface BareItem {
  kind: "string" | "integer" | "decimal" | "token" | "boolean" | "bytes";
  text: string;
  value: string | number | boolean | Buffer;
}

type Parameters = ReadonlyMap<string, BareItem>;

export interface Item {
  bare: BareItem;
  parameters: Parameters;
}

export interface InnerList {
  items: readonly Item[];
  parameters: Parameters;
}

export type Member = { kind: "list"; list: InnerList } | { kind: "item"; item: Item };

/** Limits of a dictionary; a larger one counts as malformed. */
interface Bounds {
  characters: number;
  members: number;
  itemsOfList: number;
  parameters: number;
}

/** The members of a dictionary by key; undefined when the text is malformed, empty or beyond the bounds. */
export function parseDictionary(text: string, bounds: Bounds): ReadonlyMap<string, Member> | undefined {
  if (text.length > bounds.characters) return undefined;
  try {
    return new Reader(text, bounds).dictionary();
  } catch (error) {
    if (error instanceof NotStructured) return undefined;
    throw error;
  }
}

export function innerListText({ items, parameters }: InnerList): string {
  const inside = items.map((item) => item.bare.text + parametersText(item.parameters));
  return `(${inside.join(" ")})${parametersText(parameters)}`;
}

function parametersText(parameters: Parameters): string {
  let text = "";
  for (const [key, { value, text: written }] of parameters) text += value === true ? `;${key}` : `;${key}=${written}`;
  return text;
}

class NotStructured extends Error {}

const KEY = /[a-z*][a-z0-9_.*-]{0,63}/y;
const STRING = /"(?:[ !#-[\]-~]|\\["\\])*"/y;
const NUMBER = /-?\d+(?:\.\d+)?/y;
const TOKEN = /[A-Za-z*][\w!#$%&'*+.^`|~:/-]*/y;
const BYTES = /:([A-Za-z0-9+/]*={0,2}):/y;
const BOOLEAN = /\?[01]/y;
const SPACES = / */y;
const OPTIONAL_WHITE_SPACE = /[ \t]*/y;

const isCanonicalInteger = (text: string): boolean => /^(?:0|-?[1-9]\d{0,14})$/.test(text);
const isCanonicalDecimal = (text: string): boolean =>
  /^(?!-0\.0$)-?(?:0|[1-9]\d{0,11})\.(?:\d|\d{1,2}[1-9])$/.test(text);

const TRUE: BareItem = { kind: "boolean", text: "?1", value: true };

class Reader {
  private readonly text: string;
  private readonly bounds: Bounds;
  private at = 0;

  constructor(text: string, bounds: Bounds) {
    this.text = text;
    this.bounds = bounds;
  }

  dictionary(): ReadonlyMap<string, Member> {
    const members = new Map<string, Member>();
    this.take(SPACES);
    for (;;) {
      const key = this.take(KEY);
      if (members.has(key) || members.size >= this.bounds.members) throw new NotStructured();
      members.set(key, this.member());
      const end = this.at;
      this.take(OPTIONAL_WHITE_SPACE);
      if (this.at === this.text.length) {
        if (this.text.slice(end).includes("\t")) throw new NotStructured();
        return members;
      }
      if (!this.skips(",")) throw new NotStructured();
      this.take(OPTIONAL_WHITE_SPACE);
    }
  }

  private member(): Member {
    if (!this.skips("=")) return { kind: "item", item: { bare: TRUE, parameters: this.parameters() } };
    if (this.skips("(")) return { kind: "list", list: this.innerList() };
    return { kind: "item", item: this.item() };
  }

  private innerList(): InnerList {
    const items: Item[] = [];
    for (;;) {
      this.take(SPACES);
      if (this.skips(")")) return { items, parameters: this.parameters() };
      if (items.length >= this.bounds.itemsOfList) throw new NotStructured();
      items.push(this.item());
      const next = this.text[this.at];
      if (next !== " " && next !== ")") throw new NotStructured();
    }
  }

  private item(): Item {
    return { bare: this.bareItem(), parameters: this.parameters() };
  }

  private parameters(): Parameters {
    const parameters = new Map<string, BareItem>();
    while (this.skips(";")) {
      this.take(SPACES);
      const key = this.take(KEY);
      // The standard uses the last of two equal keys. They are rejected here: in signed text it must be plain which parameter counts.
      if (parameters.has(key) || parameters.size >= this.bounds.parameters) throw new NotStructured();
      parameters.set(key, this.skips("=") ? this.bareItem() : TRUE);
    }
    return parameters;
  }

  private bareItem(): BareItem {
    const first = this.text[this.at] ?? "";
    if (first === '"') {
      const text = this.take(STRING);
      return { kind: "string", text, value: text.slice(1, -1).replaceAll(/\\(.)/g, "$1") };
    }
    if (first === ":") {
      const text = this.take(BYTES);
      const value = Buffer.from(text.slice(1, -1), "base64");
      if (`:${value.toString("base64")}:` !== text) throw new NotStructured();
      return { kind: "bytes", text, value };
    }
    if (first === "?") {
      const text = this.take(BOOLEAN);
      return { kind: "boolean", text, value: text === "?1" };
    }
    if (/[-\d]/.test(first)) {
      const text = this.take(NUMBER);
      if (isCanonicalInteger(text)) return { kind: "integer", text, value: Number(text) };
      if (isCanonicalDecimal(text)) return { kind: "decimal", text, value: Number(text) };
      throw new NotStructured();
    }
    const text = this.take(TOKEN);
    return { kind: "token", text, value: text };
  }

  /** Takes the text that a sticky pattern matches at the current position. */
  private take(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const [found] = pattern.exec(this.text) ?? [];
    if (found === undefined) throw new NotStructured();
    this.at += found.length;
    return found;
  }

  private skips(character: string): boolean {
    if (this.text[this.at] !== character) return false;
    this.at++;
    return true;
  }
}
