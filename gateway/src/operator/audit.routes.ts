// GET /ops/v1/audit: who changed what, newest first.
import { z } from "zod";
import { wireTime } from "../ground/clock.ts";
import { exampleIds, exampleTimes } from "../http/examples.ts";
import { identity, listSchema, timestamp } from "../http/shapes.ts";
import type { AuditEntry } from "./audit.sql.ts";
import type { Audit } from "./audit.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";
import { page, unknownCursor } from "../http/lists.ts";
import { idField, limitOf, pageFieldsOf } from "./lists.ts";

export const auditEntrySchema = z
  .strictObject({
    request_id: identity("request").meta({ description: "`X-Request-Id` of the call." }),
    at: timestamp,
    role: z.enum(["viewer", "admin"]),
    method: z.string().meta({ examples: ["PATCH"] }),
    path: z.string().meta({ examples: [`/ops/v1/merchants/${exampleIds.merchant}`] }),
    merchant_id: identity("merchant").nullable().meta({ description: "Whom it was about; null for nobody." }),
    body: z.unknown().meta({ description: "What was sent, without secrets; large fields are left out and named." }),
    status: z.int().min(100).max(999).nullable().meta({
      description: "Status of the answer. Null: the call was cut short, or its outcome could not be recorded.",
    }),
    answered_at: timestamp.nullable().meta({ description: "Null when the outcome is not on record." }),
  })
  .meta({
    id: "AuditEntry",
    description: "One change by an operator, refused ones too.",
    examples: [
      {
        request_id: exampleIds.request,
        at: exampleTimes.created,
        role: "admin",
        method: "PATCH",
        path: `/ops/v1/merchants/${exampleIds.merchant}`,
        merchant_id: exampleIds.merchant,
        body: { suspended: true },
        status: 200,
        answered_at: exampleTimes.created,
      },
    ],
  });

const querySchema = z.strictObject({
  merchant_id: idField("merchant").meta({ description: "Only what was done to this merchant." }),
  ...pageFieldsOf("request", "request_id"),
});

export function auditEndpoints(audit: Audit): OperatorEndpoint[] {
  return [
    operatorEndpoint({
      method: "GET",
      operationId: "listAuditEntries",
      path: "/ops/v1/audit",
      summary: "List the operators' changes, refused ones too, newest first",
      tag: "Audit",
      role: "viewer",
      query: querySchema,
      success: {
        status: 200,
        description: "A page of the audit.",
        schema: listSchema(auditEntrySchema, "AuditEntryList"),
      },
      errors: [],
      async handle({ query }) {
        const { merchant_id: merchantId, starting_after: after } = query;
        if (after !== undefined && !(await audit.has(after))) throw unknownCursor(after);
        const limit = limitOf(query);
        const entries = await audit.list({ merchantId, after, count: limit + 1 });
        return page(entries, limit, auditEntryView, ({ requestId }) => requestId);
      },
    }),
  ];
}

export function auditEntryView(entry: AuditEntry): z.infer<typeof auditEntrySchema> {
  return {
    request_id: entry.requestId,
    at: wireTime(entry.at),
    role: entry.role,
    method: entry.method,
    path: entry.path,
    merchant_id: entry.merchantId ?? null,
    body: entry.body,
    status: entry.status ?? null,
    answered_at: entry.answeredAt === undefined ? null : wireTime(entry.answeredAt),
  };
}
