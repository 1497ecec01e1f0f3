// The adapter for acquirers that speak Gerbang's own HTTP protocol. Its callers decide what follows.
import type { z } from "zod";
import { systemClock, wireTime } from "../ground/clock.ts";
import { SigningKey } from "../ground/signing-key.ts";
import { Fault, assert, validationFault } from "../ground/fault.ts";
import { objectOf, parseObject } from "../ground/json.ts";
import { inPlainWords } from "../ground/plain-words.ts";
import { wireAmount } from "../ground/money.ts";
import type { PaymentMethod } from "../merchants/settings.ts";
import {
  type Acquirer,
  type AcquirerCalls,
  AcquirerRefused,
  type Instructions,
  type OpenRequest,
  type Opened,
  type RefundRequest,
  type RefundStatus,
  type Report,
  type ReportedState,
} from "./acquirer.ts";
import { readMoved } from "./other-money.ts";
import { objectionToAddresses } from "./payer-address.ts";
import { exchange, newAgent, printable, readBy, unlessUnreached } from "./remote-http.ts";
import { type RemoteProfile, acquirerOf, capabilityOf } from "./remote-profile.ts";
import {
  type PaymentOrder,
  type RefundOrder,
  type Transaction,
  callbackSchema,
  checkSignature,
  errorAnswerSchema,
  paymentAnswerSchema,
  refundAnswerSchema,
  signedHeaders,
  voidAnswerSchema,
} from "./remote-protocol.ts";

/** Maximum number of sockets to one acquirer. Further calls wait for a socket, within their deadline. */
const CONNECTIONS = 64;

/** Interface 2.2: the instruction type and the fields that each method needs. A response without them is malformed. */
const instructionsOfMethod: Readonly<Record<PaymentMethod, { type: Instructions["type"]; fields: string[] }>> = {
  qris: { type: "qr_string", fields: ["qr_string"] },
  va: { type: "va_number", fields: ["bank_name", "bank_code", "account_number", "account_name"] },
  bank_transfer: {
    type: "bank_account",
    fields: ["bank_name", "bank_code", "account_number", "account_name", "transfer_code"],
  },
  card: { type: "redirect", fields: ["redirect_url"] },
  ewallet: { type: "redirect", fields: ["redirect_url"] },
};

/** Creates the acquirer that a profile describes. `close` closes its connections; calls in flight end with an unknown outcome. */
export function remoteAcquirer(profile: RemoteProfile): Acquirer & { calls: AcquirerCalls; close(): Promise<void> } {
  const remote = new Remote(profile);
  return {
    ...acquirerOf(profile),
    capabilities: profile.capabilities.map((one) => ({
      ...capabilityOf(one),
      currencies: one.currencies,
      refunds: one.refunds ?? true,
    })),
    calls: {
      deadlineMs: profile.deadline_ms,
      open: (request, signal) => remote.open(request, signal),
      inquire: async (request, signal) => {
        const answer = await remote.find("payments", request.operationKey, signal);
        return answer === undefined ? { known: false } : { known: true, ...remote.payment(answer, request) };
      },
      ...(profile.cancels === true && {
        cancel: (request: OpenRequest, signal: AbortSignal) => remote.cancel(request, signal),
      }),
      refund: async (request, signal) => ({ status: await remote.refund(request, signal) }),
      inquireRefund: async (request, signal) => {
        const answer = await remote.find("refunds", request.operationKey, signal);
        return answer === undefined ? { known: false } : { known: true, status: remote.refundStatus(answer, request) };
      },
      receive: ({ method, target, rest, headers, body }, now) => {
        if (method !== "POST" || rest !== "") throw new Fault("ROUTE_NOT_FOUND");
        checkSignature(remote.key, now, method, target, headers, body);
        return { kind: "reports", reports: [readCallback(body)] };
      },
    },
    close: () => remote.agent.destroy(),
  };
}

interface Answer {
  status: number;
  /** Undefined when the body is not one JSON object. */
  body: Record<string, unknown> | undefined;
}

