// GET /ops/v1/audit: operators' changes and rejected calls, newest first.
import { z } from "zod";
import { operatorRoleField } from "../access/session.schema.ts";
import { wireTime, wireTimeOrNull } from "../ground/clock.ts";
import { idOf } from "../ground/ids.ts";
import { exampleIds, exampleTimes } from "../http/examples.ts";
import { cursorOf, limitOf, page } from "../http/lists.ts";
import { emailPattern, identity, listSchema, positive, textOrNull, timestamp, withExample } from "../http/shapes.ts";
import type { AuditRow } from "./audit.sql.ts";
import type { Audit } from "./audit.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";
import { idField, pageFieldsOf } from "./lists.ts";
import { type Refusal, refusalReasons } from "./refusals.sql.ts";
import type { Refusals } from "./refusals.ts";
import { TOKEN_NAME } from "./tokens.ts";

/** A token's name, or the e-mail address of a person with a session. */
const actorName = z
  .string()
  .min(1)
  .max(254)
  .meta({ examples: ["sari"] });

export const auditEntrySchema = withExample(
  z.strictObject({
    request_id: identity("request").meta({ description: "`X-Request-Id` of the call." }),
    at: timestamp,
    actor: actorName.meta({
      description:
        "Name of the token, or the e-mail address of who was signed in; `command-line` for the command line.",
    }),
    address: textOrNull("192.0.2.17", "From where; null for the command line, and for what ran after an approval."),
    approved_by: textOrNull("budi", "Who approved a change that needed a second operator; its `actor` asked for it."),
    role: operatorRoleField,
    method: z.string().meta({ examples: ["PATCH"] }),
    path: z.string().meta({ examples: [`/ops/v1/merchants/${exampleIds.merchant}`] }),
    merchant_id: identity("merchant").nullable().meta({ description: "Whom it was about; null for nobody." }),
    body: z.unknown().meta({ description: "What was sent, without secrets; large fields are left out and named." }),
    status: z.int().min(100).max(999).nullable().meta({
      description: "Status of the answer. Null: the call was cut short, or its outcome could not be recorded.",
    }),
    answered_at: timestamp.nullable().meta({ description: "Null when the outcome is not on record." }),
  }),
  {
    id: "AuditEntry",
    description: "One change by an operator, refused ones too.",
  },
  {
    actor: "sari",
    approved_by: null,
    role: "admin",
    merchant_id: exampleIds.merchant,
    body: { suspended: true },
    status: 200,
    answered_at: exampleTimes.created,
  },
);

const querySchema = z.strictObject({
  merchant_id: idField("merchant").meta({ description: "Only what was done to this merchant." }),
  actor: actorName
    .regex(new RegExp(`${TOKEN_NAME.source}|${emailPattern}`), "is neither the name of a token nor an e-mail address")
    .optional()
    .meta({ description: "Only what was done with the tokens of this name, or by the operator of this address." }),
  ...pageFieldsOf("request", "request_id"),
});

const refusalSchema = withExample(
  z.strictObject({
    refusal_id: identity("refusal"),
    first_at: timestamp,
    last_at: timestamp,
    reason: z.enum(refusalReasons).meta({
      description:
        "The call had no token, one that never was, one that has ended, or one whose role is too low to read this.",
    }),
    actor: actorName.nullable().meta({ description: "Name of the token, where it has one." }),
    address: textOrNull(
      "203.0.113.9",
      "From where; null for addresses beyond the hundred that are told apart at a time.",
    ),
    count: positive(12, "So many calls."),
  }),
  {
    id: "Refusal",
    description: "Calls of one kind that were refused before anything happened, from the first to the last.",
  },
  { last_at: exampleTimes.paid, reason: "wrong" },
);

export function auditEndpoints(audit: Audit, refusals: Refusals): OperatorEndpoint[] {
  return [
    operatorEndpoint({
      method: "GET",
      operationId: "listRefusals",
      path: "/ops/v1/audit/refusals",
      summary: "List calls without a good token, and reads beyond a role, newest first",
      description: "Written down a second after the first and then once a minute, and kept for 30 days.",
      tag: "Audit",
      role: "viewer",
      query: z.strictObject(pageFieldsOf("refusal", "refusal_id")),
      success: { description: "A page of them.", schema: listSchema(refusalSchema, "RefusalList") },
      async handle({ query }) {
        const after = await cursorOf(query, (id) => refusals.has(id));
        return page(await refusals.list(after, limitOf(query) + 1), query, refusalView, (one) => one.refusalId);
      },
    }),
    operatorEndpoint({
      method: "GET",
      operationId: "listAuditEntries",
      path: "/ops/v1/audit",
      summary: "List the operators' changes, refused ones too, newest first",
      tag: "Audit",
      role: "viewer",
      query: querySchema,
      success: { description: "A page of the audit.", schema: listSchema(auditEntrySchema, "AuditEntryList") },
      async handle({ query }) {
        const { merchant_id: merchantId, actor } = query;
        const after = await cursorOf(query, (id) => audit.has(id));
        const rows = await audit.list({ merchantId, actor, after, count: limitOf(query) + 1 });
        return page(rows, query, auditEntryView, (row) => idOf("request", row.request_id));
      },
    }),
  ];
}

function refusalView(one: Refusal): z.infer<typeof refusalSchema> {
  return {
    refusal_id: one.refusalId,
    first_at: wireTime(one.firstAt),
    last_at: wireTime(one.lastAt),
    reason: one.reason,
    actor: one.actor ?? null,
    address: one.address ?? null,
    count: one.count,
  };
}

export function auditEntryView(row: AuditRow): z.infer<typeof auditEntrySchema> {
  return {
    request_id: idOf("request", row.request_id),
    at: wireTime(row.at),
    actor: row.actor,
    address: row.address,
    approved_by: row.approved_by,
    role: row.role,
    method: row.method,
    path: row.path,
    merchant_id: row.merchant_id === null ? null : idOf("merchant", row.merchant_id),
    body: row.body === null ? null : (JSON.parse(row.body) as unknown),
    status: row.status,
    answered_at: wireTimeOrNull(row.answered_at),
  };
}
