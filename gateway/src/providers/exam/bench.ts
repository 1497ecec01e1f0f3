// Tools for the cases of the exam: payments with keys of their own, calls and their outcomes, and a listener for notifications.
import { once } from "node:events";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type Acquirer,
  type AcquirerCalls,
  AcquirerRefused,
  type Bill,
  type Known,
  type KnownRefund,
  type Message,
  type OpenRequest,
  type Opened,
  type ProviderIds,
  type ProviderReply,
  type RefundRequest,
  type Refunded,
  type Report,
  type ReportedDispute,
  type ReportedState,
} from "../../acquirers/acquirer.ts";
import { SECOND, stopwatchMs, systemClock } from "../../ground/clock.ts";
import { Fault } from "../../ground/fault.ts";
import { newId } from "../../ground/ids.ts";
import type { ExamControl } from "./control.ts";

export type CallableAcquirer = Acquirer & { calls: AcquirerCalls };

/** The acquirer under examination. */
export interface Subject {
  acquirer: CallableAcquirer;
  /** Absent at the provider's own sandbox: then only the cases that do no harm there run. */
  control?: ExamControl;
  close(): Promise<void>;
}

/** The acquirer did not do what the case demands. */
export class Failed extends Error {
  override name = "Failed";
}

/** The case cannot judge this acquirer, for the reason in the message. */
export class NotApplicable extends Error {
  override name = "NotApplicable";
}

export function check(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Failed(what);
}

/** Outcome of a call: an answer, a definite refusal, or unknown. */
type Ended<T> = { kind: "answered"; answer: T } | { kind: "refused" | "unknown"; why: string };

/** A message of the provider as it arrived, and the reports that were read from it. */
interface ReceivedMessage extends Omit<Message, "method"> {
  reports: readonly Report[];
}

/** Path of the address at which the bench listens for notifications. */
const CALLBACKS = "/acquirers/examined/callbacks";
const BODY_MAX_BYTES = 65_536;
const RECEIVED_MAX = 10_000;
/** A notification arrives within this time, or not at all. */
const NOTIFIED_WITHIN_MS = 2_000;

export interface ExamCase {
  /** A sentence that must be true of the acquirer. */
  name: string;
  /** True when the case does no harm at a provider's own sandbox. */
  gentle?: boolean;
  run(bench: Bench): Promise<void>;
}

export function examCase(name: string, run: ExamCase["run"]): ExamCase {
  return { name, run };
}

export function gentleCase(name: string, run: ExamCase["run"]): ExamCase {
  return { name, run, gentle: true };
}

export class Bench {
  readonly received: ReceivedMessage[] = [];
  private subject: Subject | undefined;
  private server: Server | undefined;
  private readonly opened = new Map<string, { request: OpenRequest; answer: Opened | undefined }>();
  private readonly refundIds = new Map<string, ProviderIds>();

  /** Starts the listener, then opens the acquirer with the listener's address. */
  async start(open: (callbackUrl: string) => Promise<Subject>): Promise<void> {
    const server = createServer((incoming, response) => {
      const parts: Buffer[] = [];
      let size = 0;
      incoming.on("data", (part: Buffer) => {
        size += part.length;
        if (size > BODY_MAX_BYTES) incoming.destroy();
        else parts.push(part);
      });
      incoming.on("end", () => {
        const { method = "", url: target = "", headers } = incoming;
        const { status, headers: own = {}, body } = this.hear({ method, target, headers, body: Buffer.concat(parts) });
        response.writeHead(status, { "content-type": "application/json", ...own }).end(body);
      });
    });
    this.server = server;
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    this.subject = await open(this.callbackUrl);
  }

  async close(): Promise<void> {
    await this.subject?.close();
    this.server?.closeAllConnections();
    this.server?.close();
  }

  get callbackUrl(): string {
    if (!this.server) throw new Error("the bench has not started");
    const { port } = this.server.address() as AddressInfo;
    return `http://127.0.0.1:${port}${CALLBACKS}`;
  }

  get acquirer(): CallableAcquirer {
    if (!this.subject) throw new Error("the bench has not started");
    return this.subject.acquirer;
  }

  /** Throws `NotApplicable` at a provider's own sandbox, which the exam cannot control. */
  get control(): ExamControl {
    const control = this.subject?.control;
    if (!control) throw new NotApplicable("only with a fake can this be made to happen");
    return control;
  }

  get isFake(): boolean {
    return this.subject?.control !== undefined;
  }

