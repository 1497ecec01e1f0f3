// Endpoints of refunds for operators: each refund with its reason and the state of its acquirer operation.
import { z } from "zod";
import { operationKey, operationSteps, wasCalled } from "../acquiring/operation.ts";
import { wireTimeOrNull } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { isId } from "../ground/ids.ts";
import { reply } from "../ground/reply.ts";
import { cursorOf, limitOf, page } from "../http/lists.ts";
import {
  count,
  environmentField,
  exampleOf,
  identity,
  listSchema,
  positive,
  timestamp,
  withExample,
} from "../http/shapes.ts";
import { refundView } from "../refunds/refund.ts";
import { refundParams, refundStatus, refundStatusSchema } from "../refunds/refunds.schema.ts";
import type { Database } from "../store/database.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";
import { idField, pageFieldsOf } from "./lists.ts";
import { type AnyRefund, anyRefundOfRow, selectRefunds } from "./refunds.sql.ts";

const operationSchema = z
  .strictObject({
    step: z.enum(operationSteps).meta({
      description:
        "planned: the call is to be made. calling: it is under way. inquiring: its outcome is unknown. retryable: certainly not done. polling: it is open there. done.",
    }),
    operation_key: z.string().nullable().meta({ description: "Our name for the call; null before it is made." }),
    attempt: positive(1),
    refusals: count(0),
    questions: count(0),
    next_at: timestamp.nullable().meta({ description: "When it is looked at again; null when nothing is left." }),
  })
  .meta({ id: "AcquirerOperation", description: "How a refund stands at its acquirer." });
const anyRefundSchema = withExample(
  refundStatusSchema.extend({
    merchant_id: identity("merchant"),
    gateway_code: z.string().meta({ examples: ["nusantara"] }),
    reason: z.string().nullable().meta({ description: "As the merchant gave it; it never changes." }),
    operation: operationSchema.nullable().meta({ description: "Null when its acquirer is not asked over a network." }),
  }),
  { id: "AnyRefund", description: "A refund with its reason, and how it stands at its acquirer." },
  { ...exampleOf(refundStatusSchema), reason: "One bag arrived torn" },
);

const refundsQuery = z.strictObject({
  merchant_id: idField("merchant"),
  environment: environmentField.optional().meta({ description: "Only refunds of this environment." }),
  payment_reference: idField("payment"),
  status: refundStatus.optional().meta({ description: "Only refunds of this status." }),
  ...pageFieldsOf("refund", "uuid"),
});

const path = "/ops/v1/refunds";
const tag = "Refunds";

/** The refund of any merchant. Throws REFUND_NOT_FOUND. */
export async function requiredRefund(database: Database, uuid = ""): Promise<AnyRefund> {
  const found = isId("refund", uuid) ? await database.first(selectRefunds({ uuid }, 1), anyRefundOfRow) : undefined;
  if (!found) throw new Fault("REFUND_NOT_FOUND");
  return found;
}

export function operatorRefundEndpoints(database: Database): OperatorEndpoint[] {
  return [
    operatorEndpoint({
      method: "GET",
      operationId: "listRefunds",
      path,
      summary: "List refunds of all merchants, newest first, with their reasons",
      tag,
      role: "viewer",
      query: refundsQuery,
      success: { description: "A page of refunds.", schema: listSchema(anyRefundSchema, "AnyRefundList") },
      async handle({ query }) {
        const { environment, status } = query;
        const after = await cursorOf(query, (uuid) => database.first(selectRefunds({ uuid }, 1), anyRefundOfRow));
        const filter = { merchantId: query.merchant_id, paymentReference: query.payment_reference };
        const rows = await database.query(selectRefunds({ ...filter, environment, status, after }, limitOf(query)));
        return page(rows.map(anyRefundOfRow), query, view, ({ refund }) => refund.uuid);
      },
    }),
    operatorEndpoint({
      method: "GET",
      operationId: "getRefund",
      path: `${path}/{uuid}`,
      params: refundParams,
      summary: "Read a refund, with its reason",
      tag,
      role: "viewer",
      success: { description: "The refund.", schema: anyRefundSchema },
      errors: ["REFUND_NOT_FOUND"],
      async handle({ params }) {
        return reply(200, view(await requiredRefund(database, params.uuid)));
      },
    }),
  ];
}

function view({ refund, gatewayCode, operation }: AnyRefund): Record<string, unknown> {
  return {
    ...refundView(refund),
    merchant_id: refund.book.merchantId,
    gateway_code: gatewayCode,
    reason: refund.reason ?? null,
    operation: operation
      ? {
          step: operation.step,
          operation_key: wasCalled(operation) ? operationKey(operation) : null,
          attempt: operation.attempt,
          refusals: operation.round,
          questions: operation.inquiries,
          next_at: wireTimeOrNull(operation.dueAt),
        }
      : null,
  };
}
