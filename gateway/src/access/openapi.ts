// OpenAPI operations of endpoints for guests and signed-in persons.
import type { FaultCode } from "../ground/fault.ts";
import { allOptional } from "../http/fields.ts";
import { rulesOf } from "../http/input.ts";
import type { Operation } from "../http/openapi.ts";
import { cookieOf } from "./cookie.ts";
import { type AccessEndpoint, type Shaped, isChange } from "./endpoint.ts";
import type { Json } from "../http/json-schema.ts";
import type { Surface } from "../people/sessions.sql.ts";

const guestCodes: FaultCode[] = ["VALIDATION_ERROR", "RATE_LIMITED", "INTERNAL_ERROR", "SERVICE_UNAVAILABLE"];
export const personCodes: FaultCode[] = ["UNAUTHORIZED", ...guestCodes];
/** Also of changes that take no body: one that is sent is judged. */
const changeCodes: FaultCode[] = ["FORBIDDEN", "MALFORMED_JSON", "PAYLOAD_TOO_LARGE"];

/** OpenAPI security scheme of a surface's session cookie. */
export function sessionScheme(surface: Surface): Json {
  return {
    type: "apiKey",
    in: "cookie",
    name: cookieOf(surface, true).name,
    description: `Set by signing in. On plain http, in development, it is named \`${cookieOf(surface, false).name}\`. A page may name its person in \`X-Person-Id\`: once someone else has signed in in its browser, it is answered UNAUTHORIZED.`,
  };
}

export function accessOperation(endpoint: AccessEndpoint): Operation {
  const rights = [
    endpoint.for === "guest" ? "Needs no session." : endpoint.fresh ? "Needs a fresh proof." : "Needs a session.",
    isChange(endpoint) && endpoint.for !== "guest" ? "Written into the audit." : "",
  ];
  const operation = shapedOperation(endpoint, {
    rights: rights.filter(Boolean).join(" "),
    codes: [
      ...(endpoint.for === "guest" ? guestCodes : personCodes),
      ...(endpoint.for === "person" && endpoint.fresh ? (["PROOF_REQUIRED"] as const) : []),
    ],
  });
  return { ...operation, security: endpoint.for === "guest" ? [] : [{ session: [] }] };
}

/** OpenAPI operation of an endpoint. `rights`: text on who may call it; `codes`: error codes in addition to the endpoint's own. */
export function shapedOperation(
  endpoint: Shaped<unknown, unknown>,
  { rights, codes }: { rights: string; codes: readonly FaultCode[] },
): Operation {
  const { body, description } = endpoint;
  const rules = body && rulesOf(body);
  const texts = [description, rights].filter((text) => text !== undefined && text !== "");
  return {
    ...endpoint,
    ...(texts.length > 0 ? { description: texts.join("\n\n") } : {}),
    errors: [
      "MALFORMED_REQUEST",
      ...(endpoint.method === "GET" ? [] : changeCodes),
      ...codes,
      ...(endpoint.errors ?? (endpoint.params ? (["OBJECT_NOT_FOUND"] as const) : [])),
    ],
    body: rules && {
      schema: rules.schema,
      examples: endpoint.bodyExamples,
      isRequired: !allOptional(rules),
      nullIsAbsent: false,
    },
  };
}
