// The bench of the adapter suite: what the suite needs of an acquirer, and the calls and expectations that its tests share.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, type Socket, createServer } from "node:net";
import { expect } from "vitest";
import {
  type Acquirer,
  type AcquirerCalls,
  AcquirerRefused,
  type Instructions,
  type Known,
  type KnownRefund,
  type OpenRequest,
  type RefundRequest,
  type RefundStatus,
  type Report,
} from "../src/acquirers/acquirer.ts";
import { type Micros, SECOND, systemClock } from "../src/ground/clock.ts";
import { slowness } from "./slowness.ts";

/**
 * How the acquirer treats the next call. refuses: gives a definite no. silent: does the work and never answers. deaf: does nothing and never
 * answers. broken: answers with an error that does not show whether the work was done. garbage: does the work and gives an answer that cannot
 * be read. cut: does the work and cuts the connection.
 */
export type Temper = "refuses" | "silent" | "deaf" | "broken" | "garbage" | "cut";

/** A callback, received or made by a test. */
export interface Delivered {
  path: string;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

type CallableAcquirer = Acquirer & { calls: AcquirerCalls };

/** What the suite needs of an acquirer outside this process. */
export interface Outside {
  /** Makes the same adapter with another address to call. */
  elsewhere(url: string): CallableAcquirer & { close?(): Promise<void> };
  /** Number of payments or refunds opened under this key, by the acquirer's own records. */
  opened(operationKey: string): Promise<number>;
  /** Sets the outcome of a payment. A callback reports it when the payment is paid. */
  pay(operationKey: string, status: "processing" | "paid" | "failed", transactionId: string): Promise<void>;
  /** Sets the outcome of a refund, which a callback reports. Until then the refund is `pending`. */
  conclude(operationKey: string, status: "succeeded" | "failed"): Promise<void>;
  /** Gives the next callback about this operation. */
  callback(operationKey: string): Promise<Delivered>;
  /** Makes a callback about a paid payment, signed as the acquirer signs, with the amount written as given. */
  paidCallback(operationKey: string, amount: string): Delivered;
}

export interface AdapterRig {
  acquirer: CallableAcquirer;
  close(): Promise<void>;
  /** The address to which the acquirer sends callbacks. */
  callbackUrl: string;
  /** Makes the next call meet this temper, by the returned change of the request or by other means. Undefined: the acquirer cannot have it. */
  temper(temper: Temper): Partial<OpenRequest> | undefined;
  /** Absent when the calls never leave this process. */
  outside?: Outside;
}

/** A call is late when it ends more than this long after its signal. */
const LATE_MS = 200;
export const DEADLINE_MS = 500;

/** Makes a key that no call has used before. */
export const newKey = (): string => `suite.${randomBytes(12).toString("hex")}`;

export class Bench {
  private rig: AdapterRig | undefined;
  private readonly closers: (() => Promise<unknown>)[] = [];

  async start(setUp: () => Promise<AdapterRig>): Promise<void> {
    this.rig = await setUp();
  }

  get acquirer(): CallableAcquirer {
    if (!this.rig) throw new Error("the rig is not set up");
    return this.rig.acquirer;
  }

  get calls(): AcquirerCalls {
    return this.acquirer.calls;
  }

  get outside(): Outside {
    if (!this.rig?.outside) throw new Error("the rig says nothing of an acquirer outside; is its scope local?");
    return this.rig.outside;
  }

  temper(temper: Temper): Partial<OpenRequest> | undefined {
    return this.rig?.temper(temper);
  }

  /** Closes what the last test opened; called after each test. */
  async tidy(): Promise<void> {
    for (const close of this.closers.splice(0)) await close();
  }

  async close(): Promise<void> {
    await this.rig?.close();
  }

  /** A request for a payment that the acquirer takes, under a new key. */
  payment(changes: Partial<OpenRequest> = {}): OpenRequest {
    const [capability] = this.acquirer.capabilities;
    if (!capability) throw new Error("an acquirer without capabilities");
    const operationKey = newKey();
    return {
      operationKey,
      reference: `pay_${operationKey.slice(-24)}`,
      amountMinor: capability.minimumMinor > 150_000n ? capability.minimumMinor : 150_000n,
      currency: capability.currencies[0] ?? "",
      method: capability.method,
      merchantName: "Kopi Gerbang",
      expiresAt: Math.floor(systemClock.now() / SECOND) * SECOND + 3600 * SECOND,
      payUrl: `https://pay.example.com/pay/${operationKey}`,
      returnUrl: undefined,
      callbackUrl: this.rig?.callbackUrl ?? "",
      metadata: undefined,
      round: 0,
      isOver: false,
      providerIds: undefined,
      ...changes,
    };
  }

