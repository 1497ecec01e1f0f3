// Makes a page for each operation of the contract and one that lists them, as Markdown like every other page. Pure.
import type { Page } from "../page.ts";
import { type Operation, exampleAnswer, operations, tags } from "./contract.ts";
import { fieldTable, fieldsOf } from "./fields.ts";

/** The page of createPayment is /docs/api/create-payment. */
export const operationPageId = (operationId: string): string =>
  `api/${operationId.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

const SOURCE = "openapi/merchant.json";

export function operationPages(): Page[] {
  return [indexPage(), ...operations.map((one, at) => operationPage(one, at))];
}

function indexPage(): Page {
  const groups = tags.map(({ name, description }) => {
    const rows = operations
      .filter(({ tag }) => tag === name)
      .map(
        ({ id, method, path, summary }) =>
          `| \`${method}\` | [\`${path}\`](/docs/${operationPageId(id)}) | ${summary} |\n`,
      );
    return `## ${name}\n\n${description}\n\n| method | path | what it does |\n|---|---|---|\n${rows.join("")}`;
  });
  const markdown = `# The API

Every operation, from [the contract](/openapi.json) that the service itself is held against. Requests and answers are JSON; amounts are integers in the smallest unit of
their currency. A request is [signed](/docs/getting-started#2-sign-a-request); the client libraries do it. Each page shows what is sent and what comes
back, in five languages, and sends it to your sandbox if you are signed in at [the portal](/portal).

${groups.join("\n")}`;
  return {
    id: "api",
    language: "en",
    section: "Reference",
    order: 10,
    title: "The API",
    markdown,
    source: `${SOURCE}#api`,
  };
}

function operationPage(operation: Operation, at: number): Page {
  const { id, method, path, summary, description, scope, body, parameters, tag } = operation;
  const asked = [
    section(
      "Path",
      parameters.filter((one) => one.in === "path"),
    ),
    section(
      "Query",
      parameters.filter((one) => one.in === "query"),
    ),
    section(
      "Headers",
      parameters.filter((one) => one.in === "header"),
    ),
  ];
  const fields = body ? fieldsOf(body.schema) : [];
  const key = scope === undefined ? "It needs no key and no signature." : `The key needs the scope \`${scope}\`.`;
  const markdown = [
    `# ${summary}`,
    `\`${method} ${path}\``,
    description,
    `${key}${path.startsWith("/v1/sandbox/") ? " Sandbox keys only." : ""}`,
    `## Example\n\n${examplesOf(operation)}`,
    ...asked,
    fields.length === 0 ? "" : `## Body\n\n${fieldTable(fields, true)}`,
    answersOf(operation),
  ];
  return {
    id: operationPageId(id),
    language: "en",
    section: "Reference",
    // Ordered by the contract's groups, then by its paths.
    order: 1000 * (1 + tags.findIndex(({ name }) => name === tag)) + at,
    group: "api",
    kind: tag,
    title: titleOf(summary),
    short: titleOf(summary).replace(/[,;:] .*$/, ""),
    markdown: markdown.filter(Boolean).join("\n\n"),
    source: `${SOURCE}#${id}`,
  };
}

const titleOf = (summary: string): string => summary.replaceAll("`", "");

function section(title: string, parameters: Operation["parameters"]): string {
  if (parameters.length === 0) return "";
  const schema = {
    properties: Object.fromEntries(
      parameters.map(({ name, description, schema: one }) => [
        name,
        description === undefined ? one : { ...one, description },
      ]),
    ),
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
  };
  return `## ${title}\n\n${fieldTable(fieldsOf(schema), true)}`;
}

/** The request with the first example body, followed by the other bodies. */
function examplesOf(operation: Operation): string {
  // Bodies without fields are not shown, since callers need not send them.
  const filled = (operation.body?.examples ?? []).filter(({ value }) => Object.keys(value as object).length > 0);
  // Resending the events since a moment is the most common use, and the one that the client libraries' call shows.
  const shown = operation.id === "resendEvents" ? filled.toReversed() : filled;
  const [first, ...others] = shown;
  if (!first) return request(operation, undefined);
  const bodies = others.map(
    ({ summary, value }) => `${summary}:\n\n\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``,
  );
  const before = others.length > 0 ? `${first.summary}:\n\n` : "";
  return [before + request(operation, first.value), ...bodies].join("\n\n");
}

/** A request in HTTP form, which pages show as a program in each language. */
export function request({ method, path, parameters, id }: Operation, body: unknown): string {
  const target = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
    const parameter = parameters.find((one) => one.in === "path" && one.name === name);
    const example = parameter?.schema.examples?.[0];
    return typeof example === "string" ? example : "";
  });
  const query = id === "listPayments" ? "?status=succeeded" : "";
  const needsKey = parameters.some((one) => one.in === "header" && one.name === "Idempotency-Key");
  const key = needsKey ? `\nIdempotency-Key: ${keyOf(id)}` : "";
  const json = body === undefined ? "" : `\n\n${JSON.stringify(body, null, 2)}`;
  return `\`\`\`http\n${method} ${target}${query}${key}${json}\n\`\`\``;
}

const keyOf = (operationId: string): string =>
  `order-1042-${operationId.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

function answersOf(operation: Operation): string {
  const good = exampleAnswer(operation);
  const { answers } = operation;
  const content = answers.find(({ status }) => status === good?.status)?.answer.content ?? {};
  const schema = content["application/json"]?.schema;
  const shown =
    good?.value === undefined
      ? ""
      : `\`\`\`${good.type === "application/json" ? "json" : "text"}\n${typeof good.value === "string" ? good.value : JSON.stringify(good.value, null, 2)}\n\`\`\`\n`;
  const description = answers.find(({ status }) => status === good?.status)?.answer.description ?? "";
  const fields = schema ? fieldsOf(schema) : [];
  return [
    good ? `## Answer\n\n\`${good.status}\` ${description}\n\n${shown}` : "",
    fields.length === 0 ? "" : fieldTable(fields, false),
    `## Errors\n\n${errorsOf(operation)}`,
  ]
    .filter(Boolean)
    .join("\n");
}

/** A table of the operation's error codes, each linked to its page. */
function errorsOf({ answers }: Operation): string {
  const rows = answers.flatMap(({ status, answer }) =>
    [...answer.description.matchAll(/`([A-Z][A-Z_]+)`: ([^\n]+)/g)].map(
      ([, code = "", meaning = ""]) =>
        `| ${status} | [\`${code}\`](/docs/errors/${code}) | ${meaning.replaceAll("|", String.raw`\|`)} |\n`,
    ),
  );
  return rows.length === 0 ? "None of its own." : `| status | code | what happened |\n|---|---|---|\n${rows.join("")}`;
}
