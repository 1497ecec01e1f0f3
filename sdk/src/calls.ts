// How the resources make calls: paths with ids in them, queries, lists, and bodies that are checked before they are sent.
import type { Answer, Expected } from "./answer.ts";
import type { BodyName } from "./rules.ts";
import { checkBody, checkIdempotencyKey, checkIdentity, encoded } from "./check.ts";
import { List, type Page } from "./list.ts";
import type { Call, CallOptions, Transport, Tried } from "./transport.ts";
import { traced, type Tracer } from "./tracing.ts";

export type { CallOptions } from "./transport.ts";
/** Options of calls that only read. */
export type ReadOptions = Omit<CallOptions, "idempotencyKey">;

type Body = {
  value?: unknown;
  rules?: BodyName;
  method?: "POST" | "PUT";
  isIntent?: boolean;
  /** A field that the answer has. */
  identity?: Identity;
};
type Identity = "reference" | "uuid" | "id";
type Query = Record<string, string | number | boolean | readonly string[] | null | undefined>;

export class Calls {
  readonly transport: Transport;
  readonly #tracer: Tracer | undefined;

  constructor(transport: Transport, tracer: Tracer | undefined) {
    this.transport = transport;
    this.#tracer = tracer;
  }

  /** Reads an object that has the field `identity`, or something of another kind. */
  async read<Result>(
    operation: string,
    target: string,
    options?: ReadOptions,
    identity?: Identity,
    kind: Expected["kind"] = "object",
    waitMs?: number,
  ): Promise<Result> {
    const call: Call = { operation, method: "GET", target, answer: { kind, identity }, waitMs };
    return (await this.#call(call, options)).body as Result;
  }

  list<Item>(operation: string, path: string, filters: object = {}, options?: ReadOptions): List<Item> {
    // All pages are of one list, whatever the caller does with its object.
    const asked: Query = { ...filters };
    return new List((cursor = asked.starting_after as string) => {
      const target = withQuery(path, { ...asked, starting_after: cursor });
      return this.read<Page<Item>>(operation, target, options, undefined, "list");
    });
  }

  /** Calls the API to change something. `rules` names the schema by which the body is checked before it is sent; throws as `checkBody` does. */
  async write<Result>(operation: string, target: string, body: Body = {}, options?: CallOptions): Promise<Result> {
    return (await this.answer(operation, target, body, options)).body as Result;
  }

  /** As `write`, and gives the answer with its status. */
  async answer(operation: string, target: string, body: Body, options?: CallOptions): Promise<Answer & Tried> {
    const { value = {}, rules, method = "POST", isIntent, identity } = body;
    checkIdempotencyKey(options?.idempotencyKey);
    if (rules !== undefined) checkBody(rules, value);
    const answer: Expected = { kind: "object", identity };
    return this.#call({ operation, method, target, body: value, isIntent, answer }, options);
  }

  #call(call: Call, options?: CallOptions): Promise<Answer & Tried> {
    return traced(this.#tracer, call, () => this.transport.call(call, options));
  }
}

/** A path with ids in it: ``path`/v1/payments/${reference}` ``. Throws VALIDATION_ERROR for an empty id. */
export function path(texts: TemplateStringsArray, ...identities: string[]): string {
  return texts.reduce((made, text, at) => made + checkIdentity(identities[at - 1]) + text);
}

/** A path with its query, in the form that is signed and sent. Throws VALIDATION_ERROR for half a character. */
export function withQuery(target: string, query: Query): string {
  const asked = Object.entries(query)
    .flatMap(([field, value]) =>
      [value ?? []].flat().map((each) => `${encoded(field, field)}=${encoded(field, String(each))}`),
    )
    .join("&");
  return target + (asked && `?${asked}`);
}
