// The contract of /portal/v1: the merchants' own endpoints as a person has them, and those that only pages need.
import type { FaultCode } from "../ground/fault.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { exampleIds } from "../http/examples.ts";
import { allOptional } from "../http/fields.ts";
import { rulesOf } from "../http/input.ts";
import type { Json } from "../http/json-schema.ts";
import { merchantOperation, merchantTags } from "../http/merchant-openapi.ts";
import { Document, type Operation } from "../http/openapi.ts";
import { cookieName } from "./cookie.ts";
import { type PortalEndpoint, isChange } from "./endpoint.ts";
import { mountedPath } from "./mounted.ts";

const guestCodes: FaultCode[] = ["VALIDATION_ERROR", "RATE_LIMITED", "INTERNAL_ERROR", "SERVICE_UNAVAILABLE"];
const personCodes: FaultCode[] = ["UNAUTHORIZED", ...guestCodes];
const memberCodes: FaultCode[] = [
  ...personCodes,
  "FORBIDDEN",
  "SECOND_FACTOR_REQUIRED",
  "MERCHANT_SUSPENDED",
  "OBJECT_NOT_FOUND",
];
const bodyCodes: FaultCode[] = ["MALFORMED_JSON", "PAYLOAD_TOO_LARGE"];

const ownTags = [
  ["Session", "Signing in and out, invitations, and proving again who one is."],
  ["Person", "One's own profile, password and second factors."],
  ["Evidence", "What a merchant says to a dispute: a draft, its files, and handing them in."],
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
export function portalContract(surface: PortalSurface, version: string): string {
  return `${JSON.stringify(portalDocument(surface, version), null, 2)}\n`;
}

function portalDocument({ mounted, own }: PortalSurface, version: string): Json {
  const document = new Document();
  for (const endpoint of mounted) document.add(mountedOperation(document, endpoint));
  for (const endpoint of own) document.add(ownOperation(endpoint));
  return document.toJson(
    {
      info: {
        title: "Gerbang portal API",
        version,
        description:
          "What the pages of the merchant portal use. A session in a cookie says who is asking. Every merchant's endpoint is here under " +
          "`/portal/v1` as it is under `/v1`. Changes need `Sec-Fetch-Site: same-origin` and a matching `Origin`, and are written into the audit. " +
          "It grows with the pages: systems use the merchants' API instead.",
        contact: { name: "Whoever runs this gateway" },
        license: { name: "MIT", identifier: "MIT" },
      },
      servers: [{ url: "/", description: "The address of the service; paths here are written in full." }],
      tags: [...ownTags, ...merchantTags.filter(({ name }) => name !== "Health")],
      security: [{ session: [] }],
    },
    {},
    {
      session: {
        type: "apiKey",
        in: "cookie",
        name: cookieName(true),
        description: `Set by signing in. On plain http, in development, it is named \`${cookieName(false)}\`.`,
      },
    },
  );
}

function mountedOperation(document: Document, endpoint: Endpoint): Operation {
  const operation = merchantOperation(document, endpoint, memberCodes);
  return {
    ...operation,
    path: mountedPath(endpoint),
    // Links name operations, and paths of the merchants' own contract.
    headers: { ...memberHeaders, ...operation.headers },
    errors: endpoint.scope === "refunds:write" ? [...operation.errors, "PROOF_REQUIRED"] : operation.errors,
  };
}

function ownOperation(endpoint: PortalEndpoint): Operation {
  const { body, description } = endpoint;
  const rules = body && rulesOf(body);
  const isUpload = endpoint.for === "member" && endpoint.upload !== undefined;
  const told = [description, rightsOf(endpoint)].filter((text) => text !== undefined && text !== "");
  const general = { guest: guestCodes, person: personCodes, member: memberCodes }[endpoint.for];
  return {
    ...endpoint,
    ...(told.length > 0 ? { description: told.join("\n\n") } : {}),
    errors: [
      ...general,
      ...(endpoint.method === "GET" ? [] : (["FORBIDDEN"] as const)),
      ...(endpoint.for !== "guest" && endpoint.fresh ? (["PROOF_REQUIRED"] as const) : []),
      ...(endpoint.for === "member" && endpoint.sandboxOnly ? (["ENVIRONMENT_MISMATCH"] as const) : []),
      ...(rules || isUpload ? bodyCodes : []),
      ...endpoint.errors,
    ],
    ...(endpoint.for === "member"
      ? { headers: endpoint.upload ? { ...memberHeaders, XFileName: fileNameHeader } : memberHeaders }
      : {}),
    body: rules && {
      schema: rules.schema,
      examples: endpoint.bodyExamples,
      isRequired: !allOptional(rules),
      nullIsAbsent: false,
    },
  };
}

function rightsOf(endpoint: PortalEndpoint): string {
  const parts = [
    endpoint.for === "member" ? `Action: \`${endpoint.action}\`.` : "",
    endpoint.for === "member" && endpoint.sandboxOnly ? "Sandbox only." : "",
    endpoint.for !== "guest" && endpoint.fresh === true ? "Needs a fresh proof." : "",
    endpoint.for === "member" && endpoint.fresh === "production" ? "Needs a fresh proof in production." : "",
    isChange(endpoint) && endpoint.for !== "guest" ? "Written into the audit." : "",
  ];
  return parts.filter(Boolean).join(" ");
}