  /** A request for a refund of a third of a payment, under a new key. */
  refundOf(request: OpenRequest): RefundRequest {
    return {
      operationKey: newKey(),
      paymentOperationKey: request.operationKey,
      paymentProviderIds: undefined,
      isOver: false,
      paymentAmountMinor: request.amountMinor,
      method: request.method,
      providerIds: undefined,
      amountMinor: request.amountMinor / 3n,
      currency: request.currency,
      callbackUrl: request.callbackUrl,
    };
  }

  /** Opens a payment and has it paid. Gives the request, and the callback that reported the payment. */
  async paid(): Promise<{ request: OpenRequest; delivered: Delivered }> {
    const request = this.payment();
    await this.open(request);
    await this.outside.pay(request.operationKey, "paid", `tx-${request.operationKey}`);
    return { request, delivered: await this.outside.callback(request.operationKey) };
  }

  async open(request: OpenRequest): Promise<Instructions> {
    return (await this.calls.open(request, inTime())).instructions;
  }

  inquire(request: OpenRequest): Promise<Known> {
    return this.calls.inquire(request, inTime());
  }

  async refund(request: RefundRequest): Promise<RefundStatus> {
    return (await this.calls.refund(request, inTime())).status;
  }

  inquireRefund(request: RefundRequest): Promise<KnownRefund> {
    return this.calls.inquireRefund(request, inTime());
  }

  /** Reads a message that must have exactly one report. Throws the adapter's error when it rejects the message. */
  read({ path, headers, body }: Delivered, now: Micros): Report {
    const heard = this.calls.receive({ method: "POST", target: path, rest: "", headers, body }, now);
    const [first, ...others] = heard.kind === "reports" ? heard.reports : [];
    if (!first || others.length > 0) throw new Error(`not one report, but ${JSON.stringify(heard)}`);
    return first;
  }

  /** The calls of the same adapter with another address. */
  elsewhere(url: string): AcquirerCalls {
    const acquirer = this.outside.elsewhere(url);
    this.closers.push(async () => acquirer.close?.());
    return acquirer.calls;
  }

  /** The port of a host that accepts connections and never answers. */
  async silentPort(): Promise<number> {
    const { port, close } = await silentHost();
    this.closers.push(close);
    return port;
  }

  /** A port at which nobody listens. */
  async closedPort(): Promise<number> {
    const { port, close } = await silentHost();
    await close();
    return port;
  }
}

export const inTime = (): AbortSignal => AbortSignal.timeout(5_000);

/** The error that a call throws; fails when the call does not throw. */
export async function thrown(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    (value) => expect.fail(`it did not throw but gave ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
}

/** Expects a definite no: to this request, or to all requests when `unavailable`. */
export async function expectRefused(call: Promise<unknown>, unavailable = false): Promise<void> {
  const error = await thrown(call);
  expect(error).toBeInstanceOf(AcquirerRefused);
  expect(error).toMatchObject({ unavailable });
}

/** Expects an error that is not a definite no. */
export async function expectUnknown(call: Promise<unknown>): Promise<void> {
  const error = await thrown(call);
  expect(error).toBeInstanceOf(Error);
  expect(error).not.toBeInstanceOf(AcquirerRefused);
}

/** The error of a call whose signal ends after DEADLINE_MS; expects the call to end at most LATE_MS later. */
export async function expectInTime(call: (signal: AbortSignal) => Promise<unknown>): Promise<unknown> {
  const begun = performance.now();
  const error = await thrown(call(AbortSignal.timeout(DEADLINE_MS)));
  expect(performance.now() - begun).toBeLessThan((DEADLINE_MS + LATE_MS) * slowness());
  return error;
}

async function silentHost(): Promise<{ port: number; close: () => Promise<unknown> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.resume();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      return once(server, "close");
    },
  };
}
