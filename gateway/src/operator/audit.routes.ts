// GET /ops/v1/audit: who changed what, newest first.
import { z } from "zod";
import { wireTime } from "../ground/clock.ts";
import { isId } from "../ground/ids.ts";
import { listSchema, timestamp } from "../http/shapes.ts";
import type { AuditEntry } from "./audit.sql.ts";
import type { Audit } from "./audit.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";
import { page, unknownCursor } from "../http/lists.ts";
import { idField, limitOf, pageFields } from "./lists.ts";

const entrySchema = z.strictObject({
  request_id: z.string().meta({ description: "`X-Request-Id` of the call." }),
  at: timestamp,
  role: z.enum(["viewer", "admin"]),
  method: z.string(),
  path: z.string(),
  merchant_id: z.string().nullable(),
  body: z.unknown().meta({ description: "What was sent, without secrets; large fields are left out and named." }),
  status: z.int().nullable().meta({
    description: "Status of the answer. Null: the call was cut short, or its outcome could not be recorded.",
  }),
  answered_at: timestamp.nullable(),
});

const querySchema = z.strictObject({
  merchant_id: idField("merchant").meta({ description: "Only what was done to this merchant." }),
  ...pageFields("request_id", (value) => isId("request", value)),
});

export function auditEndpoints(audit: Audit): OperatorEndpoint[] {
  return [
    operatorEndpoint({
      method: "GET",
      path: "/ops/v1/audit",
      summary: "List the operators' changes, refused ones too, newest first",
      tag: "Audit",
      role: "viewer",
      query: querySchema,
      success: { status: 200, description: "A page of the audit.", schema: listSchema(entrySchema) },
      errors: [],
      async handle({ query }) {
        const { merchant_id: merchantId, starting_after: after } = query;
        if (after !== undefined && !(await audit.has(after))) throw unknownCursor(after);
        const limit = limitOf(query);
        const entries = await audit.list({ merchantId, after, count: limit + 1 });
        return page(entries, limit, view, (entry) => view(entry).request_id);
      },
    }),
  ];
}

function view(entry: AuditEntry): z.infer<typeof entrySchema> {
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
