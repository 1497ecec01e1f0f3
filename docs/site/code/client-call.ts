// The client libraries' call for each operation, with its arguments. Pure.
import type { Example } from "./request.ts";

export type Argument =
  | { kind: "text"; value: string }
  | { kind: "number"; value: number }
  | { kind: "object"; value: Record<string, unknown> };

export interface ClientCall {
  /** Such as `["sandbox", "payments", "simulate"]`. */
  name: readonly string[];
  arguments: readonly Argument[];
  /** The name of the variable for the answer. */
  answer: string;
  /** True when the call iterates over a list, page by page. */
  isList: boolean;
}

export type Library = "typescript" | "python" | "php";

interface Shape {
  call: string;
  answer: string;
  isList?: true;
  /** Names of path values and body fields that are positional arguments, in their order. */
  takes?: readonly string[];
  /** Where the last argument comes from: the remaining body fields, or the query. */
  rest?: "body" | "query";
}

/** The shape of each operation's call. `by` has one for each library where they differ; a library without one has no such call. */
const shapes: Readonly<Record<string, Shape | { by: Partial<Record<Library, Shape>> }>> = {
  getBalances: { call: "balances.get", answer: "balances" },
  listBalanceEntries: { call: "balances.entries", answer: "entry", isList: true, takes: ["currency"], rest: "query" },
  listDisputes: { call: "disputes.list", answer: "dispute", isList: true, rest: "query" },
  getDispute: { call: "disputes.get", answer: "dispute", takes: ["uuid"] },
  listEvents: { call: "events.list", answer: "event", isList: true, rest: "query" },
  resendEvents: { call: "events.resendSince", answer: "resent", takes: ["since"], rest: "body" },
  getEvent: { call: "events.get", answer: "event", takes: ["id"] },
  listEventDeliveries: { call: "events.deliveries", answer: "attempt", isList: true, takes: ["id"], rest: "query" },
  resendEvent: { call: "events.resend", answer: "event", takes: ["id"] },
  getHealth: { call: "health", answer: "health" },
  createPaymentLink: { call: "paymentLinks.create", answer: "link", rest: "body" },
  listPaymentLinks: { call: "paymentLinks.list", answer: "link", isList: true, rest: "query" },
  getPaymentLink: { call: "paymentLinks.get", answer: "link", takes: ["uuid"] },
  deactivatePaymentLink: { call: "paymentLinks.deactivate", answer: "link", takes: ["uuid"] },
  createPayment: { call: "payments.create", answer: "payment", rest: "body" },
  listPayments: { call: "payments.list", answer: "payment", isList: true, rest: "query" },
  getPayment: { call: "payments.get", answer: "payment", takes: ["reference"] },
  cancelPayment: { call: "payments.cancel", answer: "payment", takes: ["reference"], rest: "body" },
  createRefund: { call: "refunds.create", answer: "refund", rest: "body" },
  listRefunds: { call: "refunds.list", answer: "refund", isList: true, rest: "query" },
  getRefund: { call: "refunds.get", answer: "refund", takes: ["uuid"] },
  getSandboxClock: { call: "sandbox.clock.get", answer: "clock" },
  advanceSandboxClock: { call: "sandbox.clock.advance", answer: "clock", takes: ["seconds"] },
  resolveDispute: { call: "sandbox.disputes.resolve", answer: "dispute", takes: ["uuid", "outcome"] },
  listenToEvents: { call: "sandbox.events.listen", answer: "heard", rest: "query" },
  triggerEvent: { call: "sandbox.events.trigger", answer: "event", takes: ["type"] },
  openDispute: { call: "sandbox.payments.dispute", answer: "dispute", takes: ["reference"], rest: "body" },
  simulatePayment: { call: "sandbox.payments.simulate", answer: "payment", takes: ["reference", "outcome"] },
  simulateRefund: { call: "sandbox.refunds.simulate", answer: "refund", takes: ["uuid", "outcome"] },
  diagnoseRequest: { call: "sandbox.requests.doctor", answer: "diagnosis", takes: ["request_id"] },
  runSettlements: { call: "sandbox.settlements.run", answer: "formed" },
  paySettlement: { call: "sandbox.settlements.pay", answer: "settlement", takes: ["uuid"] },
  diagnoseDelivery: { call: "sandbox.webhook.doctor", answer: "diagnosis", rest: "body" },
  testReceiver: { call: "sandbox.webhook.exam", answer: "scorecard" },
  switchFaultInjection: {
    by: {
      typescript: { call: "sandbox.webhook.misbehave", answer: "injection", rest: "body" },
      python: { call: "sandbox.webhook.misbehave", answer: "injection", rest: "body" },
      php: { call: "sandbox.webhook.misbehave", answer: "injection", takes: ["mode", "for_next"] },
    },
  },
  getFaultInjection: { call: "sandbox.webhook.misbehaviour", answer: "injection" },
  listSandboxRequests: { call: "sandbox.requests.list", answer: "request", isList: true, rest: "query" },
  getSandboxRequest: { call: "sandbox.requests.get", answer: "request", takes: ["request_id"] },
  listSettlements: { call: "settlements.list", answer: "settlement", isList: true, rest: "query" },
  getSettlement: { call: "settlements.get", answer: "settlement", takes: ["uuid"] },
  getSettlementStatement: { call: "settlements.statement", answer: "csv", takes: ["uuid"] },
};

/** Undefined for an operation that the library has no call for. */
export function clientCallOf({ operation, path, query, body = {} }: Example, library: Library): ClientCall | undefined {
  const known = shapes[operation.id];
  const shape = known !== undefined && "by" in known ? known.by[library] : known;
  if (!shape) return undefined;
  const { call, answer, isList = false, takes = [], rest } = shape;
  const given: Record<string, unknown> = { ...body, ...path };
  const taken = takes.filter((name) => given[name] !== undefined);
  const left =
    rest === "query" ? query : Object.fromEntries(Object.entries(body).filter(([name]) => !taken.includes(name)));
  const last: Argument[] =
    rest === undefined || Object.keys(left).length === 0 ? [] : [{ kind: "object", value: left }];
  return { name: call.split("."), arguments: [...taken.map((name) => argument(given[name])), ...last], answer, isList };
}

function argument(value: unknown): Argument {
  return typeof value === "number" ? { kind: "number", value } : { kind: "text", value: String(value) };
}
