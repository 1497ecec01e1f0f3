// The types of events, in the order of the API's documents.
import type { Schema } from "../../../api/types.ts";

export type EventType = Schema<"EventType">;

export const eventTypes = [
  "payment.created",
  "payment.processing",
  "payment.succeeded",
  "payment.failed",
  "payment.expired",
  "payment.canceled",
  "refund.succeeded",
  "refund.failed",
  "settlement.created",
  "settlement.paid",
  "dispute.opened",
  "dispute.updated",
  "dispute.resolved",
] as const satisfies readonly EventType[];
