// An acquirer for tests that follows a script, call by call, and records its calls.
import {
  type Acquirer,
  AcquirerRefused,
  type Judgement,
  type Known,
  type OpenRequest,
  type ProviderIds,
  type RefundRequest,
  type RefundStatus,
  type Report,
  type ReportedState,
  type RecordMessage,
  type AcquirerMessage,
} from "../src/acquirers/acquirer.ts";
import { simulatedAcquirers } from "../src/acquirers/simulated.ts";
import { Fault } from "../src/ground/fault.ts";
import { paymentMethods } from "../src/merchants/settings.ts";

/**
 * `refuse`: rejects this call. `refuse, and do it`: does the work, and rejects the call all the same. `down`: rejects as unavailable. `lost`: does the work and never answers. `unheard`: the call never arrives. `held`:
 * waits for `letGo`, then works. `refuse late`: waits for `letGo`, then rejects.
 */
export type Behaviour = "ok" | "refuse" | "refuse, and do it" | "down" | "lost" | "unheard" | "held" | "refuse late";

/** Further data of an acquirer's answers: the messages of a call or report about an operation, and the acquirer's own ids of it. */
interface Voice {
  message(
    call: "open" | "inquire" | "cancel" | "judge" | "refund" | "inquire_refund" | "report",
    operationKey: string,
  ): AcquirerMessage;
  providerIds(operationKey: string): ProviderIds;
}

export interface ScriptedAcquirer extends Acquirer {
  /** While undefined, answers have neither messages nor the acquirer's own ids. */
  voice: Voice | undefined;
  /** Behaviours of the next calls that open or refund; after the last one, `otherwise`. */
  script: Behaviour[];
  otherwise: Behaviour;
  /** Whether inquiries are answered. */
  answersQuestions: boolean;
  /** Whether an inquiry about a missing refund orders it, as at providers that keep idempotency keys. */
  ordersMissing: boolean;
  refundStatus: RefundStatus;
  opened: OpenRequest[];
  refunds: RefundRequest[];
  asked: string[];
  /** Operation keys of payments that were ended at the acquirer; their payers cannot pay any more. */
  ended: string[];
  /** Behaviours of the next calls that end or judge a payment; after the last one, calls succeed. */
  endings: Behaviour[];
  /** Judgements that the acquirer received of payments that it questions, with the operation key. */
  judged: [string, Judgement][];
  states: Map<string, ReportedState>;
  letGo(): void;
  /** Makes the acquirer not know this operation any more. */
  forget(operationKey: string): void;
}

const cendana = simulatedAcquirers.find(({ code }) => code === "cendana") as Acquirer;