class Remote {
  readonly agent;
  readonly key;
  private readonly profile: RemoteProfile;
  private readonly origin: string;
  private readonly prefix: string;

  constructor(profile: RemoteProfile) {
    this.profile = profile;
    const url = new URL(profile.url);
    this.origin = url.origin;
    this.prefix = url.pathname.replace(/\/+$/, "");
    this.key = new SigningKey(profile.secret);
    this.agent = newAgent(CONNECTIONS, profile.deadline_ms);
  }

  async open(request: OpenRequest, signal: AbortSignal): Promise<Opened> {
    const order: PaymentOrder = {
      operation_key: request.operationKey,
      amount_minor: wireAmount(request.amountMinor),
      currency: request.currency,
      payment_method: request.method,
      merchant_name: request.merchantName,
      reference: request.reference,
      expires_at: wireTime(request.expiresAt),
      pay_url: request.payUrl,
      ...(request.returnUrl === undefined ? {} : { return_url: request.returnUrl }),
      callback_url: request.callbackUrl,
    };
    return this.payment(await this.order("/payments", order, signal), request);
  }

  /** Ends a waiting payment. Throws `AcquirerRefused` when the acquirer says that it never will. */
  async cancel(request: OpenRequest, signal: AbortSignal): Promise<void> {
    const path = `/payments/${request.operationKey}/cancel`;
    const answer = await this.call("POST", path, {}, signal);
    if (answer.status === 200) {
      const { status } = this.payment(answer, request).state;
      if (status !== "failed") throw this.malformed(`POST ${path}`, `its status is ${status}`);
      return;
    }
    const refusal = answer.status >= 400 && answer.status < 500 ? errorAnswerSchema.safeParse(answer.body) : undefined;
    if (refusal?.data?.error.final !== true) throw this.unexpected(`POST ${path}`, answer);
    throw new AcquirerRefused(`${this.profile.code} ends no such payment: ${printable(refusal.data.error.message)}`);
  }

  async refund(request: RefundRequest, signal: AbortSignal): Promise<RefundStatus> {
    const order: RefundOrder = {
      operation_key: request.operationKey,
      payment_operation_key: request.paymentOperationKey,
      amount_minor: wireAmount(request.amountMinor),
      currency: request.currency,
      callback_url: request.callbackUrl,
    };
    return this.refundStatus(await this.order("/refunds", order, signal), request);
  }

  /** Sends an order. Throws `AcquirerRefused` for a definite refusal: nothing was sent, or the acquirer calls its error final. */
  private async order(path: string, order: object, signal: AbortSignal): Promise<Answer> {
    const answer = await unlessUnreached(this.profile.code, this.call("POST", path, order, signal));
    if (answer.status === 200 || answer.status === 201) return answer;
    const refusal = answer.status >= 400 ? errorAnswerSchema.safeParse(answer.body) : undefined;
    if (refusal?.data?.error.final !== true) throw this.unexpected(`POST ${path}`, answer);
    const { code, message } = refusal.data.error;
    throw new AcquirerRefused(`${this.profile.code} refused: ${printable(code)}: ${printable(message)}`, {
      unavailable: answer.status >= 500,
    });
  }

  /** Returns the acquirer's answer about this key; undefined when the acquirer has nothing and promises that it never will. */
  async find(kind: "payments" | "refunds", operationKey: string, signal: AbortSignal): Promise<Answer | undefined> {
    const path = `/${kind}/${operationKey}`;
    const first = await this.call("GET", path, undefined, signal);
    if (first.status === 200) return first;
    if (first.status !== 404) throw this.unexpected(`GET ${path}`, first);
    // An earlier order may still be on its way to the acquirer, which refuses it after this void.
    const voided = await this.call("POST", `${path}/void`, {}, signal);
    if (voided.status === 200) {
      const { operation_key } = this.read(voidAnswerSchema, voided, `POST ${path}/void`);
      if (operation_key === operationKey) return undefined;
    }
    if (voided.status !== 409) throw this.unexpected(`POST ${path}/void`, voided);
    // 409: the earlier order arrived between the inquiry and the void.
    const second = await this.call("GET", path, undefined, signal);
    if (second.status !== 200) throw this.unexpected(`GET ${path}`, second);
    return second;
  }