  /** A payment that the acquirer takes, under a key of its own. Throws `NotApplicable` when the acquirer does not take the method. */
  payment(changes: Partial<OpenRequest> = {}): OpenRequest {
    const wanted = changes.method;
    const capability = this.acquirer.capabilities.find(({ method }) => wanted === undefined || method === wanted);
    if (!capability) throw new NotApplicable("it does not take this method");
    // The reference contains its creation time, as the service's own do: some connectors repeat a request only on that day.
    const reference = newId("payment", systemClock.now());
    const step = capability.stepMinor ?? 1n;
    const usual = capability.minimumMinor > 1_500_000n ? capability.minimumMinor : 1_500_000n;
    const most = usual < capability.maximumMinor ? usual : capability.maximumMinor;
    return {
      operationKey: keyOf(reference),
      reference,
      amountMinor: most - (most % step),
      currency: capability.currencies[0] ?? "",
      method: capability.method,
      merchantName: "Kopi Gerbang",
      expiresAt: Math.floor(systemClock.now() / SECOND) * SECOND + 3600 * SECOND,
      payUrl: "https://pay.example.com/pay/examined",
      returnUrl: "https://shop.example.com/thanks",
      callbackUrl: this.callbackUrl,
      metadata: undefined,
      round: 0,
      isOver: false,
      providerIds: undefined,
      ...changes,
    };
  }

  /** A refund of `amountMinor`, by default of a third of the payment. */
  refundOf(payment: OpenRequest, amountMinor?: bigint): RefundRequest {
    const step =
      this.acquirer.capabilities.find(
        ({ method, currencies }) => method === payment.method && currencies.includes(payment.currency),
      )?.stepMinor ?? 1n;
    const third = payment.amountMinor / 3n;
    return {
      operationKey: keyOf(newId("refund", systemClock.now())),
      paymentOperationKey: payment.operationKey,
      paymentProviderIds: this.idsOf(payment.operationKey),
      isOver: false,
      paymentAmountMinor: payment.amountMinor,
      method: payment.method,
      amountMinor: amountMinor ?? third - (third % step),
      currency: payment.currency,
      callbackUrl: payment.callbackUrl,
      providerIds: undefined,
    };
  }

  async open(request: OpenRequest): Promise<Ended<Opened>> {
    if (!this.opened.has(request.operationKey)) this.opened.set(request.operationKey, { request, answer: undefined });
    const ended = await this.call((calls, signal) =>
      calls.open({ ...request, providerIds: this.idsOf(request.operationKey) }, signal),
    );
    if (ended.kind === "answered") this.opened.set(request.operationKey, { request, answer: ended.answer });
    return ended;
  }

  /** Opens a payment that the provider must accept. */
  async take(request: OpenRequest): Promise<Opened> {
    const ended = await this.open(request);
    check(ended.kind === "answered", `a payment by ${request.method} was not taken: ${whyOf(ended)}`);
    return ended.answer;
  }

  async inquire(request: OpenRequest): Promise<Ended<Known>> {
    const ended = await this.call((calls, signal) =>
      calls.inquire({ ...request, providerIds: this.idsOf(request.operationKey) }, signal),
    );
    if (ended.kind === "answered" && ended.answer.known) {
      const { instructions, providerIds } = ended.answer;
      const before = this.idsOf(request.operationKey);
      this.opened.set(request.operationKey, { request, answer: { instructions, providerIds: providerIds ?? before } });
    }
    return ended;
  }

  /** Ends a payment. Throws `NotApplicable` when the acquirer can end none. */
  async cancel(request: OpenRequest): Promise<Ended<void>> {
    if (!this.acquirer.calls.cancel) throw new NotApplicable("it ends no payment before its time");
    const providerIds = this.idsOf(request.operationKey);
    return this.call(async (calls, signal) => calls.cancel?.({ ...request, providerIds }, signal));
  }

  async refund(request: RefundRequest): Promise<Ended<Refunded>> {
    const ended = await this.call((calls, signal) => calls.refund(this.withIds(request), signal));
    if (ended.kind === "answered" && ended.answer.providerIds)
      this.refundIds.set(request.operationKey, ended.answer.providerIds);
    return ended;
  }

  async inquireRefund(request: RefundRequest): Promise<Ended<KnownRefund>> {
    const ended = await this.call((calls, signal) => calls.inquireRefund(this.withIds(request), signal));
    if (ended.kind === "answered" && ended.answer.known && ended.answer.providerIds)
      this.refundIds.set(request.operationKey, ended.answer.providerIds);
    return ended;
  }

  /** Makes a payment and opens it. */
  async taken(changes: Partial<OpenRequest> = {}): Promise<OpenRequest> {
    const request = this.payment(changes);
    await this.take(request);
    return request;
  }

  /** Opens a payment and makes the payer pay it. */
  async paid(changes: Partial<OpenRequest> = {}): Promise<OpenRequest> {
    const request = await this.taken(changes);
    await this.control.pay(request.operationKey);
    return request;
  }

  /** A paid payment by a method whose money the provider can give back. Throws `NotApplicable` when there is no such method. */
  async refundable(): Promise<OpenRequest> {
    for (const { method } of this.acquirer.capabilities) {
      const request = await this.paid({ method });
      const part = this.refundOf(request);
      const tried = await this.refund(part);
      if (tried.kind === "answered" && tried.answer.status !== "failed") return this.paid({ method });
    }
    throw new NotApplicable("it gives no money back by any method");
  }

