// Makes an OpenAPI 3.1 document from operations: parameters, bodies, answers and errors. Parts that operations share become components.
import type { z } from "zod";
import { Fault, type FaultCode } from "../ground/fault.ts";
import { exampleIds } from "./examples.ts";
import { Components, type Json } from "./json-schema.ts";
import { errorSchema, parameterNames } from "./shapes.ts";

/** Example bodies by name. */
export type Examples = Readonly<Record<string, { summary: string; value: unknown }>>;

/** A link from the result of an operation to another operation that takes fields of it. */
interface Link {
  operationId: string;
  description: string;
  /** Path parameters of the other operation, each with the name of a field of this answer. Generators refuse a body that is made of fields. */
  path?: Readonly<Record<string, string>>;
}

/** The description of an endpoint for the document. */
export interface Described {
  /** Must stay the same, because generated clients name their functions after it. */
  operationId: string;
  /** The full path, with `{name}` for each parameter. */
  path: string;
  summary: string;
  description?: string;
  tag: string;
  /** Path parameters. */
  params?: Readonly<Record<string, z.ZodType>>;
  /** Codes besides those that every operation may answer. */
  errors?: readonly FaultCode[];
  success: Success;
  links?: readonly Link[];
}

export interface Success {
  /** 200 when absent. */
  status?: number;
  description: string;
  schema: z.ZodType;
  /** JSON when absent. */
  mediaType?: string;
  /** The example of the schema when absent. */
  examples?: Examples;
}

export interface Operation extends Described {
  method: string;
  errors: readonly FaultCode[];
  query?: z.ZodType | undefined;
  body?: { schema: z.ZodType; examples?: Examples | undefined; isRequired: boolean; nullIsAbsent: boolean } | undefined;
  /** Set when the body is a file. */
  upload?: { description: string } | undefined;
  /** What proves who is asking, by scheme. That of the whole document when absent; nothing when empty. */
  security?: readonly Json[];
  /** Header parameters, by their component names. */
  headers?: Readonly<Record<string, Json>>;
  /** Further answers besides the success. */
  replies?: Json;
}

/** Error answers that many operations share, by component name. An answer with a single code is named after the code. */
export const sharedErrors = {
  NotReadable: ["MALFORMED_REQUEST", "MALFORMED_JSON"],
  NotAuthenticated: [
    "UNAUTHORIZED",
    "CLIENT_NOT_FOUND",
    "SIGNATURE_MISSING",
    "SIGNATURE_INVALID",
    "TIMESTAMP_OUT_OF_WINDOW",
    "SIGNATURE_REPLAYED",
  ],
  NotAllowed: ["FORBIDDEN", "MERCHANT_SUSPENDED"],
  NotAllowedToOperator: ["FORBIDDEN", "SECOND_FACTOR_REQUIRED"],
  NotAllowedWithoutProof: ["FORBIDDEN", "SECOND_FACTOR_REQUIRED", "PROOF_REQUIRED"],
  NotAllowedHere: ["FORBIDDEN", "MERCHANT_SUSPENDED", "ENVIRONMENT_MISMATCH"],
  KeyTaken: ["IDEMPOTENCY_CONFLICT", "IDEMPOTENCY_IN_PROGRESS"],
  NotAcceptable: ["VALIDATION_ERROR", "IDEMPOTENCY_KEY_REQUIRED", "IDEMPOTENCY_KEY_INVALID"],
} satisfies Readonly<Record<string, readonly FaultCode[]>>;

/** Example `details` by code. */
const exampleDetails: Partial<Record<FaultCode, Json>> = {
  VALIDATION_ERROR: { field: "reference_id", value: null },
  INVALID_AMOUNT: { field: "amount_minor", value: 0, minimum_minor: 1, maximum_minor: 10_000_000_000 },
  IDEMPOTENCY_CONFLICT: { idempotency_key: "order-1042-pay", first_seen_at: "2026-11-22T03:15:00Z" },
  REFUND_EXCEEDS_PAYMENT: { remaining_refundable_minor: 50_000 },
  REFERENCE_ID_DUPLICATE: { reference: exampleIds.payment },
  RISK_REJECTED: { reference: exampleIds.payment },
  RISK_REVIEW: { reference: exampleIds.payment, status: "pending" },
  PAYMENT_NOT_PAYABLE: { status: "canceled" },
  DISPUTE_RESOLVED: { status: "won" },
  SETTLEMENT_CLOSED: { status: "paid" },
  APPROVAL_CLOSED: { status: "withdrawn" },
};

