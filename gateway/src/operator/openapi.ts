// The OpenAPI document of /ops/v1, generated from its endpoints.
import { z } from "zod";
import { type AccessEndpoint, isChange } from "../access/endpoint.ts";
import { accessOperation, personCodes, sessionScheme, shapedOperation } from "../access/openapi.ts";
import { idempotencyKey, keyCodes, replayReplies } from "../http/merchant-openapi.ts";
import { Document, type Operation, type Success } from "../http/openapi.ts";
import { exampleOf } from "../http/shapes.ts";
import { askedSchema } from "./approvals.schema.ts";
import { type OperatorEndpoint, needsFreshProof } from "./endpoint.ts";

const asked = {
  status: 202,
  description: "Nothing was done: the policy demands a second operator, who approves it under `/ops/v1/approvals`.",
  schema: askedSchema,
};

/** The answers to a repeated key: the success, or where a second operator was needed, the decided approval. */
const keyed = ({ schema, ...success }: Success): Success => ({
  ...success,
  schema: z.union([schema, askedSchema]).meta({
    description: "As it was answered first; or the approval that was asked for, once it is decided: see its `status`.",
    examples: [exampleOf(schema)],
  }),
});

const tags = [
  ["Merchants", "Merchants, their settings, their credentials and where their events go."],
  ["Acquirers", "The acquirers behind the gateway, and what they said that cannot be."],
  ["Routing", "Which acquirer takes a payment: rules in versions, tried before they decide."],
  ["Payments", "Payments of all merchants: found, told whole, given back."],
  ["Search", "Anything, by what people hold in their hands."],
  ["Waiting", "Everything that waits for a person."],
  ["Wall", "How the whole installation does, over a period and as it happens."],
  ["System", "What runs, on which database, with which settings."],
  ["Approvals", "Changes that need a second operator, and which those are."],
  ["Reviews", "Payments that fraud detection leaves to a person."],
  ["Settlements", "What the bank did with the batches."],
  ["Statements", "What finance holds against its own books: batches, and accounts over a period."],
  ["Receipts", "Money that acquirers reported and that no payment awaited."],
  ["Refunds", "Refunds of all merchants, and how they stand at their acquirer."],
  ["Disputes", "Contested payments: recorded, answered with evidence, decided."],
  ["Events", "What was sent to a merchant's receiver."],
  ["Payers", "Forgetting a payer."],
  ["Books", "A merchant's ledger: totals, and the entries behind them."],
  ["Status", "What everybody is told on the status page."],
  ["Tokens", "Who may call this API: tokens by name and role."],
  ["Operators", "Who may sign in to the console, and who is invited."],
  ["Session", "Signing in to the console and out, and proving again who one is."],
  ["Person", "One's own profile, password and authenticator."],
  ["Passkeys", "One's own passkeys."],
  ["Audit", "Who changed what, and what was refused."],
  ["Contract", "This document."],
].map(([name, description]) => ({ name, description }));

interface OperatorSurface {
  endpoints: readonly OperatorEndpoint[];
  /** Endpoints by which people sign in to the console. */
  access: readonly AccessEndpoint[];
}

/** The text of openapi/operator.json as committed: indented by two spaces, with a newline at the end. */
export function operatorContract({ endpoints, access }: OperatorSurface, version: string): string {
  const document = new Document();
  for (const endpoint of endpoints) document.add(operationOf(document, endpoint));
  for (const endpoint of access) document.add(accessOperation(endpoint));
  document.addOperation("/ops/v1/openapi.json", "get", {
    operationId: "getOperatorContract",
    summary: "Read this document",
    description: "Needs no token.",
    tags: ["Contract"],
    security: [],
    responses: {
      200: {
        description: "OpenAPI 3.1.",
        headers: document.headers(),
        content: { "application/json": { schema: { type: "object", additionalProperties: true } } },
      },
      ...document.errorResponses(["MALFORMED_REQUEST", "RATE_LIMITED", "SERVICE_UNAVAILABLE"]),
    },
  });
  const json = document.toJson(
    {
      info: {
        title: "Gerbang operator API",
        version,
        description:
          "For whoever runs the gateway: merchants, credentials, acquirers, routing rules, the audit. Tokens have names, people sign in to the " +
          "console, and both have one of three roles: a viewer reads, support decides what moves no money, an admin does everything. Every change, a refused " +
          "one too, is written into the audit with the token's name or the person's address, and where it came from. Changes by a session need " +
          "`Sec-Fetch-Site: same-origin` and a matching `Origin`.",
      },
      servers: [
        { url: "/", description: "The operator's listener (OPS_HOST, OPS_PORT); paths here are written in full." },
      ],
      tags,
      security: [{ operator: [] }, { session: [] }],
    },
    {},
    {
      operator: { type: "http", scheme: "bearer", description: "`Bearer <operator token>`" },
      session: sessionScheme("console"),
    },
  );
  return `${JSON.stringify(json, null, 2)}\n`;
}

function operationOf(document: Document, endpoint: OperatorEndpoint): Operation {
  const operation = shapedOperation(endpoint, {
    rights: `Role: \`${endpoint.role}\`.${isChange(endpoint) ? " Written into the audit." : ""}`,
    codes: [
      ...personCodes,
      ...(endpoint.role !== "viewer" && endpoint.method === "GET" ? (["FORBIDDEN"] as const) : []),
      ...(needsFreshProof(endpoint) ? (["PROOF_REQUIRED"] as const) : []),
      "SECOND_FACTOR_REQUIRED",
      ...(endpoint.keyed ? keyCodes : []),
    ],
  });
  return {
    ...operation,
    ...(endpoint.keyed ? { headers: { IdempotencyKey: idempotencyKey } } : {}),
    replies: {
      ...(endpoint.keyed ? replayReplies(document, keyed(endpoint.success)) : {}),
      ...(endpoint.approval ? { 202: document.response(asked, "X-Idempotent-Replay") } : {}),
    },
  };
}
