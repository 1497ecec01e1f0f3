// Reads the merchants' contract for the reference: operations, events, schemas and examples, with every $ref resolved.
import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface Schema {
  $ref?: string;
  type?: string | readonly string[];
  description?: string;
  enum?: readonly unknown[];
  const?: unknown;
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  default?: unknown;
  examples?: readonly unknown[];
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  items?: Schema;
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  additionalProperties?: boolean | Schema;
}

interface Referable {
  $ref?: string;
}

interface Parameter extends Referable {
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  description?: string;
  schema: Schema;
}

interface NamedExample extends Referable {
  summary?: string;
  value?: unknown;
}

interface Content {
  schema: Schema;
  example?: unknown;
  examples?: Readonly<Record<string, NamedExample>>;
}

interface Answer extends Referable {
  description: string;
  content?: Readonly<Record<string, Content>>;
}

interface Described {
  operationId: string;
  summary: string;
  description?: string;
  tags: readonly string[];
  security?: readonly unknown[];
  parameters?: readonly (Parameter | Referable)[];
  requestBody?: { required?: boolean; content: Readonly<Record<string, Content>> };
  responses: Readonly<Record<string, Answer | Referable>>;
}

export interface Operation {
  id: string;
  method: string;
  path: string;
  summary: string;
  description: string;
  tag: string;
  /** The scope that the API key needs; undefined for operations without a key. */
  scope: string | undefined;
  isPublic: boolean;
  parameters: readonly Parameter[];
  body: Body | undefined;
  answers: readonly { status: string; answer: Answer }[];
}

interface Body {
  isRequired: boolean;
  schema: Schema;
  examples: readonly { summary: string; value: unknown }[];
}

interface EventDescription {
  type: string;
  summary: string;
  tag: string;
  schema: Schema;
  example: unknown;
}

interface Document {
  tags: readonly { name: string; description: string }[];
  paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  webhooks: Readonly<Record<string, { post: Described }>>;
  components: { examples: Readonly<Record<string, NamedExample>> };
}

const folder = join(import.meta.dirname, "../../../openapi");
const read = (name: string): Document => JSON.parse(readFileSync(join(folder, name), "utf8")) as Document;
const document = read("merchant.json");
const portal = read("portal.json");

/** Resolves a $ref; gives anything else unchanged. */
export function followed<T extends Referable>(one: T | Referable): T {
  if (one.$ref === undefined) return one as T;
  const found = one.$ref
    .slice("#/".length)
    .split("/")
    .reduce<unknown>((value, name) => (value as Record<string, unknown>)[name], document);
  return followed<T>(found as T);
}

/** The name of the schema that a $ref leads to. */
export const shapeName = (schema: Schema): string | undefined => schema.$ref?.split("/").at(-1);

function examplesOf(content: Content): Body["examples"] {
  if (content.example !== undefined) return [{ summary: "", value: content.example }];
  return Object.values(content.examples ?? {}).map((one) => {
    const { summary = "", value } = followed<NamedExample>(one);
    return { summary, value };
  });
}

function operation(method: string, path: string, described: Described): Operation {
  const { operationId, summary, description = "", tags, security, parameters = [], requestBody, responses } = described;
  const json = requestBody?.content["application/json"];
  const [, scope] = /Scope: `([^`]+)`/.exec(description) ?? [];
  return {
    id: operationId,
    method: method.toUpperCase(),
    path,
    summary,
    description: description
      .replace(/\n*Scope: `[^`]+`\..*$/s, (sentence) => sentence.replace(/\n*Scope: `[^`]+`\. ?/, "\n\n"))
      .trim(),
    tag: tags[0] ?? "",
    scope,
    isPublic: security?.length === 0,
    parameters: parameters.map((one) => followed<Parameter>(one)),
    body: json && {
      isRequired: requestBody?.required === true,
      schema: json.schema,
      examples: examplesOf(json),
    },
    answers: Object.entries(responses).map(([status, answer]) => ({ status, answer: followed<Answer>(answer) })),
  };
}

export const operations: readonly Operation[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, described]) => operation(method, path, described)),
);

export const tags = document.tags;

/** The webhook events, in the order of the contract. */
export const events: readonly EventDescription[] = Object.entries(document.webhooks).map(([type, { post }]) => {
  const json = post.requestBody?.content["application/json"];
  if (!json) throw new Error(`${type} has no body in the contract`);
  return {
    type,
    summary: post.summary,
    tag: post.tags[0] ?? "",
    schema: json.schema,
    example: examplesOf(json)[0]?.value,
  };
});

/** All error codes of the merchants' API. */
export const errorCodes: readonly string[] = (
  followed<Schema>({ $ref: "#/components/schemas/ErrorCode" }).enum ?? []
).map(String);

/** The first example of a 200 or 201 answer, with its status and content type. */
export function exampleAnswer({ answers }: Operation): { status: string; type: string; value: unknown } | undefined {
  const good = answers.find(({ status }) => /^20[01]$/.test(status));
  const [type, content] = Object.entries(good?.answer.content ?? {})[0] ?? [];
  if (!good || type === undefined || !content) return undefined;
  return {
    status: good.status,
    type,
    value: examplesOf(content)[0]?.value ?? followed<Schema>(content.schema).examples?.[0],
  };
}

/** The example of an error code; undefined for a code that no operation answers with. */
export function exampleOfError(code: string): unknown {
  return document.components.examples[code]?.value;
}

const patterns = operations.map((one) => {
  const names = [...one.path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  return { one, names, pattern: new RegExp(`^${one.path.replaceAll(/\{\w+\}/g, "([^/]+)")}$`) };
});

/** The operation of a request, with the values in its path. A fixed path takes precedence over one with parameters. */
export function operationOf(
  method: string,
  path: string,
): { operation: Operation; path: Record<string, string> } | undefined {
  const found = patterns
    .filter(({ one, pattern }) => one.method === method && pattern.test(path))
    .toSorted((a, b) => a.names.length - b.names.length)[0];
  if (!found) return undefined;
  const values = found.pattern.exec(path)?.slice(1) ?? [];
  return {
    operation: found.one,
    path: Object.fromEntries(found.names.map((name, at) => [name, decodeURIComponent(values[at] ?? "")])),
  };
}

/** The portal's path for an operation, by which pages can send it; undefined for operations that the portal lacks. */
export function pathForPages({ method, path }: Operation): string | undefined {
  const mounted = `/portal${path}`;
  return portal.paths[mounted]?.[method.toLowerCase()] ? mounted : undefined;
}
