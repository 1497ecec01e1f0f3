// Converts the OpenAPI document of /v1 into a Postman collection (2.1) whose requests sign themselves.
import type { Json } from "./json-schema.ts";

interface Parameter {
  name: string;
  in: string;
  description?: string;
  schema: { examples?: (string | number)[] };
}

interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  parameters?: Json[];
  requestBody?: { content: { "application/json": { example?: unknown; examples?: Record<string, Json> } } };
  responses: Record<string, { links?: Record<string, { operationId: string; parameters?: Record<string, string> }> }>;
}

interface Contract {
  info: { title: string; description: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
}

/** A collection variable for a path parameter, set by a creation: the parameter `PaymentReference` becomes `payment_reference`. */
interface Variable {
  key: string;
  value: string;
}

/** Script that runs before every request. A signature is good once, so two requests within a second need two timestamps. */
const signs = `const { HmacSHA256 } = require("crypto-js");

// Variables are filled in here: what is signed must be what is sent.
const raw = pm.request.body && pm.request.body.mode === "raw" ? pm.variables.replaceIn(pm.request.body.raw) : "";
if (raw !== "") pm.request.body.update({ mode: "raw", raw });

const calls = (Number(pm.collectionVariables.get("calls")) + 1) % 200;
pm.collectionVariables.set("calls", String(calls));
const timestamp = String(Number(pm.variables.replaceIn("{{$timestamp}}")) + calls - 100);
const header = (key, value) => pm.request.headers.upsert({ key, value });

header("Authorization", "Bearer " + pm.variables.get("client_id"));
header("X-Timestamp", timestamp);
header("X-Signature", HmacSHA256(timestamp + "." + raw, pm.variables.get("secret")).toString());
if (pm.request.method !== "GET") header("Idempotency-Key", pm.variables.replaceIn("{{$guid}}"));`;

/** Takes the OpenAPI document of /v1 as a value. */
export function postmanCollection(document: Json): Json {
  const contract = document as unknown as Contract;
  const resolve = (value: Json): Json => {
    const { $ref } = value as { $ref?: string };
    if ($ref === undefined) return value;
    return $ref
      .slice(2)
      .split("/")
      .reduce((at, part) => at[part] as Json, document);
  };
  const operations = Object.entries(contract.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const variablesOf = new Map(
    operations.map(({ operation }) => [operation.operationId, pathVariables(operation, resolve)]),
  );
  const variables = new Map([...variablesOf.values()].flatMap((of) => [...of.values()]).map((one) => [one.key, one]));
  return {
    info: {
      name: contract.info.title,
      description: `${contract.info.description}\n\n**Begin** by setting the variables \`base_url\`, \`client_id\` and \`secret\` of this collection.`,
      schema: "https://schema.getpostman.com/json/collection/v2.1.0/collection.json",
    },
    variable: [
      { key: "base_url", value: "http://localhost:8080/v1" },
      { key: "client_id", value: "ak_test_..." },
      { key: "secret", value: "sk_test_..." },
      { key: "calls", value: "0" },
      ...variables.values(),
    ],
    event: [script("prerequest", signs)],
    item: contract.tags.map(({ name, description }) => ({
      name,
      description,
      item: operations
        .filter(({ operation }) => operation.tags.includes(name))
        .map(({ path, method, operation }) => ({
          name: operation.summary,
          ...keeps(operation, variablesOf),
          request: {
            method,
            description: operation.description ?? "",
            header: operation.requestBody ? [{ key: "Content-Type", value: "application/json" }] : [],
            url: urlOf(path, operation, variablesOf.get(operation.operationId) ?? new Map(), resolve),
            ...bodyOf(operation, [...variables.values()], resolve),
          },
        })),
    })),
  };
}

function script(listen: string, code: string): Json {
  return { listen, script: { type: "text/javascript", exec: code.split("\n") } };
}

/** The variables of an operation, by the name of the path parameter. */
function pathVariables(operation: Operation, resolve: (value: Json) => Json): Map<string, Variable> {
  return new Map(
    (operation.parameters ?? []).flatMap((given) => {
      const { name, in: place, schema } = resolve(given) as unknown as Parameter;
      if (place !== "path") return [];
      const component = (given as { $ref?: string }).$ref?.split("/").at(-1) ?? name;
      const key = component.replaceAll(/\B(?=[A-Z])/g, "_").toLowerCase();
      return [[name, { key, value: String(schema.examples?.[0] ?? "") }] as const];
    }),
  );
}

/** The script after a creation: it stores fields of the answer in variables for linked operations. */
function keeps(operation: Operation, variablesOf: ReadonlyMap<string, ReadonlyMap<string, Variable>>): Json {
  const lines = Object.values(operation.responses).flatMap(({ links = {} }) =>
    Object.values(links).flatMap(({ operationId, parameters = {} }) =>
      Object.entries(parameters).map(([name, from]) => {
        const key = variablesOf.get(operationId)?.get(name)?.key ?? name;
        return `  pm.collectionVariables.set("${key}", pm.response.json()${accessTo(from)});`;
      }),
    ),
  );
  if (lines.length === 0) return {};
  return { event: [script("test", ["if (pm.response.code < 300) {", ...new Set(lines), "}"].join("\n"))] };
}

/** Turns `$response.body#/data/0/uuid` into JavaScript that allows for missing parts. */
function accessTo(from: string): string {
  const parts = from.replace("$response.body#/", "").split("/");
  return parts.map((part, at) => (/^\d+$/.test(part) ? `[${part}]` : `${at > 1 ? "?" : ""}.${part}`)).join("");
}

function urlOf(path: string, operation: Operation, own: Map<string, Variable>, resolve: (value: Json) => Json): Json {
  const parts = path
    .replace(/^\/v1\//, "")
    .split("/")
    .map((part) => part.replace(/^\{(\w+)\}$/, ":$1"));
  const query = (operation.parameters ?? [])
    .map((given) => resolve(given) as unknown as Parameter)
    .filter((parameter) => parameter.in === "query")
    .map(({ name, description = "", schema }) => ({
      key: name,
      value: String(schema.examples?.[0] ?? ""),
      description,
      disabled: true,
    }));
  return {
    raw: `{{base_url}}/${parts.join("/")}`,
    host: ["{{base_url}}"],
    path: parts,
    ...(query.length > 0 ? { query } : {}),
    ...(own.size > 0 ? { variable: [...own].map(([key, { key: of }]) => ({ key, value: `{{${of}}}` })) } : {}),
  };
}

/** The first example, with the collection's variables in place of example identities, and a unique order for each payment. */
function bodyOf(operation: Operation, variables: readonly Variable[], resolve: (value: Json) => Json): Json {
  const { example, examples = {} } = operation.requestBody?.content["application/json"] ?? {};
  if (!operation.requestBody) return {};
  const [first] = Object.values(examples);
  const value = example ?? (first ? resolve(first).value : {});
  const filled = JSON.stringify(
    value,
    (key, inner: unknown) => {
      if (key === "reference_id") return "order-{{$guid}}";
      const variable = variables.find((one) => one.value === inner && one.value.includes("_"));
      return variable ? `{{${variable.key}}}` : inner;
    },
    2,
  );
  return { body: { mode: "raw", raw: filled, options: { raw: { language: "json" } } } };
}
