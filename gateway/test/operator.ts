// Calls of the operator API for tests. Rejections are answers too, and each answer is checked by the schema of its endpoint.
import { expect } from "vitest";
import { type Answer, readAnswer } from "../../e2e/kit/client.ts";
import { askedSchema } from "../src/operator/approvals.schema.ts";
import type { OperatorEndpoint } from "../src/operator/endpoint.ts";
import { errorSchema } from "../src/http/shapes.ts";
import { OPERATOR_TOKEN, type TestService } from "./kit.ts";

export const VIEWER_TOKEN = "op_viewer_of_the_tests_0123456789";

export interface OperatorAsk {
  body?: unknown;
  token?: string;
  key?: string;
}

type AskOperator = (method: string, path: string, ask?: OperatorAsk) => Promise<Answer>;

/** Makes the function that calls the operator API. `path` is the part after /ops/v1. */
export function operatorCaller(service: () => TestService, endpoints: readonly OperatorEndpoint[]): AskOperator {
  return async (method, path, { body, token = OPERATOR_TOKEN, key } = {}) => {
    const answer = await readAnswer(
      await fetch(`${service().operatorOrigin}/ops/v1${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          "content-type": "application/json",
          ...(key === undefined ? {} : { "idempotency-key": key }),
        },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      }),
    );
    if (answer.status >= 300) {
      errorSchema.parse(answer.json);
      return answer;
    }
    if (answer.status === 202) {
      askedSchema.parse(answer.json);
      return answer;
    }
    const bare = `/ops/v1${path.split("?")[0]}`;
    const endpoint = endpoints.find(
      (one) => one.method === method && new RegExp(`^${one.path.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(bare),
    );
    expect(endpoint, `${method} ${path}`).toBeDefined();
    if (answer.headers.get("content-type")?.startsWith("application/json")) endpoint?.success.schema.parse(answer.json);
    return answer;
  };
}

/** The status of an answer; of an error also its code, and the field in its details. */
export function outcomeOf({ status, json }: Answer): string {
  return status < 300 ? String(status) : `${status} ${json.error?.code} ${json.error?.details?.field ?? ""}`.trim();
}
