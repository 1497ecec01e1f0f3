// What the contract says of a call, as types: its parameters, its body, and what it answers when it goes well.
import type { components, paths } from "./contract.ts";

export type Schema<Name extends keyof components["schemas"]> = components["schemas"][Name];

export type WriteMethod = "POST" | "PUT" | "PATCH" | "DELETE";

/** Paths of a contract that have a method: of the portal's, where none is named. */
export type PathOf<Method extends string, Paths = paths> = {
  [Path in keyof Paths]: Paths[Path] extends Record<Lowercase<Method>, object> ? Path : never;
}[keyof Paths] &
  string;

export type OperationOf<Path extends keyof Paths, Method extends string, Paths = paths> =
  Lowercase<Method> extends keyof Paths[Path] ? Paths[Path][Lowercase<Method>] : never;

type Good = 200 | 201 | 202 | 204;

/** The body of a good answer. */
export type AnswerOf<Operation> = Operation extends { responses: infer Responses }
  ? {
      [Status in keyof Responses & Good]: Responses[Status] extends { content: { "application/json": infer Body } }
        ? Body
        : undefined;
    }[keyof Responses & Good]
  : never;

type QueryOf<Operation> = Operation extends { parameters: { query?: infer Query } } ? NonNullable<Query> : never;
type InPathOf<Operation> = Operation extends { parameters: { path: infer InPath } } ? InPath : never;
type BodyOf<Operation> = Operation extends { requestBody?: infer Request }
  ? [NonNullable<Request>] extends [never]
    ? never
    : NonNullable<Request> extends { content: { "application/json": infer Body } }
      ? Body
      : never
  : never;

type Optional<Name extends string, Value> = [Value] extends [never]
  ? unknown
  : { [Key in Name]?: Loose<Value> | undefined };
type Needed<Name extends string, Value> = [Value] extends [never] ? unknown : { [Key in Name]: Value };
/** A filter that is not set may be undefined: it is left out. */
type Loose<Value> = { [Key in keyof Value]?: Value[Key] | undefined };

/** Parts of a path and the query. */
export type ParametersOf<Operation> = Needed<"path", InPathOf<Operation>> & Optional<"query", QueryOf<Operation>>;
/** The same and the body. */
export type RequestOf<Operation> = ParametersOf<Operation> & Needed<"body", BodyOf<Operation>>;
/** An argument that may be left out when nothing in it is needed. */
export type Argument<Value> = object extends Value ? [value?: Value] : [value: Value];
