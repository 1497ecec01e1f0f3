// Types of the contract's calls: parameters, bodies, and the bodies of successful answers.
import type { components, paths } from "./contract.ts";

export type Schema<Name extends keyof components["schemas"]> = components["schemas"][Name];

export type WriteMethod = "POST" | "PUT" | "PATCH" | "DELETE";

/** The paths with a given method; of the portal's contract by default. */
export type PathOf<Method extends string, Paths = paths> = {
  [Path in keyof Paths]: Paths[Path] extends Record<Lowercase<Method>, object> ? Path : never;
}[keyof Paths] &
  string;

export type OperationOf<Path extends keyof Paths, Method extends string, Paths = paths> =
  Lowercase<Method> extends keyof Paths[Path] ? Paths[Path][Lowercase<Method>] : never;

type Good = 200 | 201 | 202 | 204;

/** The JSON body of a successful answer. */
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
/** Filters may be undefined: then they are left out. */
type Loose<Value> = { [Key in keyof Value]?: Value[Key] | undefined };

/** Path parameters and query. */
export type ParametersOf<Operation> = Needed<"path", InPathOf<Operation>> & Optional<"query", QueryOf<Operation>>;
/** Path parameters, query and body. */
export type RequestOf<Operation> = ParametersOf<Operation> & Needed<"body", BodyOf<Operation>>;
/** An argument that is optional when all its fields are. */
export type Argument<Value> = object extends Value ? [value?: Value] : [value: Value];