  /** Reads a payment. Throws when it cannot be read; `OtherMoney` where it says that this payment is paid. */
  payment(answer: Answer, request: OpenRequest): ReturnType<Remote["paymentIn"]> {
    const isPaid = answer.body?.["status"] === "paid" && answer.body["operation_key"] === request.operationKey;
    return isPaid ? readMoved(() => this.paymentIn(answer, request)) : this.paymentIn(answer, request);
  }

  private paymentIn(answer: Answer, request: OpenRequest): { instructions: Instructions; state: ReportedState } {
    const { operation_key, instructions, status, transaction } = this.read(paymentAnswerSchema, answer, "a payment");
    const { type, fields } = instructionsOfMethod[request.method];
    if (operation_key !== request.operationKey) throw this.malformed("a payment", "operation_key is another one");
    if (instructions.type !== type) throw this.malformed("a payment", `instructions.type is not ${type}`);
    const missing = fields.find((name) => !instructions[name]);
    if (missing !== undefined) throw this.malformed("a payment", `instructions.${missing} is missing`);
    // The payment may exist at the acquirer all the same: Gerbang inquires about it, and money that is paid counts by its notification.
    const objection = objectionToAddresses(instructions, this.profile.url.startsWith("http:"));
    if (objection !== undefined) throw this.malformed("a payment", objection);
    return { instructions, state: stateOf(status, transaction) };
  }

  refundStatus(answer: Answer, request: RefundRequest): RefundStatus {
    const { operation_key, status } = this.read(refundAnswerSchema, answer, "a refund");
    if (operation_key !== request.operationKey) throw this.malformed("a refund", "operation_key is another one");
    return status;
  }

  private async call(method: "GET" | "POST", path: string, body: object | undefined, signal: AbortSignal) {
    const target = this.prefix + path;
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = {
      ...signedHeaders(this.key, systemClock.now(), method, target, text ?? ""),
      accept: "application/json",
      ...(text === undefined ? {} : { "content-type": "application/json; charset=utf-8" }),
    };
    const request = { origin: this.origin, path: target, method, headers, body: text };
    const { status, body: bytes } = await exchange(this.agent, request, this.profile.deadline_ms, signal);
    return { status, body: objectOf(bytes) };
  }

  private read<Value>(schema: z.ZodType<Value>, answer: Answer, what: string): Value {
    return readBy(schema, answer.body, (why) => this.malformed(what, why));
  }

  private malformed(what: string, why: string): Error {
    return new Error(`${this.profile.code} answered with ${what} that cannot be read (${why})`);
  }

  private unexpected(what: string, { status }: Answer): Error {
    return new Error(`${this.profile.code} answered ${what} with ${status}`);
  }
}

function readCallback(body: Buffer): Report {
  const value = parseObject(body);
  const parsed = callbackSchema.safeParse(value, inPlainWords);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const path = issue?.code === "unrecognized_keys" ? [...issue.path, ...issue.keys.slice(0, 1)] : (issue?.path ?? []);
    const at = path.reduce<unknown>((part, name) => (part as Record<PropertyKey, unknown> | undefined)?.[name], value);
    const field = path.map(String).join(".");
    throw validationFault(field, at, `${field}: ${issue?.message}`);
  }
  const { operation_key: operationKey, kind } = parsed.data;
  if (kind === "refund") return { kind, operationKey, status: parsed.data.status };
  return { kind, operationKey, state: stateOf(parsed.data.status, parsed.data.transaction) };
}

function stateOf(status: "waiting" | "processing" | "failed" | "paid", transaction?: Transaction): ReportedState {
  if (status !== "paid") return { status };
  assert(transaction !== undefined, "a paid payment has passed without its transaction");
  const { transaction_id, amount_minor, currency } = transaction;
  return { status, receipt: { transactionId: transaction_id, amountMinor: BigInt(amount_minor), currency } };
}
