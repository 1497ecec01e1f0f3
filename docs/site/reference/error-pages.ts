// Makes a page for each error code, from the tables of docs/errors/README.md and from the contract. Pure.
import type { Page } from "../page.ts";
import { errorCodes, exampleOfError, operations } from "./contract.ts";
import { operationPageId } from "./operation-pages.ts";

/** One row of the tables. */
interface Row {
  code: string;
  status: string;
  happened: string;
  sandbox: string;
  remedy: string;
  replayed: string;
}

/** A page for each code in the tables. Throws when the contract has a code that the tables do not explain. */
export function errorPages(errors: Page): Page[] {
  const rows = rowsOf(errors.markdown);
  const missing = errorCodes.filter((code) => !rows.some((row) => row.code === code));
  if (missing.length > 0) throw new Error(`${errors.source} does not explain ${missing.join(", ")}`);
  return rows.map((row, at) => errorPage(row, at, errors));
}

/** The page with the tables, with each code linked to its own page. */
export function withLinkedCodes(errors: Page): Page {
  const markdown = errors.markdown.replaceAll(/^\| `([A-Z_]+)` \|/gm, "| [`$1`](/docs/errors/$1) |");
  return { ...errors, markdown };
}

function rowsOf(markdown: string): Row[] {
  return [...markdown.matchAll(/^\| `([A-Z_]+)` \|(.*)\|$/gm)].map(([, code = "", rest = ""]) => {
    const [status = "", happened = "", sandbox = "", remedy = "", replayed = ""] = rest
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim());
    return { code, status, happened, sandbox, remedy, replayed };
  });
}

function errorPage({ code, status, happened, sandbox, remedy, replayed }: Row, at: number, errors: Page): Page {
  const markdown = `# ${code}

Status ${status}. ${happened}

## What to do

${remedy}

## What it looks like

${exampleText(code)}
## See it in the sandbox

${sandbox}

## Under the same key

${replayedText(replayed, code)} [More about keys](/docs/errors).

${givenBy(code)}`;
  return {
    id: `errors/${code}`,
    language: "en",
    section: "Reference",
    order: 3000 + at,
    group: "errors",
    title: code,
    markdown,
    // Links in the copied cells are relative to the tables' file.
    source: errors.source,
  };
}

function exampleText(code: string): string {
  const example = errorCodes.includes(code) ? exampleOfError(code) : undefined;
  if (example === undefined) return "Like every error; `code` is this one.\n";
  return `\`\`\`json\n${JSON.stringify(example, null, 2)}\n\`\`\`\n`;
}

function replayedText(replayed: string, code: string): string {
  if (code === "IDEMPOTENCY_CONFLICT") return "The `Idempotency-Key` stays with the body that it came with first.";
  if (replayed === "no") return "Nothing was kept: the same `Idempotency-Key` can still do what you meant.";
  if (replayed === "yes")
    return "It is a decision, kept for 72 hours: the same `Idempotency-Key` and body get it again. Once its cause is gone, use a new key.";
  return `Whether the same \`Idempotency-Key\` gets it again: ${replayed}.`;
}

function givenBy(code: string): string {
  const givers = operations.filter(({ answers }) =>
    answers.some(({ answer }) => answer.description.includes(`\`${code}\``)),
  );
  if (givers.length === 0) return "";
  const what = givers.length > operations.length / 2 ? "Nearly every operation can answer with it." : "";
  const list = givers.map(({ id, summary }) => `- [${summary}](/docs/${operationPageId(id)})`).join("\n");
  return `## Who answers with it\n\n${what || list}\n`;
}
