// A request as documents write it. Pure.
import { type Operation, operationOf } from "../reference/contract.ts";

/** The address that examples have; pages put the service's own in its place. */
export const ROOT = "https://pay.example";
/** The same for whose request it is. Secrets are never written: programs read GERBANG_SECRET. */
export const CLIENT_ID = "ak_test_your_client_id";

/** A request of the contract with everything that it needs. */
export interface Example {
  operation: Operation;
  /** With its query: `/v1/payments/pay_…`. */
  target: string;
  /** The values in its path, by their names. */
  path: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string>>;
  body: Record<string, unknown> | undefined;
  key: string | undefined;
}

/**
 * A request that a document writes as HTTP: a line, headers, an empty line, a JSON body. Undefined for what is no request of the contract, an
 * answer for instance. Throws where its body is no JSON.
 */
export function exampleOf(text: string): Example | undefined {
  const [head = "", ...rest] = text.trim().split("\n\n");
  const [line = "", ...headers] = head.split("\n");
  const [, method = "", target = ""] = /^(GET|POST|PUT|PATCH|DELETE) (\/v1\/\S*)(?: HTTP\/1\.1)?$/.exec(line) ?? [];
  const found = operationOf(method, target.split("?")[0] ?? "");
  if (!found) return undefined;
  const json = rest.join("\n\n").trim();
  const key = headers.map((header) => /^Idempotency-Key: (.+)$/i.exec(header)?.[1]).find((one) => one !== undefined);
  return {
    ...found,
    target,
    query: Object.fromEntries(new URLSearchParams(target.split("?")[1] ?? "")),
    body: json === "" ? undefined : (JSON.parse(json) as Record<string, unknown>),
    key,
  };
}

/** The requests that a shell makes by the function `call` of the first guide, in their order. What a shell would put in is left open. */
export function callsIn(shell: string): Example[] {
  const calls = shell.matchAll(/^call (GET|POST|PUT|PATCH|DELETE) (["']?)(\/v1\/[^\s"']+)\2(?: '([^'\n]*)')?$/gm);
  return [...calls].flatMap(([, method = "", , target = "", json]) => {
    const found = operationOf(method, target.split("?")[0] ?? "");
    if (!found) return [];
    return [{ ...found, target, query: queryOf(target), body: objectOf(json), key: undefined }];
  });
}

/** Without what a variable of the shell would say. */
function queryOf(target: string): Record<string, string> {
  const query = new URLSearchParams(target.split("?")[1] ?? "");
  return Object.fromEntries([...query].filter(([, value]) => !value.startsWith("$")));
}

function objectOf(json: string | undefined): Record<string, unknown> | undefined {
  if (json === undefined) return undefined;
  const value = JSON.parse(json) as Record<string, unknown>;
  return Object.keys(value).length === 0 ? undefined : value;
}
