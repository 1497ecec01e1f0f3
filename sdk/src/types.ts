// The API's types under the names of its contract (`openapi/merchant.json`), and the unions of events.
import type { components, operations } from "./contract.ts";

type Schemas = components["schemas"];

export type Payment = Schemas["Payment"];
export type CreatedPayment = Schemas["CreatedPayment"];
export type CanceledPayment = Schemas["CanceledPayment"];
export type CreatePayment = Schemas["CreatePayment"];
export type PaymentStatus = Schemas["PaymentStatus"];
export type PaymentMethod = Schemas["PaymentMethod"];
/** How the payer pays. Branch on `type`; more kinds may come. */
export type Instructions = Schemas["Instructions"];
export type Customer = Schemas["Customer"];
export type Refund = Schemas["Refund"];
export type CreatedRefund = Schemas["CreatedRefund"];
export type CreateRefund = Schemas["CreateRefund"];
export type Balances = Schemas["Balances"];
export type BalanceEntry = Schemas["BalanceEntry"];
export type Settlement = Schemas["Settlement"];
export type Dispute = Schemas["Dispute"];
export type PaymentLink = Schemas["PaymentLink"];
export type CreatePaymentLink = Schemas["CreatePaymentLink"];
export type DeliveryAttempt = Schemas["DeliveryAttempt"];
export type Health = Schemas["Health"];
export type SandboxClock = Schemas["SandboxClock"];
export type Scorecard = Schemas["Scorecard"];
export type RequestDiagnosis = Schemas["RequestDiagnosis"];
export type DeliveryDiagnosis = Schemas["DeliveryDiagnosis"];
export type ListenPage = Schemas["ListenPage"];
export type FaultInjection = Schemas["FaultInjection"];
export type EventType = Schemas["EventType"];
export type Environment = Schemas["Environment"];

/** The event that a webhook delivers. Branch on `type`, and ignore types that you do not know. */
export type WebhookEvent =
  | Schemas["PaymentEvent"]
  | Schemas["RefundEvent"]
  | Schemas["SettlementEvent"]
  | Schemas["DisputeEvent"];

/** The event of one type. */
export type EventOf<Type extends EventType> = WebhookEvent extends infer Each
  ? Each extends { type: infer Own }
    ? Type extends Own
      ? Each & { type: Type }
      : never
    : never
  : never;

/** An event as the API lists it, with the state of its delivery. */
export type Event = WebhookEvent & { delivery: Schemas["EventDelivery"] | null };

type QueryOf<Operation extends keyof operations> = operations[Operation] extends { parameters: { query?: infer Query } }
  ? NonNullable<Query>
  : never;

export type PaymentFilters = QueryOf<"listPayments">;
export type RefundFilters = QueryOf<"listRefunds">;
export type BalanceEntryFilters = QueryOf<"listBalanceEntries">;
export type SettlementFilters = QueryOf<"listSettlements">;
export type DisputeFilters = QueryOf<"listDisputes">;
export type EventFilters = QueryOf<"listEvents">;
export type DeliveryFilters = QueryOf<"listEventDeliveries">;
export type PaymentLinkFilters = QueryOf<"listPaymentLinks">;
export type LoggedRequest = Schemas["LoggedRequest"];
export type WholeLoggedRequest = Schemas["WholeLoggedRequest"];
export type LoggedRequestFilters = QueryOf<"listSandboxRequests">;
export type ListenOptions = QueryOf<"listenToEvents">;
export type ResendEvents = Schemas["ResendEvents"];
export type ResentEvents = Schemas["ResentEvents"];
export type OpenDispute = Schemas["OpenDispute"];
export type DisputeOutcome = Schemas["DisputeOutcome"];
export type SimulatePayment = Schemas["SimulatePayment"];
export type SimulateRefund = Schemas["SimulateRefund"];
export type SwitchFaultInjection = Schemas["SwitchFaultInjection"];
export type DiagnoseDelivery = Schemas["DiagnoseDelivery"];
export type TriggeredEvent = Schemas["TriggeredEvent"];
export type FormedSettlements = Schemas["FormedSettlements"];
