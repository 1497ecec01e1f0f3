// The sandbox: triggers by hand what payers, acquirers, banks and the clock do. These calls need a sandbox key.
import { type CallOptions, type Calls, type ReadOptions, path, withQuery } from "./calls.ts";
import type { List } from "./list.ts";
import type {
  DeliveryDiagnosis,
  DiagnoseDelivery,
  Dispute,
  DisputeOutcome,
  EventType,
  FaultInjection,
  FormedSettlements,
  ListenPage,
  ListenOptions,
  LoggedRequest,
  LoggedRequestFilters,
  OpenDispute,
  Payment,
  Refund,
  RequestDiagnosis,
  SandboxClock,
  Scorecard,
  Settlement,
  SimulatePayment,
  SimulateRefund,
  SwitchFaultInjection,
  TriggeredEvent,
  WholeLoggedRequest,
} from "./types.ts";

/** The sandbox calls, grouped by subject. Each takes the call's own options last. */
export function sandboxOf(calls: Calls) {
  return {
    payments: {
      /** Makes the acquirer report the outcome of a payment. */
      simulate: (reference: string, outcome: SimulatePayment["outcome"], options?: CallOptions): Promise<Payment> =>
        calls.write(
          "sandbox.payments.simulate",
          path`/v1/sandbox/payments/${reference}/simulate`,
          { value: { outcome }, rules: "SimulatePayment" },
          options,
        ),
      /** Makes the payer dispute a payment. */
      dispute: (reference: string, body: OpenDispute, options?: CallOptions): Promise<Dispute> =>
        calls.write(
          "sandbox.payments.dispute",
          path`/v1/sandbox/payments/${reference}/dispute`,
          { value: body, rules: "OpenDispute" },
          options,
        ),
    },
    refunds: {
      simulate: (uuid: string, outcome: SimulateRefund["outcome"], options?: CallOptions): Promise<Refund> =>
        calls.write(
          "sandbox.refunds.simulate",
          path`/v1/sandbox/refunds/${uuid}/simulate`,
          { value: { outcome }, rules: "SimulateRefund" },
          options,
        ),
    },
    disputes: {
      resolve: (uuid: string, outcome: DisputeOutcome, options?: CallOptions): Promise<Dispute> =>
        calls.write(
          "sandbox.disputes.resolve",
          path`/v1/sandbox/disputes/${uuid}/resolve`,
          { value: { outcome }, rules: "ResolveDispute" },
          options,
        ),
    },
    settlements: {
      /** Forms the settlement batches that are due now. */
      run: (options?: CallOptions): Promise<FormedSettlements> =>
        calls.write("sandbox.settlements.run", "/v1/sandbox/settlements/run", {}, options),
      /** Makes the bank pay a batch. */
      pay: (uuid: string, options?: CallOptions): Promise<Settlement> =>
        calls.write("sandbox.settlements.pay", path`/v1/sandbox/settlements/${uuid}/pay`, {}, options),
    },
    clock: {
      get: (options?: ReadOptions): Promise<SandboxClock> =>
        calls.read("sandbox.clock.get", "/v1/sandbox/clock", options),
      /** Moves the sandbox's clock forward. Everything that falls due on the way happens. */
      advance: (seconds: number, options?: CallOptions): Promise<SandboxClock> =>
        calls.write(
          "sandbox.clock.advance",
          "/v1/sandbox/clock/advance",
          { value: { seconds }, rules: "AdvanceClock" },
          options,
        ),
    },
    events: {
      /** Sends an event with sample data to the registered address. */
      trigger: (type: EventType, options?: CallOptions): Promise<TriggeredEvent> =>
        calls.write(
          "sandbox.events.trigger",
          "/v1/sandbox/events/trigger",
          { value: { type }, rules: "TriggerEvent" },
          options,
        ),
      /** Waits up to `wait` seconds for events after the cursor `after`: for a machine that is unreachable from outside. */
      listen: (asked: ListenOptions = {}, options?: ReadOptions): Promise<ListenPage> =>
        calls.read(
          "sandbox.events.listen",
          withQuery("/v1/sandbox/events/listen", asked),
          options,
          undefined,
          "list",
          (asked.wait ?? 20) * 1_000,
        ),
    },
    webhook: {
      /** Tests the receiver at the registered address. */
      exam: (options?: CallOptions): Promise<Scorecard> =>
        calls.write("sandbox.webhook.exam", "/v1/sandbox/webhook/exam", {}, options),
      /** Says why a delivery failed verification. */
      doctor: (body: DiagnoseDelivery, options?: CallOptions): Promise<DeliveryDiagnosis> =>
        calls.write(
          "sandbox.webhook.doctor",
          "/v1/sandbox/webhook/doctor",
          { value: body, rules: "DiagnoseDelivery" },
          options,
        ),
      /** Makes deliveries fail on purpose. */
      misbehave: (body: SwitchFaultInjection, options?: CallOptions): Promise<FaultInjection> =>
        calls.write(
          "sandbox.webhook.misbehave",
          "/v1/sandbox/webhook/misbehave",
          { value: body, rules: "SwitchFaultInjection", method: "PUT" },
          options,
        ),
      /** The fault injection in force. */
      misbehaviour: (options?: ReadOptions): Promise<FaultInjection> =>
        calls.read("sandbox.webhook.misbehaviour", "/v1/sandbox/webhook/misbehave", options),
    },
    requests: {
      /** The requests of your systems, newest first, kept for seven days. Requests that read this list are not in it. */
      list: (filters?: LoggedRequestFilters, options?: ReadOptions): List<LoggedRequest> =>
        calls.list("sandbox.requests.list", "/v1/sandbox/requests", filters, options),
      /** One request with its bodies, redacted. */
      get: (requestId: string, options?: ReadOptions): Promise<WholeLoggedRequest> =>
        calls.read("sandbox.requests.get", path`/v1/sandbox/requests/${requestId}`, options),
      /** Says why the signature of a request was rejected. */
      doctor: (requestId: string, options?: ReadOptions): Promise<RequestDiagnosis> =>
        calls.read("sandbox.requests.doctor", path`/v1/sandbox/requests/${requestId}/doctor`, options),
    },
  };
}

export type Sandbox = ReturnType<typeof sandboxOf>;
