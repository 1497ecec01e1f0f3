// Finds SQL in a source file: the tables that it writes, and whether it has any statement. Used by the tests of the architecture.
import { parseAst } from "vitest/node";

type Node = Record<string, unknown> & { type: string; start: number; end: number };

interface Source {
  /** Strings and templates of the file, joined where `+` joins them, with a placeholder for each expression. */
  texts: string[];
  /** The source text of the expression of each placeholder. */
  expressions: string[];
  /** The first argument of each bulkInsert, bulkUpdate and deleteOldest, in the form of `texts`. */
  bulkTables: string[];
}

const isSum = ({ type, operator }: Node): boolean => type === "BinaryExpression" && operator === "+";
const isString = ({ type, value }: Node): boolean => type === "Literal" && typeof value === "string";

function holdsText(node: Node): boolean {
  if (isSum(node)) return holdsText(node.left as Node) || holdsText(node.right as Node);
  return isString(node) || node.type === "TemplateLiteral";
}

const known = new Map<string, Source>();

function read(code: string): Source {
  const before = known.get(code);
  if (before) return before;
  const source: Source = { texts: [], expressions: [], bulkTables: [] };

  const textOf = (node: Node): string => {
    if (isString(node)) return node.value as string;
    if (isSum(node)) return textOf(node.left as Node) + textOf(node.right as Node);
    if (node.type !== "TemplateLiteral") {
      const index = source.expressions.push(`\${${code.slice(node.start, node.end)}}`) - 1;
      visit(node);
      return `unknown__${index}__`; // for the patterns below it is a name, or part of one
    }
    const expressions = node.expressions as Node[];
    return (node.quasis as { value: { cooked: string } }[])
      .map(({ value }, index) => value.cooked + (expressions[index] ? textOf(expressions[index]) : ""))
      .join("");
  };

  const visit = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(visit);
    if (typeof value !== "object" || value === null) return;
    const node = value as Node;
    if (holdsText(node)) return void source.texts.push(textOf(node).replaceAll(/--.*$/gm, ""));
    if (
      node.type === "CallExpression" &&
      /^(?:bulk(?:Insert|Update)|deleteOldest)$/.test(String((node.callee as Node).name))
    ) {
      source.bulkTables.push(textOf((node.arguments as Node[])[0] as Node));
    }
    Object.values(node).forEach(visit);
  };

  visit(parseAst(code, { lang: "ts" }).body);
  known.set(code, source);
  return source;
}

/** Patterns of statements that write, which capture the table. An `update` needs its `set`: `for update` and `do update` name no table. */
const writes = [
  /\binsert\s+into\s+([\w."]*)/gi,
  /\bdelete\s+from\s+(?:only\s+)?([\w."]*)/gi,
  /\bmerge\s+into\s+(?:only\s+)?([\w."]*)/gi,
  /\btruncate\s+(?:table\s+)?(?:only\s+)?([\w."]*)/gi,
  /(?<!\b(?:do|for|key)\s+)\bupdate\s+(?:only\s+)?([\w."]+)(?:\s+(?:as\s+)?\w+)?\s+set\b/gi,
];

/** The tables that a file writes, once per statement. An expression in a name is given as its source: `${…}`. */
export function writtenTables(code: string): string[] {
  const { texts, expressions, bulkTables } = read(code);
  const named = texts.flatMap((text) =>
    writes.flatMap((pattern) => [...text.matchAll(pattern)].map(([, table]) => table ?? "")),
  );
  return [...named, ...bulkTables].map((table) =>
    table.replaceAll('"', "").replaceAll(/unknown__(\d+)__/g, (_, index) => expressions[Number(index)] ?? ""),
  );
}

/** Whether a file has a statement that reads or writes a table, or calls a function that makes one. */
export function holdsSql(code: string): boolean {
  const reads = /(?:^|[\n(;])\s*select\b[\s\S]*?\bfrom\b/;
  const { texts, bulkTables } = read(code);
  return (
    bulkTables.length > 0 ||
    texts.some((text) => reads.test(text) || writes.some((pattern) => text.search(pattern) >= 0))
  );
}