/** Makes a scripted acquirer. Its callbacks have no signature: the body is the report as JSON, with amounts as text. */
export function scriptedAcquirer(code: string, environment: "sandbox" | "production" = "sandbox"): ScriptedAcquirer {
  const known = new Map<string, OpenRequest>();
  const voided = new Set<string>();
  const refunded = new Map<string, RefundRequest>();
  let waiting: (() => void)[] = [];
  const behave = async (
    signal: AbortSignal,
    work: () => void,
    behaviour = acquirer.script.shift() ?? acquirer.otherwise,
  ): Promise<void> => {
    if (behaviour === "refuse, and do it") work();
    if (behaviour.startsWith("refuse") && behaviour !== "refuse late") throw new AcquirerRefused("no");
    if (behaviour === "down") throw new AcquirerRefused("not now", { unavailable: true });
    if (behaviour === "held" || behaviour === "refuse late")
      await new Promise<void>((resolve) => waiting.push(resolve));
    if (behaviour === "refuse late") throw new AcquirerRefused("no, after all");
    if (behaviour !== "unheard") work();
    if (behaviour === "ok" || behaviour === "held") return;
    await new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    });
  };
  const acquirer: ScriptedAcquirer = {
    code,
    name: code,
    environment,
    capabilities: paymentMethods.map((method) => ({
      method,
      currencies: ["IDR", "USD"],
      minimumMinor: 1n,
      maximumMinor: 10_000_000_000n,
      cost: { basisPoints: 10, flatMinor: 0n },
    })),
    remote: true,
    voice: undefined,
    script: [],
    otherwise: "ok",
    answersQuestions: true,
    ordersMissing: false,
    refundStatus: "succeeded",
    opened: [],
    refunds: [],
    asked: [],
    ended: [],
    endings: [],
    judged: [],
    states: new Map(),
    issue: () => undefined,
    inquiresAfterMs: () => undefined,
    refundsLater: () => true,
    forget(operationKey) {
      known.delete(operationKey);
      refunded.delete(operationKey);
    },
    letGo() {
      for (const go of waiting) go();
      waiting = [];
    },
    calls: {
      deadlineMs: 400,
      async open(request, signal, record) {
        acquirer.opened.push(request);
        speak("open", request, record);
        await behave(signal, () => {
          if (voided.has(request.operationKey)) throw new AcquirerRefused("voided");
          known.set(request.operationKey, request);
        });
        return { instructions: instructionsOf(request), ...idsOf(request) };
      },
      inquire(request, _signal, record): Promise<Known> {
        acquirer.asked.push(request.operationKey);
        speak("inquire", request, record);
        if (!acquirer.answersQuestions) return Promise.reject(new Error("no answer"));
        if (!known.has(request.operationKey)) {
          voided.add(request.operationKey);
          return Promise.resolve({ known: false });
        }
        const state = acquirer.states.get(request.operationKey) ?? { status: "waiting" as const };
        return Promise.resolve({ known: true, instructions: instructionsOf(request), state, ...idsOf(request) });
      },
      async cancel(request, signal, record) {
        acquirer.ended.push(request.operationKey);
        speak("cancel", request, record);
        const end = (): void => void acquirer.states.set(request.operationKey, { status: "failed" });
        await behave(signal, end, acquirer.endings.shift() ?? "ok");
      },
      async judge(request, judgement, signal, record) {
        const { operationKey, amountMinor, currency } = request;
        acquirer.judged.push([operationKey, judgement]);
        speak("judge", request, record);
        const receipt = { transactionId: operationKey, amountMinor, currency };
        const state: ReportedState = judgement === "approve" ? { status: "paid", receipt } : { status: "failed" };
        const judge = (): void => void acquirer.states.set(operationKey, state);
        await behave(signal, judge, acquirer.endings.shift() ?? "ok");
      },
      async refund(request, signal, record) {
        acquirer.refunds.push(request);
        speak("refund", request, record);
        await behave(signal, () => refunded.set(request.operationKey, request));
        return { status: acquirer.refundStatus, ...idsOf(request) };
      },
      inquireRefund(request, _signal, record) {
        acquirer.asked.push(request.operationKey);
        speak("inquire_refund", request, record);
        if (!acquirer.answersQuestions) return Promise.reject(new Error("no answer"));
        if (acquirer.ordersMissing && !request.isOver && !refunded.has(request.operationKey)) {
          acquirer.refunds.push(request);
          refunded.set(request.operationKey, request);
        }
        return Promise.resolve(
          refunded.has(request.operationKey)
            ? { known: true, status: acquirer.refundStatus, ...idsOf(request) }
            : { known: false },
        );
      },
      receive({ headers, body }) {
        if (headers.authorization !== code) throw new Fault("SIGNATURE_INVALID");
        const told = reportOf(body);
        const about = "paymentOperationKey" in told ? told.paymentOperationKey : told.operationKey;
        const message = acquirer.voice?.message("report", about);
        return { kind: "reports", reports: [told], ...(message && { message }) };
      },
    },
  };
  type About = Pick<OpenRequest, "operationKey">;
  const speak = (
    call: "open" | "inquire" | "cancel" | "judge" | "refund" | "inquire_refund",
    { operationKey }: About,
    record?: RecordMessage,
  ): void => {
    if (acquirer.voice) record?.(acquirer.voice.message(call, operationKey));
  };
  const idsOf = ({ operationKey }: About): { providerIds?: ProviderIds } =>
    acquirer.voice ? { providerIds: acquirer.voice.providerIds(operationKey) } : {};
  const instructionsOf = (request: OpenRequest) => {
    const instructions = cendana.issue({ ...request, metadata: undefined });
    if (!instructions) throw new Error("the house's simulator issues nothing");
    return instructions;
  };
  return acquirer;
}

function reportOf(body: Buffer): Report {
  return JSON.parse(body.toString(), (key, value: unknown) =>
    key === "amountMinor" ? BigInt(value as string) : value,
  ) as Report;
}

/** Sends a report to the service, as the acquirer would; gives the status of the answer. */
export async function report(origin: string, code: string, told: Report, as = code): Promise<number> {
  const body = JSON.stringify(told, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));
  const response = await fetch(`${origin}/acquirers/${code}/callbacks`, {
    method: "POST",
    headers: { authorization: as, "content-type": "application/json" },
    body,
  });
  await response.text();
  return response.status;
}
