// The one place where acquirers are called: with a deadline, outside every transaction, and every outcome counted.
import {
  type Acquirer,
  type AcquirerCalls,
  AcquirerRefused,
  type RecordMessage,
  type AcquirerMessage,
} from "../acquirers/acquirer.ts";
import { OtherMoney } from "../acquirers/other-money.ts";
import type { ExceptionKind } from "./exception.ts";
import type { Operation } from "./operation.ts";
import { mayCall } from "./planning.ts";
import type { CallMessages, MessageCall } from "./messages.ts";
import { type Clock, stopwatchMs } from "../ground/clock.ts";
import type { Log } from "../ground/log.ts";
import type { Metrics } from "../ground/metrics.ts";
import { type Tracing, noTracing } from "../ground/tracing.ts";
import { redactText } from "../ground/redact.ts";
import type { Circuits } from "../routing/circuit.ts";

export interface CallParts {
  circuits: Circuits;
  clock: Clock;
  /** A clock that runs on while the machine is suspended; the lease of a call is compared with it. */
  leaseClock: Clock;
  metrics: Metrics;
  log: Log;
  tracing?: Tracing;
  /** Called after each call that counts for an acquirer's health, with whether it went well. Must return at once. */
  onCall?: ((gatewayCode: string, method: string, well: boolean) => void) | undefined;
}

/**
 * `refused`: certainly not done; `unavailable` when the acquirer can take no call at all. `unknown`: the call may have been carried out, so
 * a worker inquires, and the call is never repeated blindly. `otherMoney`: the acquirer said that money has moved which was not ordered so.
 */
export type CallOutcome<T> = { exchanged?: CallMessages; otherMoney?: boolean } & (
  | { kind: "answered"; answer: T }
  | { kind: "refused"; unavailable: boolean; reason: string }
  | { kind: "unknown"; reason: string }
);

/** Deadline for evidence: many megabytes in several requests. It is shorter than the minute for which a worker claims the evidence. */
const EVIDENCE_DEADLINE_MS = 50_000;

/** At most this many messages of one call are kept. The longest calls exchange twelve: a refund is sought on ten pages, or eight files are uploaded. */
const MESSAGES_MAX = 16;

/** Logs an exception for monitoring; the exception itself waits in the operator's queue. */
export function logException(log: Log, { id, gatewayCode }: Operation, kind: ExceptionKind): void {
  log.error({ operation: id, gateway_code: gatewayCode, kind }, "a reconciliation exception was recorded");
}

interface CallName {
  acquirer: Acquirer;
  /** The payment's method: an acquirer may be healthy for one method and failing for another. */
  method: string;
  call: Exclude<MessageCall, "report">;
  /** The call must end within it. So must an inquiry about a refund: some adapters order what is missing, and by then it may be ordered anew. */
  lease?: Pick<Operation, "dueAt"> | undefined;
}

/** Makes one call. Never throws: every failure is an outcome. Only calls that open a payment at a remote acquirer count for its health. */
export async function callAcquirer<T>(
  parts: CallParts,
  { acquirer, method, call, lease }: CallName,
  work: (calls: AcquirerCalls, signal: AbortSignal, record: RecordMessage) => Promise<T>,
): Promise<CallOutcome<T>> {
  const { circuits, clock, leaseClock, metrics, log, tracing = noTracing } = parts;
  const { calls, code, remote } = acquirer;
  if (!calls) return { kind: "refused", unavailable: true, reason: "takes no calls" };
  if (lease && !mayCall(lease, calls.deadlineMs, leaseClock.now())) {
    log.warn({ gateway_code: code, call }, "an acquirer was not called: the lease of the call is over");
    return { kind: "unknown", reason: "the lease of the call is over" };
  }
  const circuit = remote && call === "open" ? circuits.of(code, method) : undefined;
  const permit = circuit?.begin(clock.now());
  if (circuit && !permit) return { kind: "refused", unavailable: true, reason: "its circuit is open" };
  const begun = stopwatchMs();
  const span = tracing.begin(`acquirer ${call}`, {
    kind: "client",
    parent: tracing.current()?.name,
    attributes: { "gerbang.gateway_code": code, "gerbang.payment_method": method },
  });
  metrics.acquirerInFlight.inc({ gateway_code: code });
  const messages: AcquirerMessage[] = [];
  const record = (one: AcquirerMessage): void => {
    if (messages.length < MESSAGES_MAX) messages.push(one);
  };
  const deadlineMs = call === "submit_evidence" ? EVIDENCE_DEADLINE_MS : calls.deadlineMs;
  const outcome = await tracing.within(span, () => inTime(deadlineMs, (signal) => work(calls, signal, record)));
  metrics.acquirerInFlight.dec({ gateway_code: code });
  if (outcome.kind === "unknown" && outcome.otherMoney === true)
    messages.push({ about: `${call}, not believed`, status: undefined, text: `Nothing is booked: ${outcome.reason}.` });
  span?.set({ "gerbang.outcome": outcome.kind });
  span?.end(outcome.kind === "unknown" ? "unknown" : undefined);
  // A refusal of one payment counts as healthy: the requests of one merchant must not open the circuit for all others.
  const well = outcome.kind === "answered" || (outcome.kind === "refused" && !outcome.unavailable);
  if (circuit && permit) {
    circuit.record(permit, well, clock.now());
    parts.onCall?.(code, method, well);
  }
  const labels = { gateway_code: code, payment_method: method, call };
  metrics.acquirerCalls.inc({ ...labels, outcome: outcome.kind });
  metrics.acquirerSeconds.observe(labels, (stopwatchMs() - begun) / 1000);
  // An acquirer that cannot cancel a kind of payment refuses every such call: that deserves no warning.
  const isUsual = call === "cancel" && outcome.kind === "refused" && !outcome.unavailable;
  if (outcome.kind !== "answered" && !isUsual)
    log.warn({ gateway_code: code, call, outcome }, "an acquirer's call did not succeed");
  // A copy: an adapter that goes on after its deadline may record more.
  return messages.length === 0 ? outcome : { ...outcome, exchanged: { call, messages: [...messages] } };
}

async function inTime<T>(deadlineMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<CallOutcome<T>> {
  // The timer is cleared with the call: `AbortSignal.timeout` would keep all memory of an answered call until the deadline.
  const ending = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  // The race also ends the wait for an adapter that ignores the signal.
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const reason = new Error(`no answer within ${deadlineMs} ms`);
      ending.abort(reason);
      reject(reason);
    }, deadlineMs);
  });
  try {
    return { kind: "answered", answer: await Promise.race([work(ending.signal), late]) };
  } catch (error) {
    // It may quote the acquirer's answer, and it is logged.
    const reason = redactText(error instanceof Error ? error.message : String(error));
    if (error instanceof OtherMoney) return { kind: "unknown", reason, otherMoney: true };
    if (!(error instanceof AcquirerRefused)) return { kind: "unknown", reason };
    return { kind: "refused", unavailable: error.unavailable, reason };
  } finally {
    clearTimeout(timer);
  }
}
