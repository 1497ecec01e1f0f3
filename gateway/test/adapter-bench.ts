// The bench on which the adapter suite stands: what it needs of an acquirer, and the questions that its tests share.
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

/**
 * How the acquirer treats the next call. refuses: says no for good. silent: works and never answers. deaf: does nothing
 * and never answers. broken: an error that says nothing about what was done. garbage, cut: works, and answers something
 * that cannot be read, or cuts the connection.
 */
export type Temper = "refuses" | "silent" | "deaf" | "broken" | "garbage" | "cut";

/** A callback as it came in, or as it could. */
export interface Delivered {
  path: string;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

export type CallableAcquirer = Acquirer & { calls: AcquirerCalls };

/** What the suite needs of an acquirer that is somewhere else. */
export interface Outside {
  /** The same adapter, with another address to call. */
  elsewhere(url: string): CallableAcquirer & { close?(): Promise<void> };
  /** How often something was opened under this key, by the acquirer's own book. */
  opened(operationKey: string): Promise<number>;
  /** Something becomes of a payment. It is told by a callback when it is paid. */
  pay(operationKey: string, status: "processing" | "paid" | "failed", transactionId: string): Promise<void>;
  /** A refund is decided, which is told by a callback. Until then it is `pending`. */
  conclude(operationKey: string, status: "succeeded" | "failed"): Promise<void>;
  /** The next callback about this operation. */
  callback(operationKey: string): Promise<Delivered>;
  /** A callback about a paid payment, signed as the acquirer signs, in whose body the amount is written like this. */
  paidCallback(operationKey: string, amount: string): Delivered;
}

export interface AdapterRig {
  acquirer: CallableAcquirer;
  close(): Promise<void>;
  /** Where the acquirer is told to call back. */
  callbackUrl: string;
  /** Makes the next call meet this temper: by a change of the request, or by other means. Undefined: it cannot be had. */
  temper(temper: Temper): Partial<OpenRequest> | undefined;
  /** Absent when the calls never leave this process. */
  outside?: Outside;
}

/** A call is late when it ends more than so long after its signal. */
const LATE_MS = 200;
export const DEADLINE_MS = 500;

/** A key that no call has had before. */
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

  /** After each test. */
  async tidy(): Promise<void> {
    for (const close of this.closers.splice(0)) await close();
  }

  async close(): Promise<void> {
    await this.rig?.close();
  }

  /** A payment that the acquirer takes, under a key of its own. */
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

  /** A refund of a third of a payment. */
  refundOf(request: OpenRequest): RefundRequest {
    return {
      operationKey: newKey(),
      paymentOperationKey: request.operationKey,
      paymentProviderIds: undefined,
      paymentAmountMinor: request.amountMinor,
      method: request.method,
      providerIds: undefined,
      amountMinor: request.amountMinor / 3n,
      currency: request.currency,
      callbackUrl: request.callbackUrl,
    };
  }

  /** A payment that was opened and paid, and the callback that said so. */
  async paid(): Promise<{ request: OpenRequest; delivered: Delivered }> {
    const request = this.payment();
    await this.open(request);
    await this.outside.pay(request.operationKey, "paid", `tx-${request.operationKey}`);
    return { request, delivered: await this.outside.callback(request.operationKey) };
  }

  async open(request: OpenRequest): Promise<Instructions> {
    return (await this.calls.open(request, inTime())).instructions;
  }

  ask(request: OpenRequest): Promise<Known> {
    return this.calls.ask(request, inTime());
  }

  async refund(request: RefundRequest): Promise<RefundStatus> {
    return (await this.calls.refund(request, inTime())).status;
  }

  askRefund(request: RefundRequest): Promise<KnownRefund> {
    return this.calls.askRefund(request, inTime());
  }

  /** The one report of a message. Throws what is wrong with it. */
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

  /** The port of a host that takes connections and never says a word. */
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

/** What a call throws. */
export async function thrown(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    (value) => expect.fail(`it did not throw but gave ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
}

/** A definite no: to this request, or to all of them while it is `unavailable`. */
export async function expectRefused(call: Promise<unknown>, unavailable = false): Promise<void> {
  const error = await thrown(call);
  expect(error).toBeInstanceOf(AcquirerRefused);
  expect(error).toMatchObject({ unavailable });
}

/** It throws, and nobody may take it for a no. */
export async function expectUnknown(call: Promise<unknown>): Promise<void> {
  const error = await thrown(call);
  expect(error).toBeInstanceOf(Error);
  expect(error).not.toBeInstanceOf(AcquirerRefused);
}

/** What a call throws whose signal ends: no later than that, give or take. */
export async function expectInTime(call: (signal: AbortSignal) => Promise<unknown>): Promise<unknown> {
  const begun = performance.now();
  const error = await thrown(call(AbortSignal.timeout(DEADLINE_MS)));
  expect(performance.now() - begun).toBeLessThan(DEADLINE_MS + LATE_MS);
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
