// An OpenAPI contract as a validator: checks the contract's own examples and live answers, and rejects fields that it does not describe.
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";

type Json = Record<string, unknown>;

interface ToldOperation {
  path: string;
  method: string;
  operation: {
    operationId: string;
    description?: string;
    tags: string[];
    security?: Json[];
    parameters?: Json[];
    requestBody?: { content: Json };
    responses: Record<string, Json>;
  };
}

/** A value in the document, its place, and the place of its schema. */
interface Example {
  at: string;
  schema: string;
  value: unknown;
}

export class ContractCheck {
  readonly document: Json;
  readonly operations: readonly ToldOperation[];
  /** The operations with patterns of their paths, the ones with the fewest parameters first. */
  private readonly patterns: readonly { told: ToldOperation; pattern: RegExp }[];
  private readonly ajv = new Ajv2020({ strict: false, allErrors: true, discriminator: false });

  /** `text`: an OpenAPI document as JSON. */
  constructor(text: string) {
    this.document = JSON.parse(text) as Json;
    formats.default(this.ajv);
    // The contract allows answers to gain fields, but today's answers must have none that it does not describe.
    this.ajv.addSchema(closed(JSON.parse(text)) as Json, "contract");
    this.operations = Object.entries(this.document.paths as Record<string, Json>).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation }) as ToldOperation),
    );
    this.patterns = this.operations
      .toSorted((a, b) => a.path.split("{").length - b.path.split("{").length)
      .map((told) => ({ told, pattern: new RegExp(`^${told.path.replaceAll(/\{\w+\}/g, "[^/]+")}$`) }));
  }

  /** Follows a reference; gives any other value as it is. */
  resolve(value: unknown): Json {
    const { $ref } = value as { $ref?: string };
    return $ref === undefined ? (value as Json) : this.resolve(this.at($ref.slice(1)));
  }

  private at(pointer: string): unknown {
    return pointer
      .split("/")
      .slice(1)
      .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
      .reduce<unknown>((at, part) => (at as Json | undefined)?.[part], this.document);
  }

  /** All examples in the document that belong to a schema. */
  examples(): Example[] {
    const found: Example[] = [];
    this.collect(this.document, "", found);
    return found;
  }

  private collect(node: unknown, at: string, found: Example[]): void {
    if (typeof node !== "object" || node === null) return;
    const { schema, example, examples } = node as Json;
    if (schema !== undefined) {
      if (example !== undefined) found.push({ at, schema: `${at}/schema`, value: example });
      for (const [name, one] of Object.entries((examples ?? {}) as Json))
        found.push({ at: `${at} ${name}`, schema: `${at}/schema`, value: this.resolve(one).value });
    } else if (Array.isArray(examples)) {
      for (const value of examples) found.push({ at, schema: at, value });
    }
    for (const [name, inner] of Object.entries(node)) {
      if (name === "example" || (name === "examples" && !at.endsWith("/properties"))) continue;
      this.collect(inner, `${at}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`, found);
    }
  }

  /** Problems of a value by the schema at this place of the document; empty when there are none. */
  faults(schema: string, value: unknown): string[] {
    const validate = this.ajv.getSchema(`contract#${encodeURI(schema)}`);
    if (!validate) return [`no schema at ${schema}`];
    if (validate(value) === true) return [];
    return (validate.errors ?? []).map(({ instancePath, message, params }) =>
      `${instancePath} ${message} ${JSON.stringify(params)}`.trim(),
    );
  }

  /** Problems of an answer to `method` on the actual `path`, by the contract, its error code included; empty when there are none. */
  answerFaults(method: string, path: string, answer: { status: number; headers: Headers; text: string }): string[] {
    const told = this.operationFor(method, path);
    if (!told) return [`${method} ${path} is not in the contract`];
    const { responses } = told.operation;
    const status = Object.hasOwn(responses, answer.status) ? String(answer.status) : `${String(answer.status)[0]}XX`;
    const place = `/paths/${told.path.replaceAll("/", "~1")}/${told.method}/responses/${status}`;
    const declared = responses[status];
    if (!declared) return [`${told.operation.operationId} does not declare ${answer.status}`];
    const { $ref } = declared as { $ref?: string };
    const response = this.resolve(declared);
    const missing = Object.entries((response.headers ?? {}) as Json)
      .filter(([, header]) => status === "2XX" || this.resolve(header).required === true)
      .flatMap(([name]) => (answer.headers.has(name) ? [] : [name]));
    const [mediaType = ""] = (answer.headers.get("content-type") ?? "").split(";");
    const isKnown = Object.hasOwn(response.content as Json, mediaType);
    if (!isKnown) return [`${told.operation.operationId} ${answer.status} does not declare ${mediaType}`];
    const value: unknown = mediaType === "application/json" ? JSON.parse(answer.text) : answer.text;
    const schema = `${$ref?.slice(1) ?? place}/content/${mediaType.replaceAll("/", "~1")}/schema`;
    const { code } = (value as { error?: { code?: string } } | null)?.error ?? {};
    const codes = [...String(response.description).matchAll(/^`([A-Z_]+)`:/gm)].map(([, told = ""]) => told);
    const untold = code === undefined || codes.length === 0 || codes.includes(code) ? [] : [`does not tell of ${code}`];
    return [...missing.map((name) => `lacks the header ${name}`), ...untold, ...this.faults(schema, value)].map(
      (fault) => `${told.operation.operationId} ${answer.status}: ${fault}`,
    );
  }

  /** Finds the operation of a request. A path without parameters takes precedence over one with parameters. */
  operationFor(method: string, path: string): ToldOperation | undefined {
    const [bare = ""] = path.split("?");
    return this.patterns.find(({ told, pattern }) => told.method === method.toLowerCase() && pattern.test(bare))?.told;
  }
}

/** The document, in which each object schema without a rule for further fields forbids them. */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed);
  if (typeof node !== "object" || node === null) return node;
  const inner = Object.fromEntries(Object.entries(node).map(([name, value]) => [name, closed(value)]));
  const isObject = inner.type === "object" && typeof inner.properties === "object" && inner.properties !== null;
  return isObject && inner.additionalProperties === undefined ? { ...inner, additionalProperties: false } : inner;
}