  /** The provider's reports about a key so far, in order of arrival. */
  reportsOf(key: string): Report[] {
    return this.received.flatMap(({ reports }) => reports).filter((report) => this.isAbout(report, key));
  }

  /** The messages about a key. Waits for the first one. */
  async messagesOf(key: string): Promise<[ReceivedMessage, ...ReceivedMessage[]]> {
    const about = (): ReceivedMessage[] =>
      this.received.filter(({ reports }) => reports.some((report) => this.isAbout(report, key)));
    await until(() => about().length > 0);
    const [first, ...others] = about();
    check(first !== undefined, "nothing was notified");
    return [first, ...others];
  }

  /** Whether a reported dispute counts: the provider confirms it, or its report proves itself. */
  async counts({ operationKey }: OpenRequest, dispute: ReportedDispute): Promise<boolean> {
    const request = { operationKey, providerIds: this.idsOf(operationKey), dispute };
    const ended = await this.call(async (calls, signal) => (await calls.confirmDispute?.(request, signal)) ?? true);
    return ended.kind === "answered" && ended.answer;
  }

  /** The error code with which a message is rejected; undefined when it is accepted. */
  refusalOf({ target, rest, headers, body }: Omit<ReceivedMessage, "reports">): string | undefined {
    try {
      this.acquirer.calls.receive({ method: "POST", target, rest, headers, body }, systemClock.now());
      return undefined;
    } catch (error) {
      if (error instanceof Fault) return error.code;
      throw error;
    }
  }

  private isAbout(report: Report, key: string): boolean {
    const named = "paymentOperationKey" in report ? report.paymentOperationKey : report.operationKey;
    return named === key || (named !== undefined && named === this.idsOf(key)?.account);
  }

  private idsOf(key: string): ProviderIds | undefined {
    return this.opened.get(key)?.answer?.providerIds;
  }

  private withIds(request: RefundRequest): RefundRequest {
    return {
      ...request,
      paymentProviderIds: this.idsOf(request.paymentOperationKey),
      providerIds: this.refundIds.get(request.operationKey),
    };
  }

  private async call<T>(work: (calls: AcquirerCalls, signal: AbortSignal) => Promise<T>): Promise<Ended<T>> {
    const { calls } = this.acquirer;
    const limit = calls.deadlineMs * 2 + 1_000;
    const begun = stopwatchMs();
    try {
      return { kind: "answered", answer: await work(calls, AbortSignal.timeout(calls.deadlineMs)) };
    } catch (error) {
      check(stopwatchMs() - begun < limit, "a call did not end with its deadline");
      const why = error instanceof Error ? error.message : String(error);
      return { kind: error instanceof AcquirerRefused ? "refused" : "unknown", why };
    }
  }

  private hear({ method, target, headers, body }: Omit<Message, "rest">): ProviderReply {
    const path = target.split("?", 1)[0] ?? "";
    if (!path.startsWith(CALLBACKS)) return { status: 404, body: "" };
    const rest = path.slice(CALLBACKS.length);
    try {
      const meaning = this.acquirer.calls.receive({ method, target, rest, headers, body }, systemClock.now());
      if (meaning.kind === "reply") return meaning.reply;
      if (meaning.kind === "bill") return meaning.reply(this.billOf(meaning.find));
      if (this.received.length < RECEIVED_MAX)
        this.received.push({ target, rest, headers, body, reports: meaning.reports });
      return meaning.reply?.("taken") ?? { status: 200, body: '{"received":true}' };
    } catch (error) {
      if (error instanceof Fault) return { status: 401, body: JSON.stringify({ error: error.code }) };
      throw error;
    }
  }

  private billOf(find: { operationKey: string } | { account: string }): Bill | undefined {
    const found = [...this.opened.values()].find(({ request, answer }) =>
      "account" in find ? answer?.providerIds?.account === find.account : request.operationKey === find.operationKey,
    );
    if (!found) return undefined;
    const { amountMinor, currency, merchantName, expiresAt } = found.request;
    const { instructions, providerIds } = found.answer ?? {};
    return { amountMinor, currency, merchantName, expiresAt, payable: true, instructions, providerIds };
  }
}

/** An operation key of a payment or a refund, with a new merchant id. */
function keyOf(id: string): string {
  return `${id.replace("_", "")}.${newId("merchant", systemClock.now()).slice("mer_".length)}.s1`;
}

/** The state in an inquiry's answer; undefined when the inquiry finds no payment. */
export function stateOf(ended: Ended<Known>): ReportedState | undefined {
  return ended.kind === "answered" && ended.answer.known ? ended.answer.state : undefined;
}

export function whyOf(ended: Ended<unknown>): string {
  return ended.kind === "answered" ? "it was answered" : `${ended.kind}: ${ended.why}`;
}

/** Waits until `holds` returns true, at most `withinMs`. */
export async function until(holds: () => boolean, withinMs = NOTIFIED_WITHIN_MS): Promise<void> {
  const end = stopwatchMs() + withinMs;
  while (!holds() && stopwatchMs() < end) await new Promise((resolve) => setTimeout(resolve, 10));
}
