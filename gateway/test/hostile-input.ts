// Values that break programs, and where a contract lets them in: for tests that send them to every operation of an API.
import { readFileSync } from "node:fs";
import type { Answer } from "../../e2e/kit/client.ts";
import { ContractCheck } from "./contract-check.ts";

interface Described {
  operationId: string;
  parameters?: { $ref?: string; name?: string; in?: string }[];
  requestBody?: {
    content: Record<string, { schema: { $ref?: string }; examples?: Record<string, { $ref?: string }> }>;
  };
}
interface Contract {
  paths: Record<string, Record<string, Described>>;
  components: {
    parameters: Record<string, { name: string; in: string }>;
    examples: Record<string, { value: Record<string, unknown> }>;
    schemas: Record<string, { properties?: Record<string, unknown> }>;
  };
}

/** An operation of a contract. `example`: a body that it takes. `fields`: all fields of its body. */
interface Operation {
  method: string;
  path: string;
  operationId: string;
  queryNames: string[];
  hasBody: boolean;
  example: Record<string, unknown> | undefined;
  fields: string[];
}

const lastPart = (ref: string | undefined): string => ref?.split("/").at(-1) ?? "";

type Face = "portal" | "operator";
const textOf = (face: Face): string => readFileSync(new URL(`../../openapi/${face}.json`, import.meta.url), "utf8");

export const contractOf = (face: Face): ContractCheck => new ContractCheck(textOf(face));

/** Problems of an answer by the contract. None where a client makes another path of this one, such as by taking dots out of it, or it is too long. */
export function contractFaults(contract: ContractCheck, method: string, path: string, answer: Answer): string[] {
  const { pathname } = new URL(path, "http://service.test");
  const isElsewhere = answer.json?.error?.code === "ROUTE_NOT_FOUND" || !contract.operationFor(method, pathname);
  return isElsewhere || answer.status === 431 ? [] : contract.answerFaults(method, pathname, answer);
}

/** All operations of a contract, without those named. */
export function operationsOf(face: Face, without: readonly string[]): Operation[] {
  const { paths, components } = JSON.parse(textOf(face)) as Contract;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => ["get", "post", "put", "patch", "delete"].includes(method))
      .filter(([, { operationId }]) => !without.includes(operationId))
      .map(([method, { operationId, parameters = [], requestBody }]) => {
        const [content] = Object.values(requestBody?.content ?? {});
        const schema = components.schemas[lastPart(content?.schema.$ref)];
        const [shown] = Object.values(content?.examples ?? {});
        const example = shown && components.examples[lastPart(shown.$ref)]?.value;
        const given = parameters.map(({ $ref, ...own }) =>
          $ref === undefined ? own : (components.parameters[lastPart($ref)] ?? own),
        );
        return {
          method: method.toUpperCase(),
          path,
          operationId,
          queryNames: given.flatMap(({ name, in: place }) => (place === "query" && name !== undefined ? [name] : [])),
          hasBody: requestBody !== undefined,
          example,
          fields: [...new Set([...Object.keys(example ?? {}), ...Object.keys(schema?.properties ?? {})])],
        };
      }),
  );
}

const nested = (depth: number): unknown => JSON.parse("[".repeat(depth) + "]".repeat(depth));

export const hostile: readonly unknown[] = [
  null,
  true,
  -1,
  0.5,
  2 ** 31,
  2 ** 53,
  1e308,
  "",
  "\0",
  "a\0b@c.example",
  `${"\u0130".repeat(240)}@b`,
  "\ud800",
  "\ud83d\ude00".repeat(300),
  "x".repeat(70_000),
  "../../etc/passwd",
  "' or 1=1 --",
  "<img src=x onerror=alert(1)>",
  "9".repeat(400),
  "-1",
  "0000-00-00",
  "9999-12-31T23:59:59Z",
  "999999-12-31T00:00:00Z",
  "-271821-04-20T00:00:00Z",
  "2026-02-30T25:61:61Z",
  "Etc/GMT+14",
  "+05:30",
  "US/Pacific-New",
  "AAAA",
  "__proto__",
  [],
  [null, {}, []],
  ["\0"],
  {},
  { IDR: null },
  { IDR: 1e300 },
  { "a\0": "\0" },
  { __proto__: null, constructor: 1, toString: 2 },
  nested(60),
];

/** The same values as parts of an address, not escaped yet. */
export const hostileParts = hostile.map((value) =>
  (typeof value === "string" ? value : JSON.stringify(value)).slice(0, 8_000),
);

export const escaped = (text: string): string => encodeURIComponent(text.toWellFormed());

/** Bodies that are no JSON object. */
export const hostileBodies = ["{", '{"a":1,"a":2}', "\xff\xfe", "null", '"', "[".repeat(100_000)].map((raw) =>
  Buffer.from(raw, "latin1"),
);