const usualHeaders = ["X-Request-Id", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"] as const;
const REPLAYED = "X-Idempotent-Replay";
type OptionalHeader = "Retry-After" | typeof REPLAYED;

/** Collects operations and the components that they refer to. */
export class Document {
  readonly components = new Components();
  private readonly paths: Record<string, Json> = {};
  /** Example `details` by code. A document adds those that only its own answers have. */
  readonly details = { ...exampleDetails };

  add(operation: Operation): void {
    const { path, method, success, errors, links } = operation;
    const parameters = [
      ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) =>
        this.parameter("path", name, operation.params?.[name]),
      ),
      ...this.queryParameters(operation.query),
      ...Object.entries(operation.headers ?? {}).map(([name, header]) =>
        this.components.keep("parameters", name, header),
      ),
    ];
    const hasKey = operation.headers?.IdempotencyKey !== undefined;
    const maybeReplay: OptionalHeader[] = hasKey && success.status === undefined ? [REPLAYED] : [];
    const described = {
      operationId: operation.operationId,
      summary: operation.summary,
      description: operation.description,
      tags: [operation.tag],
      security: operation.security,
      parameters: parameters.length === 0 ? undefined : parameters,
      requestBody: operation.upload ? uploadBody(operation.upload.description) : this.requestBody(operation.body),
      responses: {
        [success.status ?? 200]: { ...this.response(success, ...maybeReplay), links: links && linksOf(links) },
        ...operation.replies,
        ...this.errorResponses(errors, hasKey),
        ...(operation.upload && this.fileTooLarge(operation.upload)),
      },
    };
    this.addOperation(path, method.toLowerCase(), described);
  }

  /** Adds an operation that was not made from an endpoint. */
  addOperation(path: string, method: string, operation: Json): void {
    this.paths[path] = { ...this.paths[path], [method]: operation };
  }

  response(answer: Success, ...further: readonly OptionalHeader[]): Json {
    const { description, schema, mediaType = "application/json", examples } = answer;
    return {
      description,
      headers: this.headers(...further),
      content: { [mediaType]: { schema: this.components.output(schema), ...this.examples(schema, examples) } },
    };
  }

  /** The JSON content of a body, with its schema and one example. */
  content(schema: Json, value: unknown): Json {
    return { "application/json": { schema, example: value } };
  }

  headers(...further: readonly OptionalHeader[]): Json {
    const names = [...usualHeaders, ...further];
    const kept = (name: (typeof names)[number]): Json =>
      this.components.keep("headers", name.replaceAll("-", ""), { ...headers[name], required: name !== REPLAYED });
    return Object.fromEntries(names.map((name) => [name, kept(name)]));
  }

  /** One answer for each status, for all codes of that status. `hasKey`: what is stored under an idempotency key may be a replay. */
  errorResponses(codes: readonly FaultCode[], hasKey = false): Json {
    const byStatus = Map.groupBy(new Set(codes), (code) => new Fault(code).status);
    return Object.fromEntries(
      [...byStatus].map(([status, named]) => [status, this.errorResponse(status, named, hasKey)]),
    );
  }

  /** A file has limits of its own, larger than that of other bodies. */
  private fileTooLarge({ description }: { description: string }): Json {
    const code: FaultCode = "PAYLOAD_TOO_LARGE";
    return {
      [new Fault(code).status]: { ...this.errorResponse(413, [code]), description: `\`${code}\`: ${description}` },
    };
  }

  private errorResponse(status: number, codes: readonly FaultCode[], hasKey = false): Json {
    const maybeReplay = hasKey && codes.some((code) => new Fault(code).stored);
    const response = {
      description: codes.map((code) => `\`${code}\`: ${new Fault(code).message}`).join("\n\n"),
      headers: this.headers(
        ...(status === 429 || status === 503 ? (["Retry-After"] as const) : []),
        ...(maybeReplay ? ([REPLAYED] as const) : []),
      ),
      content: {
        "application/json": {
          schema: this.components.output(errorSchema),
          examples: Object.fromEntries(
            codes.map((code) => [code, this.components.keep("examples", code, exampleOf(code, this.details[code]))]),
          ),
        },
      },
    };
    const name = nameOf(codes);
    const suffix = maybeReplay ? "OrReplay" : "";
    return name === undefined ? response : this.components.keep("responses", name + suffix, response);
  }

  private requestBody(body: Operation["body"]): Json | undefined {
    if (!body) return undefined;
    const { schema, examples, isRequired, nullIsAbsent } = body;
    return {
      required: isRequired,
      content: {
        "application/json": {
          schema: this.components.input(schema, nullIsAbsent),
          ...this.examples(schema, examples),
        },
      },
    };
  }

  /** The example of a named schema becomes a component; other examples stand beside the body. */
  private examples(schema: z.ZodType, own: Examples | undefined): Json {
    const { id, examples } = schema.meta() ?? {};
    if (id !== undefined) this.components.showsElsewhere(id);
    if (own) return { examples: own };
    const [value] = (examples ?? []) as unknown[];
    if (value === undefined) return {};
    if (id === undefined) return { example: value };
    const name = id.charAt(0).toLowerCase() + id.slice(1);
    return { examples: { [name]: this.components.keep("examples", name, { summary: spoken(id), value }) } };
  }

  private queryParameters(query: z.ZodType | undefined): Json[] {
    const { shape = {} } = (query ?? {}) as { shape?: Record<string, z.ZodType> };
    return Object.entries(shape).map(([name, schema]) => this.parameter("query", name, schema));
  }

  private parameter(place: "path" | "query", name: string, schema: z.ZodType | undefined): Json {
    if (!schema) throw new Error(`nothing is said of the parameter ${name}`);
    const { description, ...shape } = this.components.input(schema);
    const parameter = {
      name,
      in: place,
      required: place === "path" || !schema.safeParse(undefined).success,
      description,
      schema: shape,
    };
    const shared = parameterNames.get(schema)?.name;
    return shared === undefined ? parameter : this.components.keep("parameters", shared, parameter);
  }

  /** The whole document. `head` comes before the paths, `tail` after them. */
  toJson(head: Json & { info: Json }, tail: Json, securitySchemes: Json): Json {
    const paths = Object.entries(this.paths).sort(([a], [b]) => (a < b ? -1 : 1));
    return {
      openapi: "3.1.1",
      ...head,
      info: {
        ...head.info,
        contact: { name: "Whoever runs this gateway" },
        license: { name: "MIT", identifier: "MIT" },
      },
      paths: Object.fromEntries(paths),
      ...tail,
      components: { securitySchemes, ...this.components.toJson() },
    };
  }
}

