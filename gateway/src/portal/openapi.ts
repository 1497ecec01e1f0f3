// The OpenAPI document of /portal/v1: the merchants' endpoints as the portal offers them, and the portal's own endpoints.
import { isChange } from "../access/endpoint.ts";
import { accessOperation, personCodes, sessionScheme, shapedOperation } from "../access/openapi.ts";
import type { FaultCode } from "../ground/fault.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { exampleIds } from "../http/examples.ts";
import type { Json } from "../http/json-schema.ts";
import { merchantOperation, merchantTags } from "../http/merchant-openapi.ts";
import { Document, type Operation } from "../http/openapi.ts";
import type { MemberEndpoint, PortalEndpoint } from "./endpoint.ts";
import { mountedPath, needsFreshProof } from "./mounted.ts";

const memberCodes: FaultCode[] = [
  "MALFORMED_REQUEST",
  ...personCodes,
  "FORBIDDEN",
  "SECOND_FACTOR_REQUIRED",
  "MERCHANT_SUSPENDED",
  "OBJECT_NOT_FOUND",
];
const ownTags = [
  ["Session", "Signing in and out, invitations, and proving again who one is."],
  ["Person", "One's own profile, password and second factors."],
  ["Passkeys", "One's own passkeys."],
  ["Payers", "Forgetting a payer."],
  ["Evidence", "What a merchant says to a dispute: a draft, its files, and submitting them."],
  ["Team", "Who belongs to the merchant, who is invited, and what they changed."],
  ["Keys", "Credentials of the merchant's systems."],
  ["Webhooks", "Where events go, the secret that signs them, and how deliveries went."],
  ["Requests", "The requests of the merchant's systems, and what became of an idempotency key."],
  ["Insights", "Numbers over time, and what waits for somebody."],
  ["Search", "Finding anything, and the story of a payment."],
  ["Ledger", "Accounts and journals: why a figure is what it is."],
  ["Settings", "The merchant's name and branding, and what the operator has set."],
].map(([name, description]) => ({ name, description }));

const header = (name: string, description: string, schema: Json): Json => ({
  name,
  in: "header",
  required: true,
  description,
  schema,
});
const memberHeaders = {
  XMerchantId: header("X-Merchant-Id", "The merchant that you act for.", {
    type: "string",
    examples: [exampleIds.merchant],
  }),
  XEnvironment: header("X-Environment", "The environment that you ask about.", {
    type: "string",
    enum: ["sandbox", "production"],
  }),
};

const fileNameHeader = header("X-File-Name", "The file's name, percent-encoded as UTF-8.", {
  type: "string",
  maxLength: 2000,
  examples: ["resi%201042.pdf"],
});

export interface PortalSurface {
  mounted: readonly Endpoint[];
  own: readonly PortalEndpoint[];
}

/** The document as committed in openapi/portal.json: two spaces, a newline at the end. */
export function portalContract({ mounted, own }: PortalSurface, version: string): string {
  const document = new Document();
  for (const endpoint of mounted) document.add(mountedOperation(document, endpoint));
  for (const endpoint of own)
    document.add(endpoint.for === "member" ? memberOperation(endpoint) : accessOperation(endpoint));
  const json = document.toJson(
    {
      info: {
        title: "Gerbang portal API",
        version,
        description:
          "What the pages of the merchant portal use. A session in a cookie says who is asking. Every merchant's endpoint is here under " +
          "`/portal/v1` as it is under `/v1`. Changes need `Sec-Fetch-Site: same-origin` and a matching `Origin`, and are written into the audit. " +
          "It grows with the pages: systems use the merchants' API instead.",
      },
      servers: [{ url: "/", description: "The address of the service; paths here are written in full." }],
      tags: [...ownTags, ...merchantTags.filter(({ name }) => name !== "Health")],
      security: [{ session: [] }],
    },
    {},
    { session: sessionScheme("portal") },
  );
  return `${JSON.stringify(json, null, 2)}\n`;
}

function mountedOperation(document: Document, endpoint: Endpoint): Operation {
  const operation = merchantOperation(document, endpoint, memberCodes);
  const needsProof = needsFreshProof(endpoint, "production");
  return {
    ...operation,
    ...(needsProof && { description: `${operation.description ?? ""}\n\nNeeds a fresh proof in production.`.trim() }),
    path: mountedPath(endpoint),
    // The operation's links need no change: a link names an operation by its `operationId`, not by its path.
    headers: { ...memberHeaders, ...operation.headers },
    errors: needsProof ? [...operation.errors, "PROOF_REQUIRED"] : operation.errors,
  };
}

function memberOperation(endpoint: MemberEndpoint): Operation {
  const { upload } = endpoint;
  const operation = shapedOperation(endpoint, {
    rights: rightsOf(endpoint),
    codes: [...memberCodes, ...(endpoint.fresh ? (["PROOF_REQUIRED"] as const) : [])],
  });
  return { ...operation, upload, headers: upload ? { ...memberHeaders, XFileName: fileNameHeader } : memberHeaders };
}

function rightsOf(endpoint: MemberEndpoint): string {
  const parts = [
    `Action: \`${endpoint.action}\`.`,
    endpoint.action === "sandbox:write" ? "Sandbox only." : "",
    endpoint.fresh === true ? "Needs a fresh proof." : "",
    endpoint.fresh === "production" ? "Needs a fresh proof in production." : "",
    isChange(endpoint) ? "Written into the audit." : "",
  ];
  return parts.filter(Boolean).join(" ");
}
