// Reads requests as documents write them. Pure.
import { type Operation, operationOf } from "../reference/contract.ts";

/** The service's address in examples; pages replace it with the real one. */
export const ROOT = "https://pay.example";
/** Finds that address, and no longer one that begins like it: guides for operators say https://pay.example.com. */
export const ROOTS = /https:\/\/pay\.example(?![\w-]|\.\w)/g;
/** The client_id in examples; pages replace it with the reader's own. Secrets are never written: programs read GERBANG_SECRET. */
export const CLIENT_ID = "ak_test_your_client_id";

/** A complete request to an operation of the contract. */
export interface Example {
  operation: Operation;
  /** Path and query: `/v1/payments/pay_…`. */
  target: string;
  /** The path's values by parameter name. */
  path: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string>>;
  body: Record<string, unknown> | undefined;
  key: string | undefined;
}

/**
 * Reads a request in HTTP form: request line, headers, an empty line, a JSON body. Undefined for anything else than a request of the contract,
 * such as an answer. Throws when the body is not JSON.
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

/** The requests that a shell script makes with the first guide's function `call`, in order. Values from shell variables are left open. */
export function callsIn(shell: string): Example[] {
  const calls = shell.matchAll(/^call (GET|POST|PUT|PATCH|DELETE) (["']?)(\/v1\/[^\s"']+)\2(?: '([^'\n]*)')?$/gm);
  return [...calls].flatMap(([, method = "", , target = "", json]) => {
    const found = operationOf(method, target.split("?")[0] ?? "");
    if (!found) return [];
    return [{ ...found, target, query: queryOf(target), body: objectOf(json), key: undefined }];
  });
}

/** The query without values that come from shell variables. */
function queryOf(target: string): Record<string, string> {
  const query = new URLSearchParams(target.split("?")[1] ?? "");
  return Object.fromEntries([...query].filter(([, value]) => !value.startsWith("$")));
}

function objectOf(json: string | undefined): Record<string, unknown> | undefined {
  if (json === undefined) return undefined;
  const value = JSON.parse(json) as Record<string, unknown>;
  return Object.keys(value).length === 0 ? undefined : value;
}