const uploadBody = (description: string): Json => ({
  required: true,
  description,
  content: { "application/octet-stream": { schema: { type: "string", format: "binary" }, example: "%PDF-1.7" } },
});

const count = (description: string, example: number): Json => ({
  description,
  schema: { type: "integer", format: "int64", examples: [example] },
});
const headers = {
  "X-Request-Id": {
    description: "Identity of this request.",
    schema: { type: "string", examples: [exampleIds.request] },
  },
  "X-RateLimit-Limit": count("Requests allowed in the window.", 100),
  "X-RateLimit-Remaining": count("Requests left in it.", 99),
  "X-RateLimit-Reset": count("Unix time at which it ends.", 1_795_317_360),
  "Retry-After": count("Seconds to wait.", 5),
  [REPLAYED]: {
    description: "`true` when this is the stored answer of an earlier request with the same key.",
    schema: { type: "string", const: "true" },
  },
} satisfies Record<string, Json>;

/** Component name of an answer with these codes; undefined when operations do not share it. */
function nameOf(codes: readonly FaultCode[]): string | undefined {
  const [only = ""] = codes;
  if (codes.length === 1) return only.split("_").map(capital).join("");
  const isSame = (shared: readonly FaultCode[]): boolean =>
    new Set(shared).symmetricDifference(new Set(codes)).size === 0;
  return Object.entries(sharedErrors).find(([, shared]) => isSame(shared))?.[0];
}

const capital = (word: string): string => word.charAt(0) + word.slice(1).toLowerCase();

/** Turns `PaymentList` into "Payment list". */
function spoken(id: string): string {
  return capital(id.replaceAll(/\B(?=[A-Z])/g, " "));
}

function exampleOf(code: FaultCode, details: Json | undefined): Json {
  const { message } = new Fault(code);
  return { summary: message, value: { error: { code, message, request_id: exampleIds.request, details } } };
}

function linksOf(links: readonly Link[]): Json {
  const fields = (names: Readonly<Record<string, string>>): Json =>
    Object.fromEntries(Object.entries(names).map(([to, from]) => [to, `$response.body#/${from}`]));
  return Object.fromEntries(
    links.map(({ operationId, description, path }) => [
      operationId,
      { operationId, description, parameters: path && fields(path) },
    ]),
  );
}
